//! The request line, `GET /path HTTP/1.1` (RFC 9112, section 3): method, target in one of four forms, version.

use std::ops::Range;

use http::{StatusCode, Uri};

use super::Violation;
use super::field::is_token;
use crate::base::protocol::MAX_METHOD_BYTES;
use crate::base::target::count_odd;

/// Maximum number of bytes of a target that `http::Uri` can hold.
const MAX_TARGET_BYTES: usize = u16::MAX as usize - 1;

/// Versions of HTTP/1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0.
    Old,
    /// HTTP/1.1, and later minor versions, which are served as 1.1.
    Current,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestLine {
    pub version: Version,
    /// Range of the target, if hyper would refuse a byte of it.
    pub odd: Option<Range<usize>>,
}

/// Checks a request line without its CR LF.
pub fn read(line: &[u8]) -> Result<RequestLine, Violation> {
    let space = memchr::memchr(b' ', line).ok_or(Violation::bad("a request line with a single word"))?;
    let (method, rest) = line.split_at(space);
    if !is_token(method) {
        return Err(Violation::bad("an invalid method"));
    }
    if method.len() > MAX_METHOD_BYTES {
        return Err(Violation::of(StatusCode::NOT_IMPLEMENTED, "a method of more than 32 letters"));
    }
    let rest = rest.get(1..).unwrap_or_default();
    let space = memchr::memrchr(b' ', rest).ok_or(Violation::bad("a request line without a version"))?;
    let (target, version) = rest.split_at(space);
    let version = self::version(version.get(1..).unwrap_or_default())?;
    let odd = count_odd(target);
    // Percent-encoding replaces each odd byte with three.
    if target.len() + 2 * odd > MAX_TARGET_BYTES {
        return Err(Violation::of(StatusCode::URI_TOO_LONG, "a request target of more than 65534 bytes"));
    }
    let at = method.len() + 1;
    match is_target(method, target) {
        true => Ok(RequestLine { version, odd: (odd > 0).then_some(at..at + target.len()) }),
        false => Err(Violation::bad("an invalid request target")),
    }
}

fn version(text: &[u8]) -> Result<Version, Violation> {
    match text {
        b"HTTP/1.1" => Ok(Version::Current),
        b"HTTP/1.0" => Ok(Version::Old),
        // A later minor version is served as the highest supported one (RFC 9110, section 2.5).
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'2'..=b'9'] => Ok(Version::Current),
        [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => {
            Err(Violation::of(StatusCode::HTTP_VERSION_NOT_SUPPORTED, "a version other than 1.0 and 1.1"))
        }
        _ => Err(Violation::bad("a request line without a version")),
    }
}

/// Whether `target` has one of the four forms of RFC 9112, section 3.2. CONNECT is refused later, by `head_check`.
fn is_target(method: &[u8], target: &[u8]) -> bool {
    match target {
        b"*" => method == b"OPTIONS",
        [b'/', ..] => is_path(target),
        _ if method == b"CONNECT" => {
            Uri::try_from(target).is_ok_and(|uri| uri.authority().is_some() && uri.scheme().is_none())
        }
        _ => is_absolute(target),
    }
}

/// Whether `target` is an http or https URI without a user name, which would become part of the host.
fn is_absolute(target: &[u8]) -> bool {
    let Some(behind) = memchr::memmem::find(target, b"://").map(|at| at + b"://".len()) else { return false };
    let host = target.iter().skip(behind).position(|byte| matches!(byte, b'/' | b'?'));
    let (origin, path) = target.split_at(host.map_or(target.len(), |length| behind + length));
    let is_web = |uri: Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some();
    !origin.contains(&b'@') && Uri::try_from(origin).is_ok_and(is_web) && !origin.contains(&b'#') && is_path(path)
}

/// Whether a path and its query consist of bytes that httpd accepts. `#` is refused, because `http::Uri` would drop the
/// rest.
fn is_path(target: &[u8]) -> bool {
    target.iter().all(|byte| matches!(byte, b'!'..=b'~' | 0x80..) && *byte != b'#')
}
