//! A location's meaning for a request: its merged settings, the Perl code that they name, and the `.htaccess` files
//! involved.

pub mod htaccess;
pub mod htaccess_cache;

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use apache::AddedLines;
use libperl::Code;
use wire::frame::{Field, Flags, Frame};

use config::response::rewrite::ForcedByRule;
use config::{Config, Handler, Phase, Settings};
use files::mime;

/// Key that identifies one merged set of settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct LocationKey {
    pub host: u16,
    pub sections: Vec<u16>,
    pub script: bool,
    /// The encoded `.htaccess` files that apply, as received.
    pub overrides: Vec<u8>,
    /// Configuration lines that Perl code added for this request.
    pub added: Vec<AddedLines>,
    /// Handler given by the file's extensions, if no SetHandler applies.
    pub handler: Option<Handler>,
    /// Handler and media type given by a rewrite rule.
    pub forced: ForcedByRule,
}

impl LocationKey {
    /// The key of the location that the front found.
    pub fn of(frame: &Frame) -> LocationKey {
        LocationKey {
            host: frame.host(),
            sections: frame.sections().collect(),
            script: frame.flags().has(Flags::SCRIPT),
            overrides: frame.field(Field::Overrides).to_vec(),
            added: Vec::new(),
            handler: None,
            forced: ForcedByRule::decode(frame.field(Field::Forced)),
        }
    }
}

/// The handler that the extensions of a request's file determine, if any.
pub(super) fn handler_of_file(config: &Config, settings: &Settings, file: &[u8]) -> Option<Handler> {
    let mut file = Path::new(OsStr::from_bytes(file));
    if settings.script_alias && settings.handler_depends_on_the_file() {
        // The path after a program's name is PATH_INFO, whose extension does not count.
        file = file.ancestors().find(|above| above.is_file()).unwrap_or(file);
    }
    mime::handler(config, settings, file).cloned()
}

/// A location's settings, with the resolved Perl code.
pub(super) struct ResolvedLocation {
    /// Key of the merged settings.
    pub key: LocationKey,
    pub settings: Rc<Settings>,
    pub place: Rc<apache::PlaceConfig>,
    pub app: Option<Rc<Code>>,
    /// Handlers of each phase, resolved on first use.
    pub(super) handlers: [OnceCell<Box<[OnceCell<Code>]>>; Phase::ALL.len()],
}

impl ResolvedLocation {
    pub fn names(&self, phase: Phase) -> &[String] {
        match phase {
            Phase::Handler => &self.settings.perl_handlers,
            Phase::Cleanup => &self.settings.cleanup_handlers,
            phase => self.settings.phases.of(phase),
        }
    }
}
