//! Files of Berkeley DB with the access methods hash and btree: a page of metadata, then pages of one kind each. The
//! entries are in the pages of a hash table's buckets, or in the leaves of a btree, as key and value in turn.

use std::ops::Range;

use super::bytes::ByteOrder::{self, Big, Little};
use super::{Entries, Refused, damaged};

const HASH_MAGIC: u32 = 0x0006_1561;
const BTREE_MAGIC: u32 = 0x0005_3162;
/// Bytes of a page before the offsets of its items.
const PAGE_HEAD: usize = 26;

/// Kinds of pages.
const HASH_UNSORTED: u8 = 2;
const BTREE_LEAF: u8 = 5;
const OVERFLOW: u8 = 7;
const HASH: u8 = 13;

/// The byte order, if the file is Berkeley DB's.
pub fn order(bytes: &[u8]) -> Option<ByteOrder> {
    [Little, Big]
        .into_iter()
        .find(|order| order.word(bytes, 12).is_some_and(|magic| magic == HASH_MAGIC || magic == BTREE_MAGIC))
}

/// A file and its page size.
struct Pages {
    order: ByteOrder,
    size: usize,
    is_hash: bool,
    /// Bytes of values in pieces that may still be copied, so that no page is copied over and over.
    allowance: usize,
}

/// Reads all pages.
pub fn read(entries: &mut Entries, order: ByteOrder) -> Result<(), Refused> {
    let mut pages = Pages::of(&entries.bytes, order)?;
    for number in 1..entries.bytes.len() / pages.size {
        let start = number * pages.size;
        let kind = entries.bytes.get(start + 25).copied();
        let is_data = match pages.is_hash {
            true => kind == Some(HASH) || kind == Some(HASH_UNSORTED),
            false => kind == Some(BTREE_LEAF),
        };
        if is_data {
            pages.read(entries, start)?;
        }
    }
    Ok(())
}

impl Pages {
    fn of(bytes: &[u8], order: ByteOrder) -> Result<Pages, Refused> {
        let cut_off = || damaged("the metadata of Berkeley DB are cut off");
        let size = order.place(bytes, 20).ok_or_else(cut_off)?;
        if !size.is_power_of_two() || !(512..=65536).contains(&size) {
            return Err(damaged("the page size of Berkeley DB is impossible"));
        }
        let is_hash = order.word(bytes, 12) == Some(HASH_MAGIC);
        let version = order.word(bytes, 16).ok_or_else(cut_off)?;
        let (encryption, flags) = (bytes.get(24).ok_or_else(cut_off)?, bytes.get(26).ok_or_else(cut_off)?);
        let features = order.word(bytes, 48).ok_or_else(cut_off)?;
        // In a hash table duplicates and subdatabases; in a btree also record numbers and compression.
        let unknown = if is_hash { 0b111 } else { 0b1110_1111 };
        let is_known = if is_hash { (8..=10).contains(&version) } else { (9..=10).contains(&version) };
        if !is_known || *encryption != 0 || flags & 1 != 0 || features & unknown != 0 {
            return Err(
                "this file of Berkeley DB is not supported: it is of another version, encrypted, or has checksums, \
                        duplicates, record numbers or subdatabases"
                    .to_owned(),
            );
        }
        Ok(Pages { order, size, is_hash, allowance: bytes.len() })
    }

    /// Adds what a page of data has.
    fn read(&mut self, entries: &mut Entries, start: usize) -> Result<(), Refused> {
        let overlap = || damaged("a page of Berkeley DB is cut off");
        let count = self.order.short(&entries.bytes, start + 20).ok_or_else(overlap)?;
        if PAGE_HEAD + 2 * count > self.size {
            return Err(damaged("a page of Berkeley DB has an impossible number of items"));
        }
        let mut end = self.size;
        let mut key = None;
        for number in 0..count {
            let offset = self.order.short(&entries.bytes, start + PAGE_HEAD + 2 * number).ok_or_else(overlap)?;
            let item = match self.is_hash {
                true => self.hash_item(entries, start + offset..start + end)?,
                false => self.leaf_item(entries, start + offset, start + self.size)?,
            };
            end = offset;
            match key.take() {
                None => key = Some(item),
                Some(key) => {
                    if let (Some(key), Some(value)) = (key, item) {
                        entries.add(key, value)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The data of an item of a hash table: its kind, then the data, or where they are.
    fn hash_item(&mut self, entries: &mut Entries, place: Range<usize>) -> Result<Option<Range<usize>>, Refused> {
        let item =
            entries.bytes.get(place.clone()).ok_or_else(|| damaged("an item of Berkeley DB overlaps another one"))?;
        match item.first() {
            Some(1) => Ok(Some(place.start + 1..place.end)),
            Some(3) => {
                let (page, length) = (self.order.place(item, 4), self.order.place(item, 8));
                self.in_pieces(entries, page, length).map(Some)
            }
            _ => Err(damaged("an item of Berkeley DB is of an unknown kind")),
        }
    }

    /// The data of an item of a btree's leaf: length, kind, then the data, or where they are. `None`: the item was
    /// deleted.
    fn leaf_item(&mut self, entries: &mut Entries, at: usize, end: usize) -> Result<Option<Range<usize>>, Refused> {
        let cut_off = || damaged("an item of Berkeley DB is cut off");
        let item = entries.bytes.get(at..end).ok_or_else(cut_off)?;
        let (length, kind) = (self.order.short(item, 0).ok_or_else(cut_off)?, item.get(2).ok_or_else(cut_off)?);
        match kind {
            kind if kind & 0x80 != 0 => Ok(None),
            1 if at + 3 + length <= end => Ok(Some(at + 3..at + 3 + length)),
            3 => {
                let (page, length) = (self.order.place(item, 4), self.order.place(item, 8));
                self.in_pieces(entries, page, length).map(Some)
            }
            _ => Err(damaged("an item of Berkeley DB is of an unknown kind")),
        }
    }

    /// Joins data that fill several pages, behind the end of the file.
    fn in_pieces(
        &mut self,
        entries: &mut Entries,
        page: Option<usize>,
        length: Option<usize>,
    ) -> Result<Range<usize>, Refused> {
        let broken = || damaged("a value in several pages of Berkeley DB is incomplete");
        let (mut page, length) = (page.ok_or_else(broken)?, length.ok_or_else(broken)?);
        self.allowance = self.allowance.checked_sub(length).ok_or_else(broken)?;
        let from = entries.bytes.len();
        while entries.bytes.len() < from + length {
            let start = page.checked_mul(self.size).filter(|start| *start < from).ok_or_else(broken)?;
            if page == 0 || entries.bytes.get(start + 25) != Some(&OVERFLOW) {
                return Err(broken());
            }
            // An overflow page has the length of its piece in place of the offset of free space.
            let piece = self.order.short(&entries.bytes, start + 22).filter(|piece| *piece > 0).ok_or_else(broken)?;
            let piece = piece.min(from + length - entries.bytes.len());
            let place = start + PAGE_HEAD..start + PAGE_HEAD + piece;
            if piece > self.size - PAGE_HEAD || place.end > from {
                return Err(broken());
            }
            page = self.order.place(&entries.bytes, start + 16).ok_or_else(broken)?;
            entries.bytes.extend_from_within(place);
        }
        Ok(from..from + length)
    }
}
