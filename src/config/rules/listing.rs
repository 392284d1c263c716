//! How a folder without an index is listed: `IndexOptions`, `IndexIgnore`, `IndexOrderDefault`.

use super::super::draft::Draft;
use super::super::pattern::Pattern;
use super::super::wildcard::{self, Slash};

/// See the module's text.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Names that are not shown.
    ignored: Vec<Pattern>,
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

/// `IndexIgnore name…`
pub fn ignore(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    for name in names {
        let pattern = draft.pattern(&wildcard::whole(name, Slash::Ordinary))?;
        draft.said().rules.listing.ignored.push(pattern);
    }
    Ok(())
}

/// `IndexOptions [+|-]option…`
pub fn options(draft: &mut Draft, args: &[String]) {
    let mut unused = Vec::new();
    for arg in args {
        let on = !arg.starts_with('-');
        let name = arg.trim_start_matches(['+', '-']).to_ascii_lowercase();
        let listing = &mut draft.said().rules.listing;
        match name.as_str() {
            "fancyindexing" => listing.fancy = Some(on),
            "none" => listing.fancy = Some(false),
            "foldersfirst" => listing.folders_first = Some(on),
            "ignorecase" => listing.ignore_case = Some(on),
            _ => unused.push(arg.clone()),
        }
    }
    if !unused.is_empty() {
        draft.warn(&format!("changes nothing here and is ignored: {}", unused.join(" ")));
    }
}

/// `IndexOrderDefault Ascending|Descending Name|Date|Size`
pub fn order(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [direction, column] = args else { return Ok(()) };
    let backwards = match direction.to_ascii_lowercase().as_str() {
        "ascending" => false,
        "descending" => true,
        _ => return Err(format!("expected Ascending or Descending first, got \"{direction}\"")),
    };
    let column = match column.to_ascii_lowercase().as_str() {
        "name" | "description" => Column::Name,
        "date" => Column::Date,
        "size" => Column::Size,
        _ => return Err(format!("expected Name, Date or Size second, got \"{column}\"")),
    };
    draft.said().rules.listing.order = Some((column, backwards));
    Ok(())
}
