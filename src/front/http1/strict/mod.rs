//! HTTP/1 as it must be written: looks at every byte before hyper does, so that what hyper would guess at, drop or
//! mend never reaches it, and no body's byte is ever taken for a request. Pure: bytes in, a verdict out.
//!
//! ```text
//!   Head ──no body──▶ Head        Fixed ──so many bytes──▶ Head
//!     ├─ Content-Length ─▶ Fixed  Chunked ──last chunk, trailers──▶ Head
//!     └─ chunked ────────▶ Chunked
//! ```
//!
//! While requests are in order this costs one look at each byte of a head and none at a body's.

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

use http::StatusCode;

use chunked::Chunked;
use head::{Framing, Head};

pub use buffer::Buffer;
pub use evidence::Evidence;

/// How long the parts of a request may be.
#[derive(Debug, Clone, Copy)]
pub struct HeadLimits {
    /// `LimitRequestLine`
    pub line: usize,
    /// `LimitRequestFieldSize`
    pub field: usize,
    /// `LimitRequestFields`
    pub fields: usize,
    /// Everything up to the empty line.
    pub head: usize,
}

/// What a client did wrong, and how it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// The answer.
    pub status: StatusCode,
    /// For the error log.
    pub why: &'static str,
    /// It is in the body of a request whose head was in order.
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

/// What is to be done with the bytes that were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scanned {
    /// So many of them are in order.
    Pass(usize),
    /// They may be in order once there are more.
    Wait,
    /// They are not, and nothing after them means anything.
    Refuse(Violation),
}

/// Where in the stream of requests a client is.
pub struct Scanner {
    limits: HeadLimits,
    at: At,
    heads: u32,
    /// Where, in the head that was passed last, the digit stands of a version that hyper does not read.
    newer_at: Option<usize>,
}

enum At {
    Head(Head),
    Fixed(u64),
    Chunked(Chunked),
}

impl Scanner {
    /// At the beginning of a connection.
    pub fn new(limits: HeadLimits) -> Scanner {
        Scanner { limits, at: At::Head(Head::default()), heads: 0, newer_at: None }
    }

    /// Heads that were in order so far.
    pub fn heads(&self) -> u32 {
        self.heads
    }

    /// Whether a body is not over.
    pub fn is_in_body(&self) -> bool {
        !matches!(self.at, At::Head(_))
    }

    /// Where, in what was passed last, the digit stands that makes it a version later than HTTP/1.1: to be read as a 1.
    fn take_newer(&mut self) -> Option<usize> {
        self.newer_at.take()
    }

    /// What is known of a head that was refused; `bytes` are those that it was refused for.
    pub fn evidence(&self, bytes: &[u8]) -> Evidence {
        match &self.at {
            At::Head(head) => Evidence::of(bytes, head.at()),
            At::Fixed(_) | At::Chunked(_) => Evidence::default(),
        }
    }

    /// Looks at `bytes`, of which there is at least one: all that has come and was not passed yet.
    pub fn scan(&mut self, bytes: &[u8]) -> Scanned {
        match self.look(bytes) {
            Ok(Some(passed)) => Scanned::Pass(passed),
            Ok(None) => Scanned::Wait,
            Err(violation) => Scanned::Refuse(Violation { in_body: self.is_in_body(), ..violation }),
        }
    }

    fn look(&mut self, bytes: &[u8]) -> Result<Option<usize>, Violation> {
        match &mut self.at {
            At::Head(head) => {
                let Some((length, framing)) = head.look(bytes, &self.limits)? else { return Ok(None) };
                self.heads = self.heads.wrapping_add(1);
                self.newer_at = head.newer_at();
                self.at = match framing {
                    Framing::Fixed(0) => At::Head(Head::default()),
                    Framing::Fixed(length) => At::Fixed(length),
                    Framing::Chunked => At::Chunked(Chunked::default()),
                };
                Ok(Some(length))
            }
            At::Fixed(left) => {
                let passed = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= passed as u64;
                if *left == 0 {
                    self.at = At::Head(Head::default());
                }
                Ok(Some(passed))
            }
            At::Chunked(chunked) => {
                let passed = chunked.look(bytes, &self.limits)?;
                if chunked.is_over() {
                    self.at = At::Head(Head::default());
                }
                Ok(passed)
            }
        }
    }
}
