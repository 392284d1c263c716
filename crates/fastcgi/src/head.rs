//! The head of a CGI response (RFC 3875, section 6).

use std::fmt::{self, Display};

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};

/// A longer head is [`HeadError::TooLong`].
pub const MAX_HEAD_BYTES: usize = 256 << 10;
/// Maximum number of header fields of a head.
pub const MAX_FIELDS: usize = 200;

/// The head of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgiHead {
    /// The status; that of a redirect if there is a `Location` and no `Status`.
    pub status: StatusCode,
    /// All fields but `Status`.
    pub fields: HeaderMap,
    /// Whether the program has sent a `Status`.
    pub has_status: bool,
}

/// Why output does not begin with a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadError {
    /// A line is no header field: its beginning.
    Line(String),
    /// `Status` is no status.
    Status(String),
    /// The head has more than [`MAX_HEAD_BYTES`] bytes.
    TooLong,
    /// The head has more than [`MAX_FIELDS`] fields.
    TooMany,
    /// The output ended within the head.
    Incomplete,
}

/// Collects output until its head is complete.
#[derive(Debug, Default)]
pub struct HeadReader {
    text: BytesMut,
    /// Bytes that are known to contain no end of the head.
    searched: usize,
}

impl HeadReader {
    /// Takes a piece of output. Returns the head, once it is complete, and the beginning of the body.
    ///
    /// # Errors
    /// For output without a valid head.
    pub fn push(&mut self, piece: &[u8]) -> Result<Option<(CgiHead, Bytes)>, HeadError> {
        self.text.extend_from_slice(piece);
        let Some((length, end)) = end_of_head(&self.text, self.searched) else {
            self.searched = self.text.len().saturating_sub(2);
            return if self.text.len() > MAX_HEAD_BYTES { Err(HeadError::TooLong) } else { Ok(None) };
        };
        if length > MAX_HEAD_BYTES {
            return Err(HeadError::TooLong);
        }
        let body = std::mem::take(&mut self.text).freeze();
        let head = parse(body.get(..length).unwrap_or_default())?;
        Ok(Some((head, body.slice(end.min(body.len())..))))
    }
}

/// The end of the head's last line and the beginning of the body: an empty line, with LF or CRLF.
fn end_of_head(text: &[u8], from: usize) -> Option<(usize, usize)> {
    match text {
        [b'\n', ..] => return Some((0, 1)),
        [b'\r', b'\n', ..] => return Some((0, 2)),
        _ => {}
    }
    let mut at = from;
    loop {
        at += text.get(at..)?.iter().position(|byte| *byte == b'\n')?;
        match text.get(at + 1..)? {
            [b'\n', ..] => return Some((at, at + 2)),
            [b'\r', b'\n', ..] => return Some((at, at + 3)),
            _ => at += 1,
        }
    }
}

fn parse(text: &[u8]) -> Result<CgiHead, HeadError> {
    let (mut fields, mut status) = (HeaderMap::new(), None);
    let lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    for line in lines.filter(|line| !line.is_empty()) {
        let refused = || HeadError::Line(beginning(line));
        let colon = line.iter().position(|byte| *byte == b':').ok_or_else(refused)?;
        let (name, value) = (line.get(..colon).unwrap_or_default(), line.get(colon + 1..).unwrap_or_default());
        let value = value.trim_ascii();
        if name.eq_ignore_ascii_case(b"status") {
            status = Some(status_of(value)?);
            continue;
        }
        let name = HeaderName::from_bytes(name).map_err(|_| refused())?;
        fields.append(name, HeaderValue::from_bytes(value).map_err(|_| refused())?);
        if fields.len() > MAX_FIELDS {
            return Err(HeadError::TooMany);
        }
    }
    let implied = if fields.contains_key(LOCATION) { StatusCode::FOUND } else { StatusCode::OK };
    Ok(CgiHead { status: status.unwrap_or(implied), fields, has_status: status.is_some() })
}

fn status_of(value: &[u8]) -> Result<StatusCode, HeadError> {
    let number = value.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let status = StatusCode::from_bytes(number).ok().filter(|status| (200..600).contains(&status.as_u16()));
    status.ok_or_else(|| HeadError::Status(beginning(value)))
}

/// The first bytes of a line, for a message.
fn beginning(line: &[u8]) -> String {
    String::from_utf8_lossy(line.get(..80).unwrap_or(line)).escape_debug().to_string()
}

impl Display for HeadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeadError::Line(line) => write!(f, "the response begins with a line that is no header field: \"{line}\""),
            HeadError::Status(value) => write!(f, "the response has an invalid Status: \"{value}\""),
            HeadError::TooLong => write!(f, "the head of the response has more than {MAX_HEAD_BYTES} bytes"),
            HeadError::TooMany => write!(f, "the head of the response has more than {MAX_FIELDS} fields"),
            HeadError::Incomplete => f.write_str("the response ended within its head"),
        }
    }
}

impl std::error::Error for HeadError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &[u8], size: usize) -> Result<Option<(CgiHead, Vec<u8>)>, HeadError> {
        let (mut reader, mut found) = (HeadReader::default(), None::<(CgiHead, Vec<u8>)>);
        for piece in output.chunks(size) {
            match &mut found {
                Some((_, body)) => body.extend_from_slice(piece),
                None => found = reader.push(piece)?.map(|(head, body)| (head, body.to_vec())),
            }
        }
        Ok(found)
    }

    #[test]
    fn a_head_ends_at_an_empty_line_whatever_the_pieces() {
        for (output, status, body) in [
            (&b"Content-Type: text/plain\n\nbody\n\n"[..], 200, &b"body\n\n"[..]),
            (b"Status: 404 Not there\r\nX: y\r\n\r\n", 404, b""),
            (b"Location: /x\r\n\nbody", 302, b"body"),
            (b"status:301\nLocation: http://a/\n\r\n", 301, b""),
            (b"\nbody", 200, b"body"),
            (b"\r\nbody", 200, b"body"),
        ] {
            for size in [1, 2, 3, output.len()] {
                let (head, rest) = read(output, size).expect("a head").expect("its end");
                assert_eq!((head.status.as_u16(), &rest[..]), (status, body), "{output:?} {size}");
            }
        }
    }

    #[test]
    fn output_without_a_valid_head_is_an_error() {
        assert_eq!(read(b"X: y\n", 9), Ok(None));
        assert_eq!(read(b"no header\n\n", 99), Err(HeadError::Line("no header".to_owned())));
        assert_eq!(read(b"A b: c\n\n", 99), Err(HeadError::Line("A b: c".to_owned())));
        assert_eq!(read(b"X: a\0b\n\n", 99), Err(HeadError::Line("X: a\\0b".to_owned())));
        assert_eq!(read(b"Status: 20\n\n", 99), Err(HeadError::Status("20".to_owned())));
        assert_eq!(read(b"Status: 101\n\n", 99), Err(HeadError::Status("101".to_owned())));
        assert_eq!(read(&b"X: y\n".repeat(201), 99), Ok(None));
        assert_eq!(read(&[&b"X: y\n".repeat(201)[..], b"\n"].concat(), 99), Err(HeadError::TooMany));
        assert_eq!(read(&[b'x'; MAX_HEAD_BYTES + 1], 4096), Err(HeadError::TooLong));
    }
}
