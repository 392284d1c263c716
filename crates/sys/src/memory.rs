//! Memory shared by a worker and the front.

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

/// A mapping of [`WORDS`] words, unmapped on drop.
struct Mapping(NonNull<AtomicU64>);

// SAFETY: the mapping is owned, does not move, and is accessed only as atomic words, or as bytes documented to change.
unsafe impl Send for Mapping {}
// SAFETY: shared access goes through atomic words, or through bytes documented to change.
unsafe impl Sync for Mapping {}

/// Maps memory made by [`wire::memory::create`], in any process.
pub fn map_memory(memory: &OwnedFd) -> io::Result<Memory> {
    let size = nix::sys::stat::fstat(memory)?.st_size;
    if u64::try_from(size).is_ok_and(|size| size < LENGTH as u64) {
        return Err(io::Error::other(format!("the shared memory of a worker has {size} bytes instead of {LENGTH}")));
    }
    let length = NonZeroUsize::new(LENGTH).ok_or(io::ErrorKind::InvalidInput)?;
    let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: a new mapping at an address that the kernel chooses. The file has this length, and is sealed against
    // truncation.
    let mapped = unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, memory, 0) }?;
    Ok(Arc::new(Mapping(mapped.cast())))
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is owned, and all borrows of it have ended.
        let _ = unsafe { munmap(self.0.cast(), LENGTH) };
    }
}

impl SharedMemory for Mapping {
    fn words(&self) -> &[AtomicU64] {
        // SAFETY: this many words are mapped, page-aligned, while `self` lives. Other processes may write atomic words
        // at any time.
        unsafe { slice::from_raw_parts(self.0.as_ptr(), WORDS) }
    }

    // Bytes are copied as a block, because the compiler never joins stores of atomic words: for a page of 100 kB such
    // stores took a fifth of a worker's time.
    fn write(&self, at: usize, bytes: &[u8]) {
        let Some(room) = LENGTH.checked_sub(at.saturating_mul(8)) else { return };
        let length = bytes.len().min(room);
        // SAFETY: the length was checked. The front reads these bytes after an atomic word announced them. A front that
        // reads others accepts any bytes.
        unsafe { self.0.as_ptr().add(at).cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), length) };
    }

    fn bytes(&self, at: usize, length: usize) -> Option<&[u8]> {
        let end = at.checked_add(length)?;
        if end > LENGTH {
            return None;
        }
        // SAFETY: the bytes are within the mapping. The other process does not write a block that it has passed on. If
        // it does so nevertheless, it damages its own response: the bytes are passed to the kernel, a cipher or a
        // compressor, or copied before use, and each of these accepts any bytes and reads them once.
        Some(unsafe { slice::from_raw_parts(self.0.as_ptr().cast::<u8>().add(at), length) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn one_mapping_reads_the_writes_of_another() {
        let memory = wire::memory::create().expect("a memfd");
        let (ours, theirs) = (map_memory(&memory).expect("mapped"), map_memory(&memory).expect("mapped"));
        let last = WORDS - 1;
        ours.words()[last].store(u64::from_ne_bytes(*b"the end."), Relaxed);
        assert_eq!(theirs.bytes(LENGTH - 8, 8), Some(&b"the end."[..]));
        assert_eq!(theirs.bytes(LENGTH - 8, 9), None);
        assert_eq!(theirs.bytes(usize::MAX, 2), None);
    }

    #[test]
    fn the_memory_cannot_be_truncated_and_a_short_file_is_refused() {
        let memory = wire::memory::create().expect("a memfd");
        nix::unistd::ftruncate(&memory, 0).expect_err("a sealed file");
        let small = wire::transport::in_memory("small", b"x").expect("a memfd");
        assert!(map_memory(&small.into()).is_err());
    }
}
