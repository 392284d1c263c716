//! A request's head (RFC 9112, sections 2 to 6): its lines within the limits of `LimitRequest*`, and how its body is framed.
//! Whatever two readers could take for different framings is refused.

use std::collections::HashMap;
use std::ops::Range;

use http::StatusCode;

use super::line::{Lines, TooLong};
use super::request_line::{self, RequestLine, Version};
use super::{HeadLimits, Violation, field};

/// The largest Content-Length. It is half of what 64 bits hold, so that sums with it cannot overflow.
const LONGEST_BODY: u64 = i64::MAX as u64;

/// How the end of the body is found (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// By its length; 0 when there is no body.
    Fixed(u64),
    /// By its last chunk.
    Chunked,
}

/// A head that is being received.
#[derive(Default)]
pub struct Head {
    lines: Lines,
    /// Where the line begins that was read last.
    at: usize,
    /// Whether an empty line before the request was skipped. One is allowed: old clients send it after a form (RFC 9112,
    /// section 2.2).
    skipped: bool,
    version: Option<Version>,
    fields: usize,
    length: Option<u64>,
    chunked: bool,
    /// Where the minor digit of a version later than 1.1 stands.
    newer_at: Option<usize>,
    /// Where the target stands, if hyper would refuse a byte of it.
    odd: Option<Range<usize>>,
}

impl Head {
    /// Reads on in `bytes`, all of the head that has come. `None` while it is incomplete, else its length and how its body is
    /// framed.
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

    /// Where the line begins that was read last. After a refusal this is the wrong line.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Where the minor digit of a version later than 1.1 stands, which is served as 1.1 (RFC 9110, section 2.5).
    pub fn newer_at(&self) -> Option<usize> {
        self.newer_at
    }

    /// Where the target stands, if hyper would refuse a byte of it.
    pub fn odd(&self) -> Option<Range<usize>> {
        self.odd.clone()
    }

    /// Refuses at the first byte what cannot be a method, such as a TLS handshake: no line end may ever come to judge it by.
    fn begins_well(&self, bytes: &[u8]) -> Result<(), Violation> {
        match bytes.get(self.lines.passed()) {
            Some(byte) if self.version.is_none() && *byte != b'\r' && !field::is_token(&[*byte]) => {
                Err(Violation::bad("a method that is no word"))
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
        // Comparing lengths settles it for most fields, without looking at their letters.
        match name.len() {
            14 if name.eq_ignore_ascii_case(b"content-length") => self.content_length(value),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.transfer_encoding(value),
            _ => Ok(()),
        }
    }

    /// A second Content-Length is refused even when it is equal, as RFC 9110, section 8.6 allows: a proxy may change one of
    /// them, and no honest client sends two.
    fn content_length(&mut self, value: &[u8]) -> Result<(), Violation> {
        if self.length.is_some() {
            return Err(Violation::bad("more than one Content-Length"));
        }
        let digits = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        self.length = digits.and_then(|digits| digits.parse().ok()).filter(|length| *length <= LONGEST_BODY);
        self.length.map(drop).ok_or(Violation::bad("a Content-Length that is no number"))
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

/// Applies `LimitRequestFieldSize` to all fields of one name together, as httpd does, because programs see them joined. A head
/// that is shorter than the limit as a whole needs no count.
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
            return Err(too_large("header fields of one name that are too long together"));
        }
    }
    Ok(())
}

fn too_large(why: &'static str) -> Violation {
    Violation::of(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why)
}
