//! What a place means for a request: its merged settings, with the Perl that they name found, and the `.htaccess` files that
//! come into it.

pub mod htaccess;
pub mod htaccess_cache;

use std::cell::OnceCell;
use std::rc::Rc;

use apache::AddedLines;
use libperl::Code;
use wire::frame::{Field, Flags, Frame};

use config::{Handler, Phase, Settings};

/// What tells one merged set of settings from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LocationKey {
    pub host: u16,
    pub sections: Vec<u16>,
    pub script: bool,
    /// The `.htaccess` files that apply, as they came.
    pub overrides: Vec<u8>,
    /// What Perl code has added for this request.
    pub added: Vec<AddedLines>,
    /// What the file's extensions say, where no SetHandler says it.
    pub handler: Option<Handler>,
}

impl LocationKey {
    /// Of the place that the front has found.
    pub fn of(frame: &Frame) -> LocationKey {
        LocationKey {
            host: frame.host(),
            sections: frame.sections().collect(),
            script: frame.flags().has(Flags::SCRIPT),
            overrides: frame.field(Field::Overrides).to_vec(),
            added: Vec::new(),
            handler: None,
        }
    }
}

/// A location's settings, with the Perl that they name found.
pub(super) struct ResolvedLocation {
    /// What it was made of.
    pub key: LocationKey,
    pub settings: Rc<Settings>,
    pub place: Rc<apache::Place>,
    pub app: Option<Rc<Code>>,
    /// The handlers of each phase, found when they are first needed.
    pub(super) handlers: [OnceCell<Box<[OnceCell<Code>]>>; Phase::ALL.len()],
}

impl ResolvedLocation {
    /// The names of a phase's handlers.
    pub fn names(&self, phase: Phase) -> &[String] {
        match phase {
            Phase::Handler => &self.settings.perl_handlers,
            Phase::Cleanup => &self.settings.cleanup_handlers,
            phase => self.settings.phases.of(phase),
        }
    }
}
