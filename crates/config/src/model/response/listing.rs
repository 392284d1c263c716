//! Listings of folders: `IndexOptions`, `IndexIgnore`, `IndexOrderDefault`.

use crate::model::merge::{append, keep, settings};
use crate::syntax::pattern::Pattern;

settings! {
    /// Directives of mod_autoindex.
    #[derive(Clone, Default)]
    place struct Listing {
        /// Patterns of omitted names.
        pub ignored: Vec<Pattern>, append;
        /// `FancyIndexing`: with dates and sizes.
        pub fancy: Option<bool>, keep;
        /// `FoldersFirst`
        pub folders_first: Option<bool>, keep;
        /// `IgnoreCase`
        pub ignore_case: Option<bool>, keep;
        /// `IndexOrderDefault`: sort column, and whether descending.
        pub order: Option<(ListingColumn, bool)>, keep;
    }
}

/// A column by which a listing can be sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "Apache's names")]
pub enum ListingColumn {
    Name,
    Date,
    Size,
}

impl Listing {
    /// Whether a listing contains this name.
    pub fn shows(&self, name: &str) -> bool {
        !name.starts_with(".ht") && !self.ignored.iter().any(|pattern| pattern.is_match(name))
    }
}
