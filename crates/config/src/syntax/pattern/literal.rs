//! Patterns that are plain text tied to the begin or the end of a text, like those of `<Files name>` and `^/path`. They
//! need no compiled pattern.

use super::Case;

/// A plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal {
    text: Vec<u8>,
    begins: bool,
    ends: bool,
    case: Case,
}

impl Literal {
    /// The text of `^text`, `text$` or `^text$`. `None` for other patterns.
    pub fn of(source: &str, case: Case) -> Option<Literal> {
        let (begins, rest) = source.strip_prefix('^').map_or((false, source), |rest| (true, rest));
        let (mut text, mut ends) = (Vec::new(), false);
        let mut letters = rest.chars();
        while let Some(c) = letters.next() {
            let c = match c {
                '$' if letters.as_str().is_empty() => {
                    ends = true;
                    break;
                }
                '\\' => letters.next().filter(char::is_ascii_punctuation)?,
                '.' | '[' | ']' | '(' | ')' | '*' | '+' | '?' | '{' | '}' | '|' | '^' | '$' => return None,
                c => c,
            };
            text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        (begins || ends).then_some(Literal { text, begins, ends, case })
    }

    /// Position of the match at or behind `from`.
    pub fn find(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let start = if self.begins { 0 } else { text.len().checked_sub(self.text.len())? };
        let end = start + self.text.len();
        let found = text.get(start..end).filter(|_| start >= from && (!self.ends || end == text.len()))?;
        let is_same = match self.case {
            Case::Exact => found == self.text,
            Case::Either => found.eq_ignore_ascii_case(&self.text),
        };
        is_same.then_some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_text_is_found_where_it_is_tied_to() {
        for (source, text, expected) in [
            ("^ab", "abc", Some((0, 2))),
            ("^ab", "cab", None),
            ("ab$", "cab", Some((1, 3))),
            ("ab$", "abc", None),
            ("ab$", "b", None),
            ("^ab$", "ab", Some((0, 2))),
            ("^ab$", "abc", None),
            (r"^a\.b\$$", "a.b$", Some((0, 4))),
            ("^$", "", Some((0, 0))),
            ("^$", "a", None),
            ("^", "a", Some((0, 0))),
            ("$", "a", Some((1, 1))),
            ("^é", "éa", Some((0, 2))),
        ] {
            let literal = Literal::of(source, Case::Exact).expect(source);
            assert_eq!(literal.find(text.as_bytes(), 0), expected, "{source} {text}");
        }
        assert!(Literal::of("^Bot", Case::Either).is_some_and(|literal| literal.find(b"bOTs", 0) == Some((0, 3))));
        assert_eq!(Literal::of("^a", Case::Exact).and_then(|literal| literal.find(b"aa", 1)), None);
        for source in ["ab", "^a.b", "^(a)", "^a|b", r"^\w", r"^a\", "^a*", "a$b$", "^a{2}", r"^\Qa", "(*UTF)^a", "^^a"]
        {
            assert_eq!(Literal::of(source, Case::Exact), None, "{source}");
        }
    }
}
