//! Translation of a URI to a file, on the record's side.

use wire::frame::Field;

use super::RequestRec;
use super::environment;
use super::field::Text;
use super::tables::Id;
use super::target::{InternalTarget, frame};

/// State of a record's translation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Translation {
    /// The translation phase runs: the request has a file only if a handler has named one.
    Pending,
    /// The frame holds the translated file name.
    #[default]
    Done,
    /// A handler ended the phase without naming a file. `$r->filename` is the URI then, as in httpd.
    FileLess,
}

impl RequestRec {
    /// The name by which sections and MIME types are found.
    pub fn mapped_name(&self) -> &[u8] {
        match self.translation {
            Translation::FileLess => self.frame.field(Field::Path),
            _ => self.frame.field(Field::Filename),
        }
    }

    /// The file that a handler has set or found by `$r->translate_name`.
    pub fn named_file(&self) -> Option<Vec<u8>> {
        let name = match self.translation {
            _ if self.has_set(Text::Filename) => self.known_text(Text::Filename)?,
            Translation::Done => self.frame.field(Field::Filename),
            _ => return None,
        };
        Some(name.to_vec()).filter(|name| !name.is_empty())
    }

    pub fn lead_to(&mut self, to: &InternalTarget, translation: Translation) {
        self.frame = frame(self, to, &[]);
        self.forget_target();
        self.translated(translation);
    }

    pub fn translated(&mut self, translation: Translation) {
        self.translation = translation;
        if self.place.setup_env && self.tables.is_filled(Id::SubprocessEnv) {
            environment::renew_script(self);
        }
    }
}
