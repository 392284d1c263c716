//! Excerpt of a refused head for the error log and the access log: its request line, and the number and name of the
//! wrong field. The value is left out, because it may be a password or a session.

use std::fmt;

use super::field;

/// Maximum number of bytes of a request line in an excerpt.
const MAX_LINE_BYTES: usize = 1000;
/// Maximum number of bytes of a field name in an excerpt.
const MAX_NAME_BYTES: usize = 64;

/// The request line and the wrong field of a refused head.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The request line, as far as received.
    pub line: Vec<u8>,
    /// Number of the field, counted from 1, and the part of its name that is a token.
    field: Option<(usize, Vec<u8>)>,
}

impl Evidence {
    /// The excerpt of `head`, whose wrong line begins at `at`.
    pub fn of(head: &[u8], at: usize) -> Evidence {
        let before = head.get(..at).unwrap_or_default();
        let number = before.iter().filter(|byte| **byte == b'\n').count() - usize::from(before.starts_with(b"\r\n"));
        let wrong = head.get(at..).unwrap_or_default();
        let is_field = number > 0 && !wrong.is_empty() && !wrong.starts_with(b"\r\n");
        Evidence { line: request_line(head).to_vec(), field: is_field.then(|| (number, name(wrong).to_vec())) }
    }

    /// Whether the client has begun a TLS handshake: the type of its first record (RFC 8446, section 5.1) begins no
    /// method.
    pub fn is_tls_handshake(&self) -> bool {
        self.line.first() == Some(&0x16)
    }
}

/// The first line of a possibly incomplete head, after an optional empty line.
pub fn request_line(head: &[u8]) -> &[u8] {
    let head = head.strip_prefix(b"\r\n").unwrap_or(head);
    let head = head.get(..MAX_LINE_BYTES).unwrap_or(head);
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn name(line: &[u8]) -> &[u8] {
    let rest = field::after_token(line).unwrap_or(line);
    line.get(..(line.len() - rest.len()).min(MAX_NAME_BYTES)).unwrap_or_default()
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some((number, name)) if name.is_empty() => write!(f, " (field {number})")?,
            Some((number, name)) => write!(f, " (field {number}, {})", String::from_utf8_lossy(name))?,
            None => {}
        }
        match self.line.is_empty() {
            true => Ok(()),
            false => write!(f, ": {}", String::from_utf8_lossy(&self.line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_that_was_wrong_is_named_and_its_value_is_not() {
        for (head, wrong, expected) in [
            ("GET / HTTP/1.1\r\nA: b\r\nC : secret\r\n\r\n", "C ", " (field 2, C): GET / HTTP/1.1"),
            ("\r\nGET / HTTP/1.1\r\nA: b\r\n secret\r\n\r\n", " secret", " (field 2): GET / HTTP/1.1"),
            ("GET / HTTP/1.1\r\nA: b\r\n\r\n", "\r\n\r\n", ": GET / HTTP/1.1"),
            ("GET /\r\nA: b\r\n\r\n", "GET", ": GET /"),
            ("GET /half", "GET", ": GET /half"),
            ("\r\n\r\nA", "\r\nA", ""),
        ] {
            let at = head.rfind(wrong).expect("it is there");
            let at = if wrong == "\r\n\r\n" { at + 2 } else { at };
            assert_eq!(Evidence::of(head.as_bytes(), at).to_string(), expected, "{head:?}");
        }
        let long = "x".repeat(2000);
        let evidence = Evidence::of(format!("GET /{long} HTTP/1.1\r\n{long}").as_bytes(), 2016);
        assert_eq!((evidence.line.len(), evidence.field), (1000, Some((1, vec![b'x'; 64]))));
    }
}
