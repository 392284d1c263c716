//! Files of GDBM with 64-bit offsets: a header, a directory of offsets of buckets, and buckets of elements that refer
//! to the data. A value follows its key.

use std::collections::BTreeSet;

use super::bytes::ByteOrder::{self, Big, Little};
use super::{Entries, Refused, damaged};

/// The usual format, and the one with a counter for crash tolerance.
const MAGIC: [u32; 2] = [0x1357_9acf, 0x1357_9ad1];
/// Formats with 32-bit offsets, and of versions before 1.9.
const OTHER_MAGIC: [u32; 3] = [0x1357_9acd, 0x1357_9ace, 0x1357_9ad0];
/// Bytes of a bucket before its elements: blocks of free space, the number of bits, the number of elements.
const BUCKET_HEAD: usize = 112;
const ELEMENT: usize = 24;
/// The hash of an element that is not used.
const UNUSED: u32 = u32::MAX;

/// The byte order, if the file is GDBM's.
pub fn order(bytes: &[u8]) -> Option<ByteOrder> {
    let is_ours = |order: &ByteOrder| {
        order.word(bytes, 0).is_some_and(|magic| MAGIC.contains(&magic) || OTHER_MAGIC.contains(&magic))
    };
    [Little, Big].into_iter().find(is_ours)
}

/// Reads all buckets.
pub fn read(entries: &mut Entries, order: ByteOrder) -> Result<(), Refused> {
    if order.word(&entries.bytes, 0).is_none_or(|magic| !MAGIC.contains(&magic)) {
        return Err("this format of GDBM is not supported: it has 32-bit offsets, or is of a version before 1.9; \
                    write the database again with a current GDBM"
            .to_owned());
    }
    let header = || {
        let bytes = &entries.bytes;
        let (directory, size) = (order.long_place(bytes, 8)?, order.place(bytes, 16)?);
        Some((bytes.get(directory..directory.checked_add(size)?)?, order.place(bytes, 24)?, order.place(bytes, 28)?))
    };
    let (directory, bucket, elements) = header().ok_or_else(|| damaged("the directory of GDBM is cut off"))?;
    if elements.checked_mul(ELEMENT).and_then(|size| size.checked_add(BUCKET_HEAD)).is_none_or(|size| size > bucket) {
        return Err(damaged("a bucket of GDBM is smaller than its elements"));
    }
    // Several entries of the directory refer to one bucket.
    let buckets: BTreeSet<usize> =
        (0..directory.len() / 8).filter_map(|number| order.long_place(directory, 8 * number)).collect();
    if buckets.len().saturating_mul(bucket) > entries.bytes.len() {
        return Err(damaged("the buckets of GDBM are larger than the file"));
    }
    for start in buckets {
        for number in 0..elements {
            let element = || element(&entries.bytes, order, start.checked_add(BUCKET_HEAD + ELEMENT * number)?);
            let [key, value, end] = match element().ok_or_else(|| damaged("a bucket of GDBM is cut off"))? {
                Some(element) => element,
                None => continue,
            };
            entries.add(key..value, value..end)?;
        }
    }
    Ok(())
}

/// Positions of key, value and end of an element. `Some(None)`: the element is not used; `None`: it is cut off.
fn element(bytes: &[u8], order: ByteOrder, at: usize) -> Option<Option<[usize; 3]>> {
    if order.word(bytes, at)? == UNUSED {
        return Some(None);
    }
    let key = order.long_place(bytes, at.checked_add(8)?)?;
    let value = key.checked_add(order.place(bytes, at.checked_add(16)?)?)?;
    Some(Some([key, value, value.checked_add(order.place(bytes, at.checked_add(20)?)?)?]))
}
