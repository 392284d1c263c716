//! A request head (RFC 9112, sections 2 to 6): its lines, within the limits of `LimitRequest*`, and the framing of its
//! body. Ambiguous framing is refused.

use std::collections::HashMap;
use std::ops::Range;

use http::StatusCode;

use super::line::{Lines, TooLong};
use super::request_line::{self, RequestLine, Version};
use super::{HeadLimits, Violation, field};

/// Largest Content-Length: half of the 64-bit range, so that sums cannot overflow.
const MAX_BODY_BYTES: u64 = i64::MAX as u64;

/// Framing of a body (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// A body with a Content-Length, in bytes; 0 without a body.
    Fixed(u64),
    Chunked,
}

/// A head while it is received.
#[derive(Default)]
pub struct StrictHead {
    lines: Lines,
    /// Offset of the last line that was read.
    at: usize,
    /// Whether an empty line before the request was skipped. One is allowed, because old clients send it after a form
    /// (RFC 9112, section 2.2).
    skipped: bool,
    version: Option<Version>,
    fields: usize,
    length: Option<u64>,
    chunked: bool,
    /// Offset of the minor version digit, if the version is later than 1.1.
    newer_at: Option<usize>,
    /// Range of the target, if hyper would refuse a byte of it.
    odd: Option<Range<usize>>,
}

impl StrictHead {
    /// Continues the parse; `bytes` is all of the head received so far. Returns `None` while the head is incomplete,
    /// afterwards its length in bytes and the framing of the body.
    pub fn look(&mut self, bytes: &[u8], limits: &HeadLimits) -> Result<Option<(usize, Framing)>, Violation> {
        loop {
            self.at = self.lines.passed();
            self.begins_well(bytes)?;
            let Some(line) = self.next_line(bytes, limits)? else { return Ok(None) };
            match (line, self.version) {
                (b"", None) if !self.skipped => self.skipped = true,
                (line, None) => {
                    let RequestLine { version, odd } = request_line::read(line)?;
                    self.odd = odd.map(|target| self.at + target.start..self.at + target.end);
                    let is_newer = version == Version::Current && line.last() != Some(&b'1');
                    self.newer_at = is_newer.then(|| self.lines.passed() - b"2\r\n".len());
                    self.version = Some(version);
                }
                (b"", Some(version)) => {
                    repeated_fit(bytes.get(..self.lines.passed()).unwrap_or_default(), limits)?;
                    return Ok(Some((self.lines.passed(), self.framing(version)?)));
                }
                (line, Some(_)) => self.field(line, limits)?,
            }
            if self.lines.passed() > limits.head {
                return Err(too_large("a head that is too long"));
            }
        }
    }

    /// Offset of the last line that was read; after a refusal, of the wrong line.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Offset of the minor version digit, if the version is later than 1.1. Later versions are served as 1.1 (RFC 9110,
    /// section 2.5).
    pub fn newer_at(&self) -> Option<usize> {
        self.newer_at
    }

    /// Range of the target, if hyper would refuse a byte of it.
    pub fn odd(&self) -> Option<Range<usize>> {
        self.odd.clone()
    }

    /// Refuses a first byte that cannot begin a method, such as a TLS handshake's, because a line end may never arrive.
    fn begins_well(&self, bytes: &[u8]) -> Result<(), Violation> {
        match bytes.get(self.lines.passed()) {
            Some(byte) if self.version.is_none() && *byte != b'\r' && !field::is_token(&[*byte]) => {
                Err(Violation::bad("an invalid method"))
            }
            _ => Ok(()),
        }
    }

    fn next_line<'a>(&mut self, bytes: &'a [u8], limits: &HeadLimits) -> Result<Option<&'a [u8]>, Violation> {
        let most = if self.version.is_some() { limits.field } else { limits.line };
        match self.lines.next(bytes, most) {
            Ok(line) => line.transpose(),
            Err(TooLong) if self.version.is_some() => Err(too_large("a header field that is too long")),
            Err(TooLong) => Err(Violation::of(StatusCode::URI_TOO_LONG, "a request line that is too long")),
        }
    }

    fn field(&mut self, line: &[u8], limits: &HeadLimits) -> Result<(), Violation> {
        let (name, value) = field::split(line)?;
        self.fields += 1;
        if self.fields > limits.fields {
            return Err(too_large("too many header fields"));
        }
        // The length alone excludes most fields, without a comparison of letters.
        match name.len() {
            14 if name.eq_ignore_ascii_case(b"content-length") => self.content_length(value),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.transfer_encoding(value),
            _ => Ok(()),
        }
    }

    /// Refuses a second Content-Length even if it is equal, as RFC 9110, section 8.6 allows. A proxy may change one of
    /// them, and no honest client sends two.
    fn content_length(&mut self, value: &[u8]) -> Result<(), Violation> {
        if self.length.is_some() {
            return Err(Violation::bad("more than one Content-Length"));
        }
        let digits = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        self.length = digits.and_then(|digits| digits.parse().ok()).filter(|length| *length <= MAX_BODY_BYTES);
        self.length.map(drop).ok_or(Violation::bad("a Content-Length that is not a number"))
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), Violation> {
        if self.chunked {
            return Err(Violation::bad("more than one Transfer-Encoding"));
        }
        self.chunked = value.eq_ignore_ascii_case(b"chunked");
        let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
        match self.chunked {
            true => Ok(()),
            false if last.eq_ignore_ascii_case(b"chunked") => {
                Err(Violation::of(StatusCode::NOT_IMPLEMENTED, "a Transfer-Encoding other than chunked"))
            }
            false => Err(Violation::bad("a Transfer-Encoding that does not end with chunked")),
        }
    }

    fn framing(&self, version: Version) -> Result<Framing, Violation> {
        match (self.chunked, self.length, version) {
            (true, Some(_), _) => Err(Violation::bad("Content-Length beside Transfer-Encoding")),
            (true, None, Version::Old) => Err(Violation::bad("a Transfer-Encoding in HTTP/1.0")),
            (true, None, Version::Current) => Ok(Framing::Chunked),
            (false, length, _) => Ok(Framing::Fixed(length.unwrap_or(0))),
        }
    }
}

/// Applies `LimitRequestFieldSize` to the sum of all fields of one name, as httpd does, because programs see them
/// joined. A head shorter than the limit needs no check.
fn repeated_fit(head: &[u8], limits: &HeadLimits) -> Result<(), Violation> {
    if head.len() <= limits.field {
        return Ok(());
    }
    let mut lengths: HashMap<Vec<u8>, usize> = HashMap::new();
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        let Some(colon) = memchr::memchr(b':', line) else { continue };
        let (name, value) = line.split_at(colon);
        let length = lengths.entry(name.to_ascii_lowercase()).or_default();
        *length += value.get(1..).unwrap_or_default().trim_ascii().len();
        if *length > limits.field {
            return Err(too_large("fields with the same name that are too long in total"));
        }
    }
    Ok(())
}

fn too_large(why: &'static str) -> Violation {
    Violation::of(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why)
}
