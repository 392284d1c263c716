//! Lines that end with CR LF. A lone LF, which RFC 9112, section 2.2 lets a server accept, is refused: a proxy in front may not
//! have taken it for the end of a line.

use super::Violation;

/// Finds the lines of a head that comes in pieces, without searching any byte twice.
#[derive(Default)]
pub struct Lines {
    /// Where the line begins that is being looked for.
    start: usize,
    /// The bytes before this were searched, and no LF is among them.
    looked: usize,
}

/// The line is longer than it may be.
pub struct TooLong;

impl Lines {
    /// The next line of `bytes` without its CR LF; `None` while it is incomplete. `most` is its longest allowed length.
    pub fn next<'a>(&mut self, bytes: &'a [u8], most: usize) -> Result<Option<Result<&'a [u8], Violation>>, TooLong> {
        let fresh = bytes.get(self.looked..).unwrap_or_default();
        let Some(at) = memchr::memchr(b'\n', fresh) else {
            self.looked = bytes.len();
            // The one byte more may be the CR of a line of exactly `most` bytes.
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

    /// How many bytes the lines found so far have, with their CR LF.
    pub fn passed(&self) -> usize {
        self.start
    }
}
