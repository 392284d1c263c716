//! The `.pag` file of SDBM, in apr-util's format: pages of 1024 bytes. A page begins with the number of offsets, then
//! has the offsets of key and value in turn; the data fill the page from its end. A hole in the file is an empty page.
//! The `.dir` file only finds the page of a key; an index of all pages does the same.

use super::bytes::ByteOrder::Little;
use super::{Entries, Refused, damaged};

const PAGE: usize = 1024;

/// Reads all pages.
pub fn read(entries: &mut Entries) -> Result<(), Refused> {
    if !entries.bytes.len().is_multiple_of(PAGE) {
        return Err(damaged("neither the magic number of GDBM or Berkeley DB, nor whole pages of SDBM"));
    }
    for start in (0..entries.bytes.len()).step_by(PAGE) {
        page(entries, start)?;
    }
    Ok(())
}

fn page(entries: &mut Entries, start: usize) -> Result<(), Refused> {
    let offset = |entries: &Entries, number: usize| {
        Little.short(&entries.bytes, start + 2 * number).ok_or_else(|| damaged("a page of SDBM is cut off"))
    };
    let count = offset(entries, 0)?;
    let offsets = 2 * (count + 1);
    if !count.is_multiple_of(2) || offsets > PAGE {
        return Err(damaged("a page of SDBM has an impossible number of entries"));
    }
    let mut end = PAGE;
    for number in (1..=count).step_by(2) {
        let (key, value) = (offset(entries, number)?, offset(entries, number + 1)?);
        if key > end || value > key || value < offsets {
            return Err(damaged("an entry of SDBM overlaps another one"));
        }
        entries.add(start + key..start + end, start + value..start + key)?;
        end = value;
    }
    Ok(())
}
