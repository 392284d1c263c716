//! What the front and one worker share besides their socket: requests go and small answers come without a system call unless
//! somebody sleeps, and what is large is written once and sent from where it lies.
//!
//! ```text
//!   front                                                worker
//!   orders::Sender ── frame ──▶ slot ── claim ─────────▶ orders::Receiver      a slot belongs to whoever swaps its state
//!   replies::Reader ◀── packets ── ring of the thread ── replies::Writer       a ring for each thread of the front
//!   blocks::Lender ◀── number of a block, in a packet ── blocks::Writer        a block is the front's until it gives it back
//! ```
//!
//! Each side writes words that the other may change at any moment, so all are atomic. The worker believes the front. The
//! front believes nothing: a number that it reads here is copied once, and the copy is checked before it is used.

pub mod blocks;
mod copy;
mod front;
#[cfg(test)]
mod model;
pub mod orders;
pub mod replies;
mod sync;
mod waiting;
mod worker;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};

pub use front::FrontMemory;
pub use replies::MAX_THREADS;
use sync::{AtomicU64, sized};
pub use waiting::Flag;
pub use worker::{Lack, WorkerMemory};

/// What several processes have mapped, and any of them may write at any time.
pub trait SharedMemory: Send + Sync {
    /// All of it, [`WORDS`] long.
    fn words(&self) -> &[AtomicU64];

    /// Copies `bytes` to the words from `at` on, as far as there are any; what is left of the last word is not looked at.
    fn write(&self, at: usize, bytes: &[u8]) {
        copy::store(self.words(), at, bytes);
    }

    /// `length` bytes from the byte `at` on, for the kernel to send, or for what takes any bytes: they may change while they
    /// are looked at.
    fn bytes(&self, at: usize, length: usize) -> Option<&[u8]>;
}

/// Everybody's handle of it.
pub type Memory = Arc<dyn SharedMemory>;

/// Words that two processors can write without waiting for one another.
const LINE: usize = sized(8, 1);
/// In words.
const PAGE: usize = sized(4096 / 8, 1);

/// Set by a worker that waits for a packet: whoever fills a slot or frees a block sends one.
const WORKER_SLEEPS: usize = 0;
/// Set by the front when a packet lies in the socket: a worker with requests in its slots looks there all the same.
const CONTROL: usize = LINE;
/// A bit for each block that the worker may take.
const FREE: usize = 2 * LINE;
/// Not 0 while the worker waits for a free block.
const WANTED: usize = 3 * LINE;
const ORDERS: usize = 8 * LINE;
const BLOCKS: usize = (ORDERS + orders::WORDS).next_multiple_of(PAGE);
const RINGS: usize = BLOCKS + blocks::WORDS;
/// The size of a worker's memory; only what was written once takes any.
pub const WORDS: usize = RINGS + replies::WORDS;

/// Makes the memory of a worker. Nobody can change its size afterwards, so that no access fails.
pub fn create() -> io::Result<OwnedFd> {
    let memory = File::from(memfd_create("cameleer worker", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?);
    memory.set_len(8 * WORDS as u64)?;
    let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
    fcntl(&memory, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(memory.into())
}

/// Where the ring of a thread begins, in words.
pub fn ring_at(thread: usize) -> usize {
    RINGS + thread % replies::MAX_THREADS * replies::RING
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Memory of one process.
    pub struct Heap(Vec<AtomicU64>);

    impl SharedMemory for Heap {
        fn words(&self) -> &[AtomicU64] {
            &self.0
        }

        fn bytes(&self, at: usize, length: usize) -> Option<&[u8]> {
            let mut copied = Vec::new();
            copy::load(&self.0, at / 8, length, &mut copied);
            Some(copied.leak())
        }
    }

    /// Empty.
    pub fn memory() -> Memory {
        Arc::new(Heap((0..WORDS).map(|_| AtomicU64::new(0)).collect()))
    }
}
