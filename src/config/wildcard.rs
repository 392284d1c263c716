//! Shell wildcards: `*`, `?` and `[a-z]`, as fnmatch understands them.

use regex::Regex;

/// Whether a `*` may stand for slashes, too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Slash {
    /// For names without path, `Files` and `ServerAlias`.
    Ordinary,
    /// For paths and URLs: `*`, `?` and sets stop at a slash.
    Separates,
}

/// Whether the text has wildcards at all.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The regular expression source of a pattern, without anchors.
pub fn to_regex(pattern: &str, slash: Slash) -> String {
    let (many, one) = if slash == Slash::Separates { ("[^/]*", "[^/]") } else { (".*", ".") };
    let mut out = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' => out.push_str(many),
            '?' => out.push_str(one),
            '[' if rest.as_str().contains(']') => out.push_str(&set(&mut rest)),
            '\\' => out.push_str(&regex::escape(rest.next().unwrap_or('\\').encode_utf8(&mut [0; 4]))),
            c => out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    out
}

/// A pattern that must match a whole name.
pub fn whole(pattern: &str, slash: Slash) -> Result<Regex, String> {
    compile(&format!("^{}$", to_regex(pattern, slash)))
}

/// A regular expression of the configuration, or what is wrong with it.
pub fn compile(source: &str) -> Result<Regex, String> {
    Regex::new(source).map_err(|error| {
        let reason = error.to_string();
        let last = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("`{source}` is not a regular expression that we understand: {last}")
    })
}

fn set(rest: &mut std::str::Chars<'_>) -> String {
    let mut out = String::from("[");
    for (place, c) in rest.by_ref().enumerate() {
        match c {
            '!' | '^' if place == 0 => out.push('^'),
            ']' if place > 0 => break,
            '-' => out.push('-'),
            c => out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    out + "]"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, expected: bool) {
        assert_eq!(whole(pattern, Slash::Separates).unwrap().is_match(text), expected, "{pattern} {text}");
    }

    #[test]
    fn patterns_match_as_in_the_shell() {
        check("*.conf", "a.conf", true);
        check("*.conf", "aXconf", false);
        check("/a/*/c", "/a/b/c", true);
        check("/a/*/c", "/a/b/b/c", false);
        check("?[0-9][!a]", "x7b", true);
        check("?[0-9][!a]", "x7a", false);
        check("a[", "a[", true);
    }
}
