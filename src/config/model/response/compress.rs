//! Which answers are compressed: `SetOutputFilter DEFLATE`, `AddOutputFilterByType DEFLATE type…`.

use crate::config::model::merge::{append, by_key, keep, settings};
use std::collections::BTreeMap;

settings! {
    /// Which answers are compressed.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct Compress {
        /// `SetOutputFilter`: everything; `Some(false)` is `SetOutputFilter None`.
        pub all: Option<bool>, keep;
        /// MIME types.
        pub types: Vec<String>, append;
        /// `AddOutputFilter`: extensions in lower case, and whether files with them are compressed.
        pub extensions: BTreeMap<String, bool>, by_key;
        /// `DeflateCompressionLevel`
        pub level: Option<u32>, keep;
    }
}

impl Compress {
    /// Whether an answer may be compressed at all.
    pub fn is_on(&self) -> bool {
        self.all == Some(true) || !self.types.is_empty() || self.extensions.values().any(|on| *on)
    }

    /// Whether answers of this MIME type, without parameters, for a file of this name are compressed.
    pub fn takes(&self, mime: &str, file: &str) -> bool {
        let by_type = || self.types.iter().any(|known| known.eq_ignore_ascii_case(mime));
        self.all == Some(true) || by_type() || has_extension(&self.extensions, file)
    }
}

/// Whether a file's name has one of the extensions that are `true`.
pub(super) fn has_extension(known: &BTreeMap<String, bool>, file: &str) -> bool {
    file.split('.').skip(1).any(|extension| known.get(&extension.to_ascii_lowercase()) == Some(&true))
}
