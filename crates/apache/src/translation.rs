//! From a URI to a file: the Trans phase, as the record sees it.

use wire::frame::Field;

use crate::current::with;
use crate::env;
use crate::field::Text;
use crate::lead::{Target, frame};
use crate::request::RequestRec;
use crate::tables::Id;

/// What is known of a request's file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Translation {
    /// Nothing but what a handler has set.
    Pending,
    /// The frame names it.
    #[default]
    Done,
    /// A handler has ended the phase without naming one. The URI is shown in its place, as httpd does.
    FileLess,
}

impl RequestRec {
    /// The name by which sections and types are found.
    pub fn mapped_name(&self) -> &[u8] {
        match self.translation {
            Translation::FileLess => self.frame.field(Field::Path),
            _ => self.frame.field(Field::Filename),
        }
    }

    /// The file that handlers have named, or had named by `$r->translate_name`.
    pub fn named_file(&self) -> Option<Vec<u8>> {
        let name = match self.translation {
            _ if self.has_set(Text::Filename) => self.known_text(Text::Filename)?,
            Translation::Done => self.frame.field(Field::Filename),
            _ => return None,
        };
        Some(name.to_vec()).filter(|name| !name.is_empty())
    }

    fn lead_to(&mut self, to: &Target, translation: Translation) {
        self.frame = frame(self, to, &[]);
        self.forget_target();
        self.translated(translation);
    }

    fn translated(&mut self, translation: Translation) {
        self.translation = translation;
        if self.place.setup_env && self.tables.is_filled(Id::SubprocessEnv) {
            env::renew_script(self);
        }
    }
}

/// The Trans phase begins: until it ends there is a file only when a handler names it.
pub fn begin_translation(request: u64) {
    let _ = with(request, |r| {
        r.translation = Translation::Pending;
        r.forget_file();
    });
}

/// It has ended, and the file is the one that the record was made for.
pub fn end_translation(request: u64) {
    let _ = with(request, |r| r.translated(Translation::Done));
}

/// The request is for something else than its URI said.
pub fn retarget(request: u64, to: &Target) {
    let _ = with(request, |r| r.lead_to(to, Translation::Done));
}

/// The same, and there is no file.
pub fn without_file(request: u64, path: &[u8], query: &[u8]) {
    let to = Target { path: path.to_vec(), query: query.to_vec(), filename: Vec::new() };
    let _ = with(request, |r| r.lead_to(&to, Translation::FileLess));
}
