//! The entries of `X-Forwarded-For` and similar headers, and of `Forwarded` (RFC 7239), last first.

use std::borrow::Cow;

use http::header::{FORWARDED, HeaderName};

/// Yields the part of the header before an entry, and the entry; `None` for an unreadable entry.
pub struct Entries<'a> {
    /// The part that is still to be read; `None` behind the first entry.
    rest: Option<&'a [u8]>,
    /// Whether commas inside quotation marks do not separate entries; only `Forwarded` uses quotation marks.
    quotes: bool,
}

impl<'a> Entries<'a> {
    /// `value` is that of one field; an empty one has no entries.
    pub fn of(name: &HeaderName, value: &'a [u8]) -> Entries<'a> {
        Entries { rest: Some(value).filter(|value| !value.is_empty()), quotes: name == FORWARDED }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a [u8], Option<&'a [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take()?;
        let comma = if self.quotes { last_comma_outside_quotes(rest) } else { Ok(memchr::memrchr(b',', rest)) };
        let (before, entry) = match comma {
            Ok(Some(at)) => (rest.get(..at).unwrap_or_default(), rest.get(at + 1..)),
            Ok(None) => (Default::default(), Some(rest)),
            Err(Unbalanced) => (rest, None),
        };
        self.rest = matches!(comma, Ok(Some(_))).then_some(before);
        Some((before.trim_ascii(), entry.map(<[u8]>::trim_ascii).filter(|entry| !entry.is_empty())))
    }
}

/// A quotation mark without its counterpart.
struct Unbalanced;

/// Finds the last separating comma. Reading from the end, where the nearest proxy wrote, avoids a client's unclosed
/// quotation mark.
fn last_comma_outside_quotes(text: &[u8]) -> Result<Option<usize>, Unbalanced> {
    let mut end = text.len();
    while let Some(at) = text.get(..end).and_then(|text| text.iter().rposition(|byte| matches!(byte, b',' | b'"'))) {
        if text.get(at) == Some(&b',') {
            return Ok(Some(at));
        }
        end = opening_quote(text, at).ok_or(Unbalanced)?;
    }
    Ok(None)
}

/// The opening quotation mark for the one at `closing`. A mark behind an odd number of backslashes is escaped.
fn opening_quote(text: &[u8], closing: usize) -> Option<usize> {
    let mut end = closing;
    loop {
        let at = memchr::memrchr(b'"', text.get(..end)?)?;
        let escapes = text.get(..at)?.iter().rev().take_while(|byte| **byte == b'\\').count();
        if escapes % 2 == 0 {
            return Some(at);
        }
        end = at - escapes;
    }
}

/// A parameter's value in an entry of `Forwarded`; `None` if it is missing or repeated.
pub fn parameter<'a>(entry: &'a [u8], wanted: &[u8]) -> Option<Cow<'a, [u8]>> {
    let mut found = None;
    let mut rest = entry;
    loop {
        let equals = memchr::memchr(b'=', rest)?;
        let (name, behind) = rest.split_at(equals);
        let (value, behind) = value(behind.get(1..)?)?;
        if name.trim_ascii().eq_ignore_ascii_case(wanted) && found.replace(value).is_some() {
            return None;
        }
        match behind.trim_ascii() {
            [] => return found,
            [b';', behind @ ..] if behind.trim_ascii().is_empty() => return found,
            [b';', behind @ ..] => rest = behind,
            _ => return None,
        }
    }
}

/// The value at the start of `text`, bare or quoted, and the rest of the text.
fn value(text: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let text = text.trim_ascii_start();
    let Some(quoted) = text.strip_prefix(b"\"") else {
        let end = memchr::memchr2(b';', b'"', text).unwrap_or(text.len());
        let (bare, behind) = text.split_at(end);
        return Some((bare.trim_ascii_end().into(), behind));
    };
    let mut value = Vec::new();
    let mut bytes = quoted.iter();
    loop {
        match bytes.next()? {
            b'"' => return Some((value.into(), bytes.as_slice())),
            b'\\' => value.push(*bytes.next()?),
            byte => value.push(*byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwarded_entries_are_read_last_first_each_with_the_rest_of_the_list() {
        let check = |name: &HeaderName, value: &str, expected: &[(&str, Option<&str>)]| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let found: Vec<_> =
                Entries::of(name, value.as_bytes()).map(|(before, it)| (text(before), it.map(text))).collect();
            let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), b.map(str::to_owned))).collect();
            assert_eq!(found, expected, "{value}");
        };
        let list = HeaderName::from_static("x-forwarded-for");
        check(&list, "", &[]);
        check(&list, "a", &[("", Some("a"))]);
        check(&list, "a , b", &[("a", Some("b")), ("", Some("a"))]);
        check(&list, "\"a, b\"", &[("\"a", Some("b\"")), ("", Some("\"a"))]);
        check(&list, "a,,b", &[("a,", Some("b")), ("a", None), ("", Some("a"))]);
        check(&FORWARDED, "a=\"b,c\", d=e", &[("a=\"b,c\"", Some("d=e")), ("", Some("a=\"b,c\""))]);
        check(&FORWARDED, "a=\", d=\"e\\\",f\"", &[("a=\"", Some("d=\"e\\\",f\"")), ("a=\"", None)]);
    }

    #[test]
    fn a_parameter_is_bare_or_quoted() {
        let check = |entry: &str, expected: Option<&str>| {
            let found = parameter(entry.as_bytes(), b"for");
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{entry}");
        };
        check("for=a", Some("a"));
        check("by=x; FOR = a ;proto=http", Some("a"));
        check("by=\";for=b\";for=\"a\\\"\"", Some("a\""));
        check("for=a;", Some("a"));
        for wrong in ["", "for", "for=\"a", "for=\"a\"b", "for=a\"b\"", "for=a;for=b", "for=a;x", "by=b"] {
            check(wrong, None);
        }
    }
}
