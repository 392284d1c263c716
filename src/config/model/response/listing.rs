//! How a folder without an index is listed: `IndexOptions`, `IndexIgnore`, `IndexOrderDefault`.

use crate::config::syntax::pattern::Pattern;

/// See the module's text.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Names that are not shown.
    pub ignored: Vec<Pattern>,
    /// `FancyIndexing`: with dates and sizes.
    pub fancy: Option<bool>,
    /// `FoldersFirst`
    pub folders_first: Option<bool>,
    /// `IgnoreCase`
    pub ignore_case: Option<bool>,
    /// `IndexOrderDefault`: what the list is sorted by, and whether backwards.
    pub order: Option<(Column, bool)>,
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
    /// Merges what an inner section says.
    pub fn merge(&mut self, inner: &Listing) {
        self.ignored.extend_from_slice(&inner.ignored);
        self.fancy = inner.fancy.or(self.fancy);
        self.folders_first = inner.folders_first.or(self.folders_first);
        self.ignore_case = inner.ignore_case.or(self.ignore_case);
        self.order = inner.order.or(self.order);
    }

    /// Whether a name is shown.
    pub fn shows(&self, name: &str) -> bool {
        !name.starts_with(".ht") && !self.ignored.iter().any(|pattern| pattern.is_match(name))
    }
}
