//! How a folder without an index is listed: `IndexOptions`, `IndexIgnore`, `IndexOrderDefault`.

use crate::config::model::merge::{append, keep, settings};
use crate::config::syntax::pattern::Pattern;

settings! {
    /// How a folder is listed.
    #[derive(Clone, Default)]
    place struct Listing {
        /// Names that are not shown.
        pub ignored: Vec<Pattern>, append;
        /// `FancyIndexing`: with dates and sizes.
        pub fancy: Option<bool>, keep;
        /// `FoldersFirst`
        pub folders_first: Option<bool>, keep;
        /// `IgnoreCase`
        pub ignore_case: Option<bool>, keep;
        /// `IndexOrderDefault`: what the list is sorted by, and whether backwards.
        pub order: Option<(Column, bool)>, keep;
    }
}

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "Apache's names")]
pub enum Column {
    Name,
    Date,
    Size,
}

impl Listing {
    /// Whether a name is shown.
    pub fn shows(&self, name: &str) -> bool {
        !name.starts_with(".ht") && !self.ignored.iter().any(|pattern| pattern.is_match(name))
    }
}
