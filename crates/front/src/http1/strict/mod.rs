//! A strict reader of HTTP/1.1 (RFC 9112). It checks each byte before hyper and refuses what the grammar does not
//! allow. Hyper, a proxy in front and the application therefore agree on where a request ends, and no part of a body is
//! taken for a request (request smuggling, RFC 9112, section 11.2). The reader does no I/O: its input is bytes, its
//! output a verdict; `Buffer` connects it to a connection.
//!
//! ```text
//!   Head ──no body──▶ Head        Fixed ──Content-Length bytes──▶ Head
//!     ├─ Content-Length ─▶ Fixed  Chunked ──last chunk, trailers──▶ Head
//!     └─ chunked ────────▶ Chunked
//! ```
//!
//! A correct request costs one pass over its head; body bytes are not examined.

mod buffer;
mod chunked;
mod evidence;
mod extension;
mod field;
mod head;
mod line;
mod request_line;
#[cfg(test)]
mod tests;

use std::ops::Range;

use http::StatusCode;

use chunked::Chunked;
use head::{Framing, StrictHead};

pub use buffer::Buffer;
pub use evidence::Evidence;

/// Maximum lengths of the parts of a request's head, in bytes; `fields` is a number of header fields.
#[derive(Debug, Clone, Copy)]
pub struct HeadLimits {
    /// `LimitRequestLine`
    pub line: usize,
    /// `LimitRequestFieldSize`
    pub field: usize,
    /// `LimitRequestFields`
    pub fields: usize,
    /// The whole head, up to and including the empty line.
    pub head: usize,
}

/// A violation of the grammar or of a limit, and its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// 400, 414, 431, 501 or 505.
    pub status: StatusCode,
    /// Reason, for the error log.
    pub why: &'static str,
    /// Whether the violation is in a body. Its request was passed on already, and its response may have begun.
    pub in_body: bool,
}

impl Violation {
    fn bad(why: &'static str) -> Violation {
        Violation::of(StatusCode::BAD_REQUEST, why)
    }

    fn of(status: StatusCode, why: &'static str) -> Violation {
        Violation { status, why, in_body: false }
    }
}

/// Verdict on the bytes shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scanned {
    /// Number of bytes from the beginning that are correct and may be passed on.
    Pass(usize),
    /// A head or line is incomplete: show the same bytes again, followed by more.
    Wait,
    /// The bytes violate the grammar. The beginning of the next request is unknown, so no more bytes are read.
    Refuse(Violation),
}

/// Tracks the position in one connection's sequence of requests.
pub struct Scanner {
    limits: HeadLimits,
    at: ScanState,
    heads: u32,
    /// Offset of the minor version digit in the last passed head, if the version is later than 1.1, which hyper
    /// refuses.
    newer_at: Option<usize>,
    /// Range of the target in the last passed head, if hyper would refuse a byte of it.
    odd: Option<Range<usize>>,
}

enum ScanState {
    Head(StrictHead),
    Fixed(u64),
    Chunked(Chunked),
}

impl Scanner {
    /// Creates a scanner for a new connection.
    pub fn new(limits: HeadLimits) -> Scanner {
        Scanner { limits, at: ScanState::Head(StrictHead::default()), heads: 0, newer_at: None, odd: None }
    }

    /// Number of correct heads on this connection.
    pub fn heads(&self) -> u32 {
        self.heads
    }

    /// Whether the position is within a body.
    pub fn is_in_body(&self) -> bool {
        !matches!(self.at, ScanState::Head(_))
    }

    /// Offset of the minor version digit in the last passed head, if the version is later than 1.1. The buffer
    /// overwrites it with 1: later versions are served as 1.1 (RFC 9110, section 2.5).
    fn take_newer(&mut self) -> Option<usize> {
        self.newer_at.take()
    }

    /// Range of the target in the last passed head, if hyper would refuse a byte of it. The buffer overwrites such
    /// bytes and stores the original target.
    fn take_odd(&mut self) -> Option<Range<usize>> {
        self.odd.take()
    }

    /// Excerpt of a refused head for the log; `bytes` are the bytes shown to `scan` when it refused.
    pub fn evidence(&self, bytes: &[u8]) -> Evidence {
        match &self.at {
            ScanState::Head(head) => Evidence::of(bytes, head.at()),
            ScanState::Fixed(_) | ScanState::Chunked(_) => Evidence::default(),
        }
    }

    /// Checks `bytes`: all received bytes that were not passed yet, at least one.
    pub fn scan(&mut self, bytes: &[u8]) -> Scanned {
        match self.look(bytes) {
            Ok(Some(passed)) => Scanned::Pass(passed),
            Ok(None) => Scanned::Wait,
            Err(violation) => Scanned::Refuse(Violation { in_body: self.is_in_body(), ..violation }),
        }
    }

    fn look(&mut self, bytes: &[u8]) -> Result<Option<usize>, Violation> {
        match &mut self.at {
            ScanState::Head(head) => {
                let Some((length, framing)) = head.look(bytes, &self.limits)? else { return Ok(None) };
                self.heads = self.heads.wrapping_add(1);
                (self.newer_at, self.odd) = (head.newer_at(), head.odd());
                self.at = match framing {
                    Framing::Fixed(0) => ScanState::Head(StrictHead::default()),
                    Framing::Fixed(length) => ScanState::Fixed(length),
                    Framing::Chunked => ScanState::Chunked(Chunked::default()),
                };
                Ok(Some(length))
            }
            ScanState::Fixed(left) => {
                let passed = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= passed as u64;
                if *left == 0 {
                    self.at = ScanState::Head(StrictHead::default());
                }
                Ok(Some(passed))
            }
            ScanState::Chunked(chunked) => {
                let passed = chunked.look(bytes, &self.limits)?;
                if chunked.is_over() {
                    self.at = ScanState::Head(StrictHead::default());
                }
                Ok(passed)
            }
        }
    }
}
