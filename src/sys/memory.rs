//! Memory that a worker and the front share.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use wire::memory::{Memory, SharedMemory, WORDS};

const LENGTH: usize = WORDS * 8;

/// A mapping of [`WORDS`] words, until this goes.
struct Mapping(NonNull<AtomicU64>);

// SAFETY: it owns its mapping, which stays where it is, and gives out atomic words only, or bytes that are said to change.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Maps what [`wire::memory::create`] has made, in this process or in another.
pub fn map_memory(memory: &OwnedFd) -> io::Result<Memory> {
    let size = nix::sys::stat::fstat(memory)?.st_size;
    if u64::try_from(size).is_ok_and(|size| size < LENGTH as u64) {
        return Err(io::Error::other(format!("a worker's memory has {size} bytes instead of {LENGTH}")));
    }
    let length = NonZeroUsize::new(LENGTH).ok_or(io::ErrorKind::InvalidInput)?;
    let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: a new mapping, in a place that the kernel chooses. The file is as long, and sealed against being cut.
    let mapped = unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, memory, 0) }?;
    Ok(Arc::new(Mapping(mapped.cast())))
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it is ours, and whoever had borrowed of it has given that back.
        let _ = unsafe { munmap(self.0.cast(), LENGTH) };
    }
}

impl SharedMemory for Mapping {
    fn words(&self) -> &[AtomicU64] {
        // SAFETY: so many words are mapped, aligned to a page, for as long as `self` lives; atomic words may be written by
        // anybody at any time.
        unsafe { slice::from_raw_parts(self.0.as_ptr(), WORDS) }
    }

    // At once: stores of atomic words are never joined to longer ones, and of a page of 100 kB that was a fifth of the worker's time.
    fn write(&self, at: usize, bytes: &[u8]) {
        let Some(room) = LENGTH.checked_sub(at.saturating_mul(8)) else { return };
        let length = bytes.len().min(room);
        // SAFETY: the room was measured. The front reads these bytes after it was told of them in an atomic word, or reads
        // what it has no business with; it expects any bytes.
        unsafe { self.0.as_ptr().add(at).cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), length) };
    }

    fn bytes(&self, at: usize, length: usize) -> Option<&[u8]> {
        let end = at.checked_add(length)?;
        if end > LENGTH {
            return None;
        }
        // SAFETY: they lie in the mapping. The other process does not write a block that it has handed over; one that does all
        // the same, spoils what is sent of its own answer: these bytes go to the kernel, a cipher or a compressor, or are
        // copied before anybody reads them: each takes any bytes and none looks twice.
        Some(unsafe { slice::from_raw_parts(self.0.as_ptr().cast::<u8>().add(at), length) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn what_one_mapping_writes_the_other_reads() {
        let memory = wire::memory::create().expect("a memfd");
        let (ours, theirs) = (map_memory(&memory).expect("mapped"), map_memory(&memory).expect("mapped"));
        let last = WORDS - 1;
        ours.words()[last].store(u64::from_ne_bytes(*b"the end."), Relaxed);
        assert_eq!(theirs.bytes(LENGTH - 8, 8), Some(&b"the end."[..]));
        assert_eq!(theirs.bytes(LENGTH - 8, 9), None);
        assert_eq!(theirs.bytes(usize::MAX, 2), None);
    }

    #[test]
    fn memory_cannot_be_cut_and_too_little_is_refused() {
        let memory = wire::memory::create().expect("a memfd");
        nix::unistd::ftruncate(&memory, 0).expect_err("it is sealed");
        let small = wire::transport::in_memory("small", b"x").expect("a memfd");
        assert!(map_memory(&small.into()).is_err());
    }
}
