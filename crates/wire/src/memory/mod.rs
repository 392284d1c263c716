//! The memory that the front and one worker share. Requests and small responses cost no system call unless the receiver
//! sleeps; large responses are written once, and sent from where they lie.
//!
//! ```text
//!   front                                                worker
//!   orders::Sender ── frame ──▶ slot ── claim ─────────▶ orders::Receiver      a slot belongs to the side that swaps its state
//!   replies::Reader ◀── packets ── ring of the thread ── replies::Writer       a ring for each thread of the front
//!   blocks::Lender ◀── number of a block, in a packet ── blocks::Writer        the front holds a block until it returns it
//! ```
//!
//! Each side writes words that the other may change at any moment, so all are atomic. The worker trusts the front. The
//! front trusts nothing: it copies a number once, and checks the copy before use.

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

/// Memory mapped by several processes; any of them may write to it at any time.
pub trait SharedMemory: Send + Sync {
    /// The whole memory, [`WORDS`] words long.
    fn words(&self) -> &[AtomicU64];

    /// Copies `bytes` to the words from index `at` on; bytes beyond the last word are dropped. The rest of the last
    /// word is undefined.
    fn write(&self, at: usize, bytes: &[u8]) {
        copy::store(self.words(), at, bytes);
    }

    /// Borrows `length` bytes from the byte offset `at` on. They may change while borrowed: use them only for
    /// system calls, or where any bytes are safe.
    fn bytes(&self, at: usize, length: usize) -> Option<&[u8]>;
}

/// A shared handle of the memory.
pub type Memory = Arc<dyn SharedMemory>;

/// Words in a cache line: two processors write different lines without contention.
const LINE: usize = sized(8, 1);
/// Words in a page.
const PAGE: usize = sized(4096 / 8, 1);

/// Set by a worker that waits for a packet: the process that fills a slot or frees a block sends one.
const WORKER_SLEEPS: usize = 0;
/// Set by the front when a packet lies in the socket: a worker with requests in its slots must read the socket,
/// too.
const CONTROL: usize = LINE;
/// Bitmap of the blocks that the worker may take.
const FREE: usize = 2 * LINE;
/// Nonzero while the worker waits for a free block.
const WANTED: usize = 3 * LINE;
/// Number of times that the worker's event loop has read its orders.
const TURNS: usize = 4 * LINE;
const ORDERS: usize = 8 * LINE;
const BLOCKS: usize = (ORDERS + orders::WORDS).next_multiple_of(PAGE);
const RINGS: usize = BLOCKS + blocks::WORDS;
/// Size of a worker's memory, in words; pages that were never written take no memory.
pub const WORDS: usize = RINGS + replies::WORDS;

/// Creates the memory of a worker. Its size is sealed, so that no access can fault.
pub fn create() -> io::Result<OwnedFd> {
    let memory = File::from(memfd_create("cameleer worker", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?);
    memory.set_len(8 * WORDS as u64)?;
    let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
    fcntl(&memory, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(memory.into())
}

/// Index of the first word of a thread's ring.
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

    /// Creates memory whose slots, rings and blocks are free.
    pub fn memory() -> Memory {
        Arc::new(Heap((0..WORDS).map(|_| AtomicU64::new(0)).collect()))
    }
}
