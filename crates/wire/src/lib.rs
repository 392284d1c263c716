//! The messages between master, front, molds and workers, and the transport of all messages between processes. The
//! messages of sampler, profiler, monitor and control socket are beside the types that they contain.
//!
//! ```text
//!   master ── control::ToFront / FromFront ── front        control:  starts and ends of workers, the serving generation
//!     ├────── control::ToMold  / FromMold ─── mold
//!     └─ control::ToExpander / FromExpander ─ expander
//!   cgi ───── fcgid::ToManager / FromManager  fcgid        leases of processes of FastCGI programs
//!   front  ── frame::Request ─────────────▶ worker         exchange: one request at a time
//!   front  ◀───────── reply::Reply ──────── worker
//! ```
//!
//! This crate knows nothing of HTTP, Perl or the configuration, and trusts no length or identifier that it reads: a
//! malformed message is a [`Malformed`] error, never a panic.
//!
//! Start at [`control`] for the master's messages, at [`frame`] and [`reply`] for a request and its response.

#![forbid(unsafe_code)]

pub mod board;
pub mod broadcast;
pub mod channel;
pub mod control;
pub mod fcgid;
pub mod frame;
pub mod memory;
pub mod memory_words;
pub mod outbox;
pub mod overrides;
pub mod reply;
pub mod transport;

/// A message that violates its format. The text names the violated rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed message: {0}")]
pub struct Malformed(pub &'static str);

impl From<Malformed> for std::io::Error {
    fn from(bad: Malformed) -> Self {
        std::io::Error::new(std::io::ErrorKind::InvalidData, bad)
    }
}

/// Reads numbers and byte strings from the front of a slice; every read is checked.
pub(crate) struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.0.split_at_checked(n).ok_or(Malformed("shorter than its length fields say"))?;
        self.0 = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.bytes(N)?.try_into().map_err(|_| Malformed("shorter than its length fields say"))
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_le_bytes)
    }

    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    /// A `u32` length and as many bytes.
    pub fn string(&mut self) -> Result<&'a [u8], Malformed> {
        let n = self.u32()? as usize;
        self.bytes(n)
    }
}

/// Appends `bytes` in the form that [`Cursor::string`] reads.
pub(crate) fn put_string(to: &mut Vec<u8>, bytes: &[u8]) {
    let n = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    to.extend_from_slice(&n.to_le_bytes());
    to.extend_from_slice(bytes);
}
