//! Shell wildcards: `*`, `?` and `[a-z]`, as in fnmatch.

/// Whether wildcards match slashes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Slash {
    /// Wildcards match slashes: for names without path, `Files` and `ServerAlias`.
    Ordinary,
    /// `*`, `?` and sets do not match slashes: for paths and URLs.
    Separates,
}

/// Whether the text contains wildcards.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The regular expression for a pattern, without anchors.
pub fn to_regex(pattern: &str, slash: Slash) -> String {
    let (many, one) = if slash == Slash::Separates { ("[^/]*", "[^/]") } else { (".*", ".") };
    let mut out = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' => out.push_str(many),
            '?' => out.push_str(one),
            '[' if rest.as_str().contains(']') => out.push_str(&set(&mut rest)),
            '\\' => out.push_str(&pcre2::escape(rest.next().unwrap_or('\\').encode_utf8(&mut [0; 4]))),
            c => out.push_str(&pcre2::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    out
}

/// The regular expression for a pattern, with anchors: it matches whole names.
pub fn to_anchored_regex(pattern: &str, slash: Slash) -> String {
    format!("^{}$", to_regex(pattern, slash))
}

/// Whether a text matches a pattern of `*` and `?`, which match slashes. Backtracking is limited to the last `*`. Each
/// step takes one from `left`; without steps left, nothing matches.
pub fn is_match(pattern: &[u8], text: &[u8], left: &mut usize) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(c) = text.get(t) {
        *left = left.saturating_sub(1);
        match (pattern.get(p), retry) {
            _ if *left == 0 => return false,
            (Some(b'*'), _) => {
                retry = Some((p + 1, t));
                p += 1;
            }
            (Some(own), _) if *own == b'?' || own == c => (p, t) = (p + 1, t + 1),
            (_, Some((after_star, from))) => {
                retry = Some((after_star, from + 1));
                (p, t) = (after_star, from + 1);
            }
            _ => return false,
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|c| *c == b'*')
}

fn set(rest: &mut std::str::Chars<'_>) -> String {
    let mut out = String::from("[");
    for (place, c) in rest.by_ref().enumerate() {
        match c {
            '!' | '^' if place == 0 => out.push('^'),
            ']' if place > 0 => break,
            '-' => out.push('-'),
            c => out.push_str(&pcre2::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    out + "]"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Budget, Case};

    fn check(pattern: &str, text: &str, expected: bool) {
        let regex = Budget::of_htaccess().compile(&to_anchored_regex(pattern, Slash::Separates), Case::Exact).unwrap();
        assert_eq!(regex.is_match(text), expected, "{pattern} {text}");
    }

    #[test]
    fn stars_and_question_marks_match_without_an_expression() {
        for (pattern, text, expected) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "a.txt.gz", false),
            ("*a*b?", "xxaabbc", true),
            ("??", "a", false),
            ("*", "", true),
            ("", "a", false),
            (".??*", ".ab", true),
            (".??*", ".a", false),
        ] {
            assert_eq!(is_match(pattern.as_bytes(), text.as_bytes(), &mut 100), expected, "{pattern} {text}");
        }
        let (pattern, text, mut left) = (format!("*{}b", "a".repeat(500)), "a".repeat(1000), 1000);
        assert!(!is_match(pattern.as_bytes(), text.as_bytes(), &mut left) && left == 0);
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
