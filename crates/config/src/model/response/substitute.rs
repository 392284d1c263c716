//! `Substitute "s/pattern/replacement/flags"` (mod_substitute): what is replaced in the lines of a response.

use crate::model::merge::{apart, keep, settings};
use crate::syntax::pattern::{Budget, Case, Pattern};
use base::path::Text;
use std::sync::Arc;

/// Default of `SubstituteMaxLineLength` in bytes, as in httpd.
const MAX_LINE_BYTES: u64 = 1 << 20;

settings! {
    /// Substitutions of a place.
    #[derive(Clone, Default)]
    place struct Substitute, then Substitute::add {
        /// `Substitute`, in the order in which they are applied.
        pub rules: Vec<Arc<LineSubstitution>>, apart;
        /// `SubstituteMaxLineLength` in bytes; default 1 MB.
        pub longest_line: Option<u64>, keep;
        /// `SubstituteInheritBefore`: substitutions of outer sections come first; default off.
        pub inherit_before: Option<bool>, keep;
    }
}

impl Substitute {
    /// Adds the substitutions of an inner section, which come first unless `SubstituteInheritBefore` is on.
    fn add(&mut self, inner: &Substitute) {
        let at = if self.inherit_before == Some(true) { self.rules.len() } else { 0 };
        self.rules.splice(at..at, inner.rules.iter().cloned());
    }

    /// Maximum length of a line in bytes, before and after each substitution.
    pub fn longest_line(&self) -> usize {
        usize::try_from(self.longest_line.unwrap_or(MAX_LINE_BYTES)).unwrap_or(usize::MAX)
    }
}

/// One `Substitute`.
#[derive(Debug, Clone)]
pub struct LineSubstitution {
    /// Pattern of the text to replace.
    pub search: Searched,
    /// The replacement, in parts.
    pub by: Vec<ReplacementPart>,
    /// Whether later substitutions see the line as one text. Flag `q`: each replacement is a text of its own.
    pub joins: bool,
}

/// Pattern of a substitution.
#[derive(Debug, Clone)]
pub enum Searched {
    /// A text. It is in lower case if case does not count.
    Text(Vec<u8>, Case),
    /// A regular expression.
    Pattern(Pattern),
}

/// Text or a group of the match, in the order in which they are inserted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplacementPart {
    /// Bytes that are inserted as they are.
    Text(Vec<u8>),
    /// A group of the match by its number; 0 is the whole match.
    Group(usize),
}

impl LineSubstitution {
    /// Parses `s/pattern/replacement/flags`. The character after `s` is the delimiter, and cannot be escaped.
    pub fn parse(text: &str, patterns: &mut Budget) -> Result<LineSubstitution, String> {
        let form = || format!("expected s/pattern/replacement/ and perhaps the flags i, n, f, q, got \"{text}\"");
        let mut letters = text.chars();
        if !letters.next().is_some_and(|s| s.eq_ignore_ascii_case(&'s')) {
            return Err(form());
        }
        let delimiter = letters.next().ok_or_else(form)?;
        let (pattern, rest) = letters.as_str().split_once(delimiter).ok_or_else(form)?;
        let (by, flags) = rest.split_once(delimiter).unwrap_or((rest, ""));
        if pattern.is_empty() {
            return Err(form());
        }
        let (mut case, mut is_text, mut joins) = (Case::Exact, false, true);
        for flag in flags.chars() {
            match flag.to_ascii_lowercase() {
                'i' => case = Case::Either,
                'n' => is_text = true,
                'f' => joins = true,
                'q' => joins = false,
                _ => {
                    return Err(format!(
                        "unknown flag {flag}; the flags are i, n, f and q, all matches are replaced without a flag, and the \
                         delimiter {delimiter} cannot be escaped"
                    ));
                }
            }
        }
        let by = if is_text { vec![ReplacementPart::Text(Text::bytes_in(by))] } else { parts(by) };
        let search = match is_text || is_plain(pattern) {
            true => Searched::text(pattern, case),
            false => Searched::Pattern(patterns.compile(pattern, case)?),
        };
        Ok(LineSubstitution { search, by, joins })
    }
}

impl Searched {
    fn text(text: &str, case: Case) -> Searched {
        let bytes = Text::bytes_in(text);
        Searched::Text(if case == Case::Either { bytes.to_ascii_lowercase() } else { bytes }, case)
    }
}

/// Whether a pattern matches itself only.
fn is_plain(pattern: &str) -> bool {
    pattern.chars().all(|c| c.is_ascii_alphanumeric() || " \"'/<>=:;,-_!&%#@~`".contains(c))
}

/// The parts of a replacement: `$0` to `$9` are groups, and a character after a backslash stands for itself.
fn parts(by: &str) -> Vec<ReplacementPart> {
    let (mut parts, mut text) = (Vec::new(), String::new());
    let mut letters = by.chars().peekable();
    while let Some(c) = letters.next() {
        let group = letters.peek().filter(|_| c == '$').and_then(|digit| digit.to_digit(10));
        if let Some(group) = group {
            letters.next();
            parts.push(ReplacementPart::Text(Text::bytes_in(&text)));
            parts.push(ReplacementPart::Group(group as usize));
            text.clear();
        } else if c == '\\' {
            text.push(letters.next().unwrap_or(c));
        } else {
            text.push(c);
        }
    }
    parts.push(ReplacementPart::Text(Text::bytes_in(&text)));
    parts.retain(|part| !matches!(part, ReplacementPart::Text(text) if text.is_empty()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_has_groups_and_escapes() {
        use ReplacementPart::{Group, Text};
        for (by, expected) in [
            (r"$2a\$1", vec![Group(2), Text(b"a$1".to_vec())]),
            (r"[&\&\n$x$", vec![Text(b"[&&n$x$".to_vec())]),
            (r"x\", vec![Text(b"x\\".to_vec())]),
            ("", vec![]),
        ] {
            assert_eq!(parts(by), expected, "{by}");
        }
    }

    #[test]
    fn flags_and_delimiters_are_httpds() {
        let parse = |text: &str| LineSubstitution::parse(text, &mut Budget::of_the_administrator());
        for text in ["s/a/b/", "S|a.|/|I", "sxaxbx", "s a b ", "s/a/b", "s/a//", "s/(a/b/n"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        for text in ["", "s", "y/a/b/", "s/a", "s//b/", "s/a/b/g", r"s/a\/b/c/", "s/(a/b/"] {
            let error = parse(text).map(|_| ()).unwrap_err();
            assert!(error.contains("expected s/") || error.contains("flag") || error.contains("regular"), "{error}");
        }
        let plain = parse("s/Foo/x/i").unwrap();
        assert!(matches!(plain.search, Searched::Text(text, Case::Either) if text == b"foo"));
    }
}
