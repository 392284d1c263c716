//! DBM files: tables of keys and values, as apr-util's SDBM, GDBM and Berkeley DB write them. A file is read whole, and
//! its entries are indexed. The bytes are untrusted: a `.htaccess` file can name any file.

mod berkeley;
mod bytes;
mod gdbm;
mod sdbm;

use std::ops::Range;

/// Maximum size of a file in bytes.
pub const MAX_DBM_BYTES: u64 = 16 << 20;
/// Maximum length of a value that is used as text, in bytes.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// Maximum number of entries.
const MAX_ENTRIES: usize = 1 << 19;

/// The entries of a DBM file.
#[derive(Debug)]
pub struct DbmFile {
    /// The file, and behind it the values that the file stores in pieces.
    bytes: Vec<u8>,
    /// Sorted by key. Each key is there once.
    entries: Vec<DbmEntry>,
}

/// Positions of a key and its value in [`DbmFile::bytes`].
#[derive(Debug, Clone)]
struct DbmEntry {
    key: Range<u32>,
    value: Range<u32>,
}

/// Why a file cannot be used.
type Refused = String;

impl DbmFile {
    /// Parses a file. Its first bytes identify the format; without a known magic number it is the `.pag` file of SDBM.
    pub fn parse(bytes: Vec<u8>) -> Result<DbmFile, Refused> {
        if bytes.len() as u64 > MAX_DBM_BYTES {
            return Err(format!("the file is larger than {} MB", MAX_DBM_BYTES >> 20));
        }
        let (gdbm, berkeley) = (gdbm::order(&bytes), berkeley::order(&bytes));
        let mut found = Entries { allowance: bytes.len(), bytes, all: Vec::new() };
        match (gdbm, berkeley) {
            (Some(order), _) => gdbm::read(&mut found, order),
            (None, Some(order)) => berkeley::read(&mut found, order),
            (None, None) => sdbm::read(&mut found),
        }?;
        let Entries { bytes, all: mut entries, .. } = found;
        // The last of several equal keys in the file counts: SDBM writes the new half of a page behind the old one.
        entries.reverse();
        entries.sort_by(|a, b| slice(&bytes, &a.key).cmp(slice(&bytes, &b.key)));
        entries.dedup_by(|later, first| slice(&bytes, &later.key) == slice(&bytes, &first.key));
        entries.shrink_to_fit();
        Ok(DbmFile { bytes, entries })
    }

    /// The value of a key. As some programs store the NUL at the end of C's strings, such a key is found as well.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.find(key).or_else(|| self.find(&[key, b"\0"].concat()))
    }

    /// The value of a key as text, up to a NUL. `None`: there is no such key.
    pub fn text(&self, key: &str) -> Result<Option<&str>, String> {
        let Some(value) = self.get(key.as_bytes()) else { return Ok(None) };
        if value.len() > MAX_TEXT_BYTES {
            return Err(format!("the value of \"{}\" is longer than {} KB", key.escape_debug(), MAX_TEXT_BYTES >> 10));
        }
        let value = value.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = std::str::from_utf8(value);
        text.map(Some).map_err(|_| format!("the value of \"{}\" is not UTF-8", key.escape_debug()))
    }

    /// Memory in bytes.
    pub fn size(&self) -> usize {
        self.bytes.capacity() + self.entries.capacity() * size_of::<DbmEntry>()
    }

    fn find(&self, key: &[u8]) -> Option<&[u8]> {
        let at = self.entries.binary_search_by(|entry| slice(&self.bytes, &entry.key).cmp(key)).ok()?;
        Some(slice(&self.bytes, &self.entries.get(at)?.value))
    }
}

/// The entries found so far.
struct Entries {
    bytes: Vec<u8>,
    all: Vec<DbmEntry>,
    /// Bytes that keys may still have together. Keys that overlap would make the sorting expensive.
    allowance: usize,
}

impl Entries {
    fn add(&mut self, key: Range<usize>, value: Range<usize>) -> Result<(), Refused> {
        if self.all.len() >= MAX_ENTRIES {
            return Err(format!("the file has more than {MAX_ENTRIES} entries"));
        }
        self.allowance = self.allowance.checked_sub(key.len()).ok_or_else(|| damaged("keys overlap"))?;
        self.all.push(DbmEntry { key: self.within(key)?, value: self.within(value)? });
        Ok(())
    }

    /// Checks that a range lies within the bytes.
    fn within(&self, range: Range<usize>) -> Result<Range<u32>, Refused> {
        self.bytes.get(range.clone()).ok_or_else(|| damaged("an entry lies outside of the file"))?;
        // Files and their values are smaller than 4 GB: see `MAX_DBM_BYTES`.
        Ok(range.start as u32..range.end as u32)
    }
}

fn slice<'a>(bytes: &'a [u8], range: &Range<u32>) -> &'a [u8] {
    bytes.get(range.start as usize..range.end as usize).unwrap_or_default()
}

fn damaged(what: &str) -> Refused {
    format!("not a usable DBM file: {what}")
}

#[cfg(test)]
mod tests;
