//! A page of words that one process writes and all that come from it read.

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

/// F_SEAL_FUTURE_WRITE (Linux 5.1): who maps it after us can only read.
const SEAL_FUTURE_WRITE: i32 = 0x0010;

/// Words in shared memory, mapped for as long as the process lives.
#[derive(Debug)]
pub struct Words {
    first: NonNull<AtomicU64>,
    count: usize,
}

/// Makes so many words, all 0, that only this process can write, and a descriptor by which others map them.
pub fn new_words(count: usize) -> io::Result<(Words, OwnedFd)> {
    let memory = memfd_create("words", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?;
    ftruncate(&memory, i64::try_from(count * 8).map_err(io::Error::other)?)?;
    let words = map(&memory, count, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE)?;
    let size = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW;
    fcntl(&memory, FcntlArg::F_ADD_SEALS(size))?;
    // An older kernel lets a worker write there: it could then grant itself memory, which the master measures all the same.
    // SAFETY: the call takes integers.
    let _ = unsafe { nix::libc::fcntl(memory.as_raw_fd(), nix::libc::F_ADD_SEALS, SEAL_FUTURE_WRITE) };
    Ok((words, memory))
}

/// Maps them, to be read.
pub fn map_words(memory: &OwnedFd) -> io::Result<Words> {
    let count = usize::try_from(fstat(memory)?.st_size).unwrap_or(0) / 8;
    map(memory, count, ProtFlags::PROT_READ)
}

fn map(memory: &OwnedFd, count: usize, access: ProtFlags) -> io::Result<Words> {
    let length = NonZeroUsize::new(count * 8).ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: a new mapping, in a place that the kernel chooses, of a file that is as long and is sealed against being cut.
    let mapped = unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, memory, 0) }?;
    Ok(Words { first: mapped.cast(), count })
}

impl Words {
    fn get(&self, at: usize) -> Option<&AtomicU64> {
        // SAFETY: so many words are mapped, aligned to a page, for good; they are only used as atomic words.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.count) }.get(at)
    }

    /// The word at that place; 0 where there is none.
    pub fn read(&self, at: usize) -> u64 {
        self.get(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Writes a word; only for whoever has made them.
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
    fn what_one_writes_others_read_and_nobody_else_writes() {
        let (mut ours, memory) = new_words(16).expect("words");
        let theirs = map_words(&memory).expect("mapped");
        ours.write(15, 7);
        ours.write(16, 8);
        assert_eq!((theirs.read(15), theirs.read(16)), (7, 0));
        assert!(map(&memory, 16, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE).is_err(), "sealed");
    }
}
