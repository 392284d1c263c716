//! Lines that end with CR LF. A lone LF is refused, because a proxy in front may not treat it as a line end. RFC 9112,
//! section 2.2 allows servers to accept it.

use super::Violation;

/// Finds the lines of a head that arrives in pieces, without searching any byte twice.
#[derive(Default)]
pub struct Lines {
    /// Offset of the current line.
    start: usize,
    /// Offset up to which the current line was searched for LF.
    looked: usize,
}

/// The line exceeds its limit.
pub struct TooLong;

impl Lines {
    /// The next line of `bytes` without its CR LF; `None` while it is incomplete. `most` is the limit on its length.
    pub fn next<'a>(&mut self, bytes: &'a [u8], most: usize) -> Result<Option<Result<&'a [u8], Violation>>, TooLong> {
        let fresh = bytes.get(self.looked..).unwrap_or_default();
        let Some(at) = memchr::memchr(b'\n', fresh) else {
            self.looked = bytes.len();
            // One byte more may be the CR of a line of exactly `most` bytes.
            return if bytes.len() - self.start > most + 1 { Err(TooLong) } else { Ok(None) };
        };
        let end = self.looked + at;
        let line = bytes.get(self.start..end).unwrap_or_default();
        (self.start, self.looked) = (end + 1, end + 1);
        match line.strip_suffix(b"\r") {
            Some(line) if line.len() > most => Err(TooLong),
            Some(line) => Ok(Some(Ok(line))),
            None if line.len() > most => Err(TooLong),
            None => Ok(Some(Err(Violation::bad("a line that ends without CR")))),
        }
    }

    /// Number of bytes in the lines found so far, including CR LF.
    pub fn passed(&self) -> usize {
        self.start
    }
}
