//! Wildcards of `-strmatch`, `-strcmatch` and `-fnmatch`, as in APR's `apr_fnmatch`: `*`, `?`, `[a-z]`, `[!a]`, `\x`.

use super::tree::Globbing;

/// Whether the pattern matches the whole text. Only the last `*` is tried again, so the time is at most the product of
/// both lengths.
pub fn matches(pattern: &str, text: &str, globbing: Globbing) -> bool {
    let (mut pattern, mut text) = (pattern, text);
    let mut retry: Option<(&str, &str)> = None;
    loop {
        if let Some(after) = pattern.strip_prefix('*') {
            (pattern, retry) = (after, Some((after, text)));
            continue;
        }
        if pattern.is_empty() && text.is_empty() {
            return true;
        }
        if let Some((after, rest)) = one(pattern, text, globbing) {
            (pattern, text) = (after, rest);
            continue;
        }
        // The last `*` takes one more character.
        let Some((after, from)) = retry else { return false };
        let Some(taken) = from.chars().next().filter(|c| !(globbing.keeps_slashes && *c == '/')) else { return false };
        let rest = from.get(taken.len_utf8()..).unwrap_or_default();
        (pattern, text, retry) = (after, rest, Some((after, rest)));
    }
}

/// Matches one character. Returns the rests of pattern and text.
fn one<'p, 't>(pattern: &'p str, text: &'t str, globbing: Globbing) -> Option<(&'p str, &'t str)> {
    let mut letters = text.chars();
    let c = letters.next()?;
    let rest = letters.as_str();
    let mut signs = pattern.chars();
    let is_slash = globbing.keeps_slashes && c == '/';
    let is_it = match signs.next()? {
        '?' => !is_slash,
        '[' => match class(signs.as_str(), c, globbing) {
            Some((is_in, after)) => return (is_in && !is_slash).then_some((after, rest)),
            None => c == '[',
        },
        '\\' => {
            let literal = signs.next().unwrap_or('\\');
            same(literal, c, globbing)
        }
        literal => same(literal, c, globbing),
    };
    is_it.then_some((signs.as_str(), rest))
}

/// Whether the class that begins after `[` contains `c`, and the pattern behind it. `None`: it is not closed.
fn class(class: &str, c: char, globbing: Globbing) -> Option<(bool, &str)> {
    let (negated, inner) = match class.strip_prefix(['!', '^']) {
        Some(inner) => (true, inner),
        None => (false, class),
    };
    let mut signs = inner.chars();
    let (mut found, mut is_first) = (false, true);
    loop {
        let mut from = signs.next()?;
        if from == ']' && !is_first {
            return Some((found != negated, signs.as_str()));
        }
        is_first = false;
        if from == '\\' {
            from = signs.next()?;
        }
        let mut ahead = signs.clone();
        let to = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(to)) if to != ']' => {
                signs = ahead;
                to
            }
            _ => from,
        };
        let folded = |c: char| if globbing.folds_case { c.to_ascii_lowercase() } else { c };
        found |= (folded(from)..=folded(to)).contains(&folded(c));
    }
}

fn same(a: char, b: char, globbing: Globbing) -> bool {
    if globbing.folds_case { a.eq_ignore_ascii_case(&b) } else { a == b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_as_in_apr() {
        let plain = Globbing::default();
        let path = Globbing { keeps_slashes: true, ..plain };
        let folded = Globbing { folds_case: true, ..plain };
        for (globbing, pattern, text, expected) in [
            (plain, "a*c", "a/b/c", true),
            (path, "a*c", "a/b/c", false),
            (path, "/*/?.txt", "/a/b.txt", true),
            (path, "*/*b", "xab/aab", true),
            (plain, "a[xyzb]c", "abc", true),
            (plain, "a[!x-z]c", "abc", true),
            (plain, "a[^a-c]c", "abc", false),
            (plain, "[]a]", "]", true),
            (plain, "[a", "[a", true),
            (plain, r"\*", "*", true),
            (plain, r"\*", "x", false),
            (path, "a?b", "a/b", false),
            (plain, "ABC", "abc", false),
            (folded, "A*[B-C]", "axxc", true),
            (plain, "*é*", "aéb", true),
            (plain, "", "", true),
            (plain, "*", "", true),
            (plain, "", "a", false),
        ] {
            assert_eq!(matches(pattern, text, globbing), expected, "{pattern} {text}");
        }
    }
}
