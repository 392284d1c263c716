//! From a URI to a file: the Trans phase, as the record sees it.

use wire::frame::Field;

use super::RequestRec;
use super::environment;
use super::field::Text;
use super::tables::Id;
use super::target::{Target, frame};

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

    pub fn lead_to(&mut self, to: &Target, translation: Translation) {
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
