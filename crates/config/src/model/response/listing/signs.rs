//! Icons, texts and descriptions of entries: `AddIcon`, `AddAlt`, `AddDescription`.

use std::cell::Cell;

use crate::syntax::wildcard;

/// An icon or a text for some entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySign {
    /// By path, media type or encoding.
    pub of: SignOf,
    /// URL of the icon, or the text.
    pub value: String,
}

/// The entries that have an [`EntrySign`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignOf {
    /// Entries whose path matches, with `*` and `?`; or `^^DIRECTORY^^` or `^^BLANKICON^^`.
    Path(String),
    /// Entries whose media type matches.
    Type(String),
    /// Entries whose encoding matches.
    Encoding(String),
}

impl SignOf {
    /// The entries that a name of `AddIcon` or `AddAlt` stands for: a name without `*` and `?` is the end of a path.
    pub fn path(name: &str) -> SignOf {
        let name = if name == "**DIRECTORY**" { FOLDER } else { name };
        SignOf::Path(if name.contains(['*', '?']) { name.to_owned() } else { format!("*{name}") })
    }
}

/// `AddDescription`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryDescription {
    /// The text, as HTML.
    pub text: String,
    /// Part of a name, or a pattern if it has wildcards or a `/`.
    name: String,
    is_pattern: bool,
    is_for_paths: bool,
}

impl EntryDescription {
    /// The description of the entries that match a name, a pattern, or a part of a path.
    pub fn new(text: &str, name: &str) -> EntryDescription {
        let is_for_paths = name.contains('/');
        let is_pattern = is_for_paths || wildcard::is_pattern(name);
        let name = match (is_for_paths, is_pattern) {
            (true, _) => format!("*/{name}*"),
            (_, true) => format!("*{name}*"),
            _ => name.to_owned(),
        };
        EntryDescription { text: text.to_owned(), name, is_pattern, is_for_paths }
    }
}

/// An entry of a listing, for which icons and texts are looked up.
#[derive(Debug, Clone, Copy)]
pub struct ListedAs<'a> {
    /// Path of the file, or `^^DIRECTORY^^`, `^^BLANKICON^^`.
    pub path: &'a [u8],
    /// Media type, without parameters.
    pub mime: Option<&'a str>,
    /// `Content-Encoding`
    pub encoding: Option<&'a str>,
}

/// httpd's name of the icon of folders.
pub const FOLDER: &str = "^^DIRECTORY^^";
/// httpd's name of the icon of the heading.
pub const BLANK: &str = "^^BLANKICON^^";

/// Steps that comparisons with patterns may still take for one listing.
#[derive(Debug)]
pub struct MatchAllowance(Cell<usize>);

/// Steps for all names of a listing together, less than a second; 10 000 names with a hundred patterns need half of
/// them.
const STEPS: usize = 100_000_000;
/// Bytes that are compared in one step where a text is searched for.
const AT_ONCE: usize = 16;

impl Default for MatchAllowance {
    fn default() -> MatchAllowance {
        MatchAllowance(Cell::new(STEPS))
    }
}

impl MatchAllowance {
    /// Whether the allowance is used up. Comparisons then have no result, and the entry must be left out.
    pub fn is_used_up(&self) -> bool {
        self.0.get() == 0
    }

    /// `*` and `?` are wildcards. `false` also when the allowance is used up.
    pub fn matches(&self, pattern: &str, text: &[u8]) -> bool {
        let mut left = self.0.get().saturating_sub(1);
        let is_match = wildcard::is_match(pattern.as_bytes(), text, &mut left);
        self.0.set(left);
        is_match && !self.is_used_up()
    }

    /// Whether a text contains another one.
    fn contains(&self, text: &[u8], part: &[u8]) -> bool {
        let steps = text.len().saturating_sub(part.len()) * (part.len() / AT_ONCE + 1) + 1;
        self.0.set(self.0.get().saturating_sub(steps));
        !self.is_used_up() && (part.is_empty() || text.windows(part.len()).any(|at| at == part))
    }
}

/// The text of the first sign whose rule matches the entry.
pub(super) fn sign<'a>(signs: &'a [EntrySign], entry: ListedAs<'_>, work: &MatchAllowance) -> Option<&'a str> {
    let is_meant = |sign: &&EntrySign| match (&sign.of, entry.encoding) {
        (SignOf::Path(pattern), _) => work.matches(pattern, entry.path),
        (SignOf::Encoding(pattern), Some(encoding)) => work.matches(pattern, encoding.to_ascii_lowercase().as_bytes()),
        // As in httpd, the type of a packed file does not count.
        (SignOf::Type(pattern), None) => {
            entry.mime.is_some_and(|mime| work.matches(pattern, mime.to_ascii_lowercase().as_bytes()))
        }
        _ => false,
    };
    signs.iter().find(is_meant).map(|sign| sign.value.as_str())
}

/// The first of the descriptions that are for this path.
pub(super) fn description<'a>(all: &'a [EntryDescription], path: &[u8], work: &MatchAllowance) -> Option<&'a str> {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let is_meant = |it: &&EntryDescription| {
        let text = if it.is_for_paths { path } else { name };
        match it.is_pattern {
            true => work.matches(&it.name, text),
            false => work.contains(text, it.name.as_bytes()),
        }
    };
    all.iter().find(is_meant).map(|it| it.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::response::listing::Listing;

    #[test]
    fn an_icon_is_found_by_path_type_or_encoding() {
        let sign = |of, value: &str| EntrySign { of, value: value.to_owned() };
        let icons = vec![
            sign(SignOf::path(".txt"), "end"),
            sign(SignOf::path("a?.*"), "none"),
            sign(SignOf::Type("text/*".to_owned()), "type"),
            sign(SignOf::Encoding("x-gzip".to_owned()), "packed"),
        ];
        let listing = Listing { icons, ..Listing::default() };
        let work = MatchAllowance::default();
        let icon = |path: &str, mime, encoding| {
            listing.icon(ListedAs { path: path.as_bytes(), mime, encoding }, &work).unwrap_or("-")
        };
        assert_eq!(icon("/a/b.txt", Some("image/png"), None), "end");
        assert_eq!(icon("/a/b.html", Some("Text/html"), None), "type");
        assert_eq!(icon("/a/b.html.gz", Some("text/html"), Some("x-gzip")), "packed");
        assert_eq!(icon("/a/ab.png", Some("image/png"), None), "-");
    }

    #[test]
    fn descriptions_are_for_parts_of_names_and_for_patterns() {
        let descriptions = vec![
            EntryDescription::new("part", "one"),
            EntryDescription::new("pattern", "*.x"),
            EntryDescription::new("path", "sub/b"),
        ];
        let listing = Listing { descriptions, ..Listing::default() };
        let of = |path: &str| listing.description(path.as_bytes(), &MatchAllowance::default()).unwrap_or("-");
        assert_eq!(of("/a/xoney"), "part");
        assert_eq!(of("/one/b"), "-");
        assert_eq!(of("/a/b.x"), "pattern");
        assert_eq!(of("/a/sub/bc"), "path");
    }
}
