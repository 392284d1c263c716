//! Shared words that one process writes and its descendants read.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap};
use nix::sys::stat::fstat;
use nix::unistd::ftruncate;

/// F_SEAL_FUTURE_WRITE (Linux 5.1): later mappings are read-only.
const SEAL_FUTURE_WRITE: i32 = 0x0010;

/// Words in shared memory, mapped for as long as the process lives.
#[derive(Debug)]
pub struct Words {
    first: NonNull<AtomicU64>,
    count: usize,
}

/// Creates shared words with value 0 that only this process can write, and a descriptor to map them elsewhere.
pub fn new_words(count: usize) -> io::Result<(Words, OwnedFd)> {
    let memory = memfd_create("words", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?;
    ftruncate(&memory, i64::try_from(count * 8).map_err(io::Error::other)?)?;
    let words = map(&memory, count, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE)?;
    let size = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW;
    fcntl(&memory, FcntlArg::F_ADD_SEALS(size))?;
    // Kernels without this seal let a worker write: it could grant itself memory, but the master still measures it.
    // SAFETY: the call takes integers.
    let _ = unsafe { nix::libc::fcntl(memory.as_raw_fd(), nix::libc::F_ADD_SEALS, SEAL_FUTURE_WRITE) };
    Ok((words, memory))
}

/// Read-only: `memory` is the descriptor of [`new_words`]. Fails if it is empty.
pub fn map_words(memory: &OwnedFd) -> io::Result<Words> {
    let count = usize::try_from(fstat(memory)?.st_size).unwrap_or(0) / 8;
    map(memory, count, ProtFlags::PROT_READ)
}

fn map(memory: &OwnedFd, count: usize, access: ProtFlags) -> io::Result<Words> {
    let length = NonZeroUsize::new(count * 8).ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: a new mapping at an address that the kernel chooses, of a file with this length that is sealed against
    // truncation.
    let mapped = unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, memory, 0) }?;
    Ok(Words { first: mapped.cast(), count })
}

impl Words {
    fn get(&self, at: usize) -> Option<&AtomicU64> {
        // SAFETY: this many words are mapped, page-aligned, for the life of the process; all access is atomic.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.count) }.get(at)
    }

    /// Reads a word; 0 beyond the end.
    pub fn read(&self, at: usize) -> u64 {
        self.get(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Writes a word; only in the process that created them.
    pub fn write(&mut self, at: usize, value: u64) {
        if let Some(word) = self.get(at) {
            word.store(value, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_writes_and_others_only_read() {
        let (mut ours, memory) = new_words(16).expect("words");
        let theirs = map_words(&memory).expect("mapped");
        ours.write(15, 7);
        ours.write(16, 8);
        assert_eq!((theirs.read(15), theirs.read(16)), (7, 0));
        assert!(map(&memory, 16, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE).is_err(), "sealed");
    }
}
