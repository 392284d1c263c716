//! A strict reader of HTTP/1.1 (RFC 9112) for the front's connections: it sees each byte before hyper does and refuses what
//! the grammar does not allow. What hyper would guess at, drop or mend never reaches it, so hyper, a proxy in front and the
//! application agree on where a request ends, and no byte of a body is taken for a request (request smuggling, RFC 9112,
//! section 11.2). Pure: bytes in, a verdict out; `Buffer` is how a connection uses it.
//!
//! ```text
//!   Head ──no body──▶ Head        Fixed ──so many bytes──▶ Head
//!     ├─ Content-Length ─▶ Fixed  Chunked ──last chunk, trailers──▶ Head
//!     └─ chunked ────────▶ Chunked
//! ```
//!
//! A correct request costs one look at each byte of its head and none at the bytes of its body.

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
use head::{Framing, Head};

pub use buffer::Buffer;
pub use evidence::Evidence;

/// How long the parts of a request's head may be, in bytes; `fields` is a number of header fields.
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

/// A breach of the grammar or of a limit, and how it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// The status of the answer.
    pub status: StatusCode,
    /// What was wrong, in words for the error log.
    pub why: &'static str,
    /// Whether the mistake stands in a body: its request has been passed on, and its answer may have begun.
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

/// What the scanner says of the bytes it was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scanned {
    /// So many bytes from the beginning are correct and may be passed on.
    Pass(usize),
    /// A head or a line is incomplete: show the same bytes again, with more behind them.
    Wait,
    /// The grammar is broken. Where the next request begins is unknown, so nothing after this is read.
    Refuse(Violation),
}

/// Follows one connection through its requests: which part of which request the next byte belongs to.
pub struct Scanner {
    limits: HeadLimits,
    at: At,
    heads: u32,
    /// In the last head that was passed: where the minor digit of a version later than 1.1 stands, which hyper would refuse.
    newer_at: Option<usize>,
    /// In the last head that was passed: where the target stands, if hyper would refuse a byte of it.
    odd: Option<Range<usize>>,
}

enum At {
    Head(Head),
    Fixed(u64),
    Chunked(Chunked),
}

impl Scanner {
    /// A scanner for a new connection.
    pub fn new(limits: HeadLimits) -> Scanner {
        Scanner { limits, at: At::Head(Head::default()), heads: 0, newer_at: None, odd: None }
    }

    /// How many heads of this connection were correct so far.
    pub fn heads(&self) -> u32 {
        self.heads
    }

    /// Whether a body has begun and not ended.
    pub fn is_in_body(&self) -> bool {
        !matches!(self.at, At::Head(_))
    }

    /// Where the minor digit of a version later than 1.1 stands in the last head that was passed. The buffer overwrites it with a
    /// 1: HTTP/1.2 and later are served as 1.1 (RFC 9110, section 2.5).
    fn take_newer(&mut self) -> Option<usize> {
        self.newer_at.take()
    }

    /// Where the target of the last head that was passed stands, if hyper would refuse a byte of it. The buffer overwrites such
    /// bytes and keeps the target.
    fn take_odd(&mut self) -> Option<Range<usize>> {
        self.odd.take()
    }

    /// What the log says of a refused head; `bytes` are those that `step` was shown when it refused.
    pub fn evidence(&self, bytes: &[u8]) -> Evidence {
        match &self.at {
            At::Head(head) => Evidence::of(bytes, head.at()),
            At::Fixed(_) | At::Chunked(_) => Evidence::default(),
        }
    }

    /// Judges `bytes`: everything that has come and was not passed yet, at least one byte.
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
                (self.newer_at, self.odd) = (head.newer_at(), head.odd());
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
