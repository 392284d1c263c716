//! Lines: they end with CR LF, and with nothing else.

use super::Violation;

/// Finds lines in bytes of which a beginning may have been searched before.
#[derive(Default)]
pub struct Lines {
    /// Where the line begins that is looked for.
    start: usize,
    /// Up to here there is no end of it.
    looked: usize,
}

/// Longer than it may be.
pub struct TooLong;

impl Lines {
    /// The next line without its end; `None` until it is all there.
    pub fn next<'a>(&mut self, bytes: &'a [u8], most: usize) -> Result<Option<Result<&'a [u8], Violation>>, TooLong> {
        let fresh = bytes.get(self.looked..).unwrap_or_default();
        let Some(at) = memchr::memchr(b'\n', fresh) else {
            self.looked = bytes.len();
            // A CR may be there already.
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

    /// How many bytes the lines up to here have, with their ends.
    pub fn passed(&self) -> usize {
        self.start
    }
}
