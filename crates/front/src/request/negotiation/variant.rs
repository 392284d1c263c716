//! A variant: one of the files, or parts of a type map, that a negotiated path may stand for.

use std::rc::Rc;

use super::accept::{SERVER_PARSED, SERVER_PARSED_3, item};
use crate::routing::Route;

/// A variant and its properties. Texts are empty if unknown.
#[derive(Debug, Default, Clone)]
pub struct Variant {
    /// Name of the file relative to the folder, or the URI in a type map.
    pub name: String,
    /// Media type in lower case, without parameters.
    pub mime: String,
    /// Charset in lower case.
    pub charset: String,
    /// Languages in lower case.
    pub languages: Vec<String>,
    pub encoding: String,
    /// `Description` in a type map.
    pub description: String,
    /// `qs`, from 0 to 1.
    pub source_quality: f32,
    /// Level of the media type.
    pub level: f32,
    /// Length in bytes, if known.
    pub length: Option<u64>,
    /// The content, if the type map has it (`Body`).
    pub body: Option<Vec<u8>>,
    /// The file's route, if MultiViews has found it.
    pub route: Option<Rc<Route>>,
}

impl Variant {
    /// Sets type, charset, level and source quality from a media type with parameters.
    pub fn describe(&mut self, mime: &str) {
        let (item, _) = item(mime);
        (self.mime, self.charset, self.level, self.source_quality) =
            (item.name, item.charset, item.level, item.quality);
    }

    pub fn add_languages(&mut self, list: &str) {
        let languages = list.split([',', ';']).map(|language| language.trim().to_ascii_lowercase());
        self.languages.extend(languages.filter(|language| !language.is_empty()));
    }

    /// The languages with commas between them.
    pub fn language_list(&self) -> String {
        self.languages.join(",")
    }

    /// Whether the media type is one of HTML.
    pub fn is_html(&self) -> bool {
        matches!(self.mime.as_str(), "text/html" | SERVER_PARSED | SERVER_PARSED_3)
    }

    /// Whether the content is encoded.
    pub fn is_encoded(&self) -> bool {
        !matches!(self.encoding.as_str(), "" | "7bit" | "8bit" | "binary")
    }
}
