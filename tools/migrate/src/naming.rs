//! Paths as words of a configuration.

use std::path::Path;

use base::printable;

/// A word of the configuration, in quotation marks.
pub fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whether a line of the configuration can name the path: a variable, and a line break, cannot be quoted.
pub fn can_be_named(path: &Path) -> bool {
    path.to_str().is_some_and(|text| !text.contains("${") && !text.chars().any(char::is_control))
}

/// The message about a path that no line can name.
pub fn unnamable(path: &Path) -> String {
    let path = printable::line(&path.to_string_lossy());
    format!("{path}: a configuration cannot name this path; rename it without control characters and ${{")
}
