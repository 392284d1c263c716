//! Blocks for large pieces of responses. The worker takes a free block, fills it and sends its number in a
//! packet. The front sends the bytes to the client directly from the block, then frees it. A worker that
//! overwrites a lent block damages only its own response.

use std::sync::Arc;

use super::sync::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use super::sync::{AtomicU64, fence, sized};
use super::{BLOCKS, FREE, Memory, WANTED};
use crate::Malformed;

/// Bytes of a block.
pub const SIZE: usize = sized(16 * 1024, 8);
/// Maximum number of blocks of a worker.
pub const MAX_BLOCKS: usize = sized(64, 2);
/// Maximum number of adjacent blocks lent as one piece: the front sends the first pieces while the worker fills further
/// ones.
pub const MAX_RUN_BLOCKS: usize = sized(16, 2);
pub(super) const WORDS: usize = MAX_BLOCKS * SIZE / 8;

fn at(block: usize) -> usize {
    BLOCKS + block * (SIZE / 8)
}

/// The worker's side of the blocks.
pub struct BlockWriter {
    memory: Memory,
    count: usize,
}

impl BlockWriter {
    /// A writer with `count` blocks, at most [`MAX_BLOCKS`]; all are free.
    pub fn new(memory: &Memory, count: usize) -> BlockWriter {
        let writer = BlockWriter { memory: memory.clone(), count: count.clamp(1, MAX_BLOCKS) };
        writer.reset();
        writer
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        &self.memory.words()[at]
    }

    /// Frees all blocks, for a new front.
    pub fn reset(&self) {
        self.word(FREE).store(u64::MAX >> (u64::BITS as usize - self.count), Relaxed);
        self.word(WANTED).store(0, Relaxed);
    }

    /// Writes as much of `bytes` as fits into adjacent free blocks. Returns the first block's number and the
    /// bytes written.
    pub fn write(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        let free = self.word(FREE);
        let wanted = bytes.len().div_ceil(SIZE).clamp(1, MAX_RUN_BLOCKS);
        let (first, blocks) = lowest_run(free.load(Acquire), wanted)?;
        let length = bytes.len().min(blocks * SIZE);
        free.fetch_and(!run(first, blocks), AcqRel);
        self.memory.write(at(first), bytes.get(..length)?);
        Some((first, length))
    }

    /// Requests a packet from the front when a block becomes free: slow clients may hold all blocks for long.
    /// Returns false when a block is free already; then no packet may come.
    pub fn wants_more(&self) -> bool {
        self.word(WANTED).store(1, Relaxed);
        fence(SeqCst);
        self.word(FREE).load(Acquire) == 0
    }
}

/// Finds the lowest run of free blocks that is `wanted` long, or the longest one. Returns its first block and
/// its length. The lowest blocks are preferred, so that small responses touch few pages.
fn lowest_run(free: u64, wanted: usize) -> Option<(usize, usize)> {
    // Invariant: a bit is set where `blocks` adjacent free blocks begin.
    let mut begins = free;
    let mut blocks = 1;
    while blocks < wanted && begins & free >> blocks != 0 {
        begins &= free >> blocks;
        blocks += 1;
    }
    (begins != 0).then(|| (begins.trailing_zeros() as usize, blocks))
}

/// The bits of `blocks` adjacent blocks from `first` on.
fn run(first: usize, blocks: usize) -> u64 {
    u64::MAX >> (u64::BITS as usize - blocks) << first
}

/// The front's side of the blocks.
pub struct Lender {
    memory: Memory,
    /// Number of blocks of the worker.
    count: usize,
    /// Bitmap of the blocks that the front holds.
    lent: AtomicU64,
    /// Function that wakes the worker.
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Lender {
    /// `wake` is called when a worker that waits for blocks has got one; `count` is the number of its blocks.
    pub fn new(memory: &Memory, count: usize, wake: impl Fn() + Send + Sync + 'static) -> Arc<Lender> {
        Arc::new(Lender { memory: memory.clone(), count, lent: AtomicU64::new(0), wake: Box::new(wake) })
    }

    /// Takes a block that the worker reports as written.
    pub fn take(self: &Arc<Self>, block: u32, length: u32) -> Result<Block, Malformed> {
        let (first, length) = (block as usize, length as usize);
        let blocks = length.div_ceil(SIZE).max(1);
        if blocks > MAX_RUN_BLOCKS || first > MAX_BLOCKS - blocks {
            return Err(Malformed("no such block"));
        }
        let taken = run(first, blocks);
        if self.lent.fetch_or(taken, AcqRel) & taken != 0 {
            return Err(Malformed("a block that is in use by the front"));
        }
        Ok(Block { lender: self.clone(), first, taken, length })
    }

    /// Whether the worker has few free blocks left. The front should then copy bytes out that a client does not read
    /// immediately.
    pub fn is_short(&self) -> bool {
        self.lent.load(Relaxed).count_ones() as usize > self.count * 7 / 8
    }

    fn give_back(&self, taken: u64) {
        let (Some(free), Some(wanted)) = (self.memory.words().get(FREE), self.memory.words().get(WANTED)) else {
            return;
        };
        self.lent.fetch_and(!taken, AcqRel);
        free.fetch_or(taken, AcqRel);
        fence(SeqCst);
        if wanted.load(Relaxed) > 0 && wanted.swap(0, AcqRel) > 0 {
            (self.wake)();
        }
    }
}

/// A run of lent blocks; dropping it frees them.
pub struct Block {
    lender: Arc<Lender>,
    first: usize,
    /// Bitmap of the blocks in this run.
    taken: u64,
    length: usize,
}

impl Block {
    /// Appends a copy of the bytes.
    pub fn copy_to(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(self.as_ref());
    }
}

impl AsRef<[u8]> for Block {
    fn as_ref(&self) -> &[u8] {
        self.lender.memory.bytes(at(self.first) * 8, self.length).unwrap_or_default()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.lender.give_back(self.taken);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::memory::tests::memory;

    fn lender(memory: &Memory) -> (Arc<Lender>, Arc<AtomicUsize>) {
        let woken = Arc::new(AtomicUsize::new(0));
        let counted = woken.clone();
        let wake = move || {
            counted.fetch_add(1, SeqCst);
        };
        (Lender::new(memory, MAX_BLOCKS, wake), woken)
    }

    #[test]
    fn returned_blocks_are_filled_again_from_the_lowest_one() {
        let memory = memory();
        let (worker, (front, _)) = (BlockWriter::new(&memory, 4), lender(&memory));
        let written: Vec<_> = (0..5).map(|_| worker.write(b"text")).collect();
        assert_eq!(written, [Some((0, 4)), Some((1, 4)), Some((2, 4)), Some((3, 4)), None]);
        let lent = front.take(1, 4).expect("written");
        let mut copied = Vec::new();
        lent.copy_to(&mut copied);
        assert_eq!((lent.as_ref(), &copied[..]), (&b"text"[..], &b"text"[..]));
        drop(lent);
        assert_eq!(worker.write(&[1; SIZE]), Some((1, SIZE)));
        assert_eq!(front.take(1, SIZE as u32).expect("written").as_ref(), [1; SIZE]);
    }

    #[test]
    fn a_long_piece_lies_in_several_adjacent_blocks() {
        let memory = memory();
        let (worker, (front, _)) = (BlockWriter::new(&memory, MAX_BLOCKS), lender(&memory));
        let long: Vec<u8> = (0..3 * SIZE - 5).map(|n| n as u8).collect();
        assert_eq!(worker.write(&long), Some((0, long.len())));
        let first = front.take(0, long.len() as u32).expect("written");
        assert_eq!(first.as_ref(), long);
        assert!(front.take(2, 1).is_err(), "it is lent with the first one");
        assert_eq!(worker.write(b"x"), Some((3, 1)));
        drop(first);
        assert_eq!(worker.write(&[0; 4 * SIZE]), Some((4, 4 * SIZE)), "the lowest four are not side by side");
        assert_eq!(worker.write(&vec![0; 20 * SIZE]), Some((8, MAX_RUN_BLOCKS * SIZE)));
        let few = BlockWriter::new(&memory, 2);
        assert_eq!(few.write(&[0; 4 * SIZE]), Some((0, 2 * SIZE)), "there are no more");
    }

    #[test]
    fn a_worker_that_waits_is_woken_once_by_the_first_block_that_is_free() {
        let memory = memory();
        let (worker, (front, woken)) = (BlockWriter::new(&memory, 8), lender(&memory));
        assert!(!worker.wants_more(), "all are free");
        worker.reset();
        let lent: Vec<Block> = (0..8)
            .map(|block| {
                worker.write(b"x").expect("free");
                front.take(block, 1).expect("written")
            })
            .collect();
        assert!(worker.wants_more());
        let mut woken_at = Vec::new();
        for block in lent {
            drop(block);
            woken_at.push(woken.load(SeqCst));
        }
        assert_eq!(woken_at, [1; 8]);
        assert_eq!(worker.write(b"x"), Some((0, 1)));
    }

    #[test]
    fn block_numbers_from_a_worker_are_checked() {
        let memory = memory();
        let (_worker, (front, _)) = (BlockWriter::new(&memory, MAX_BLOCKS), lender(&memory));
        let too_long = (MAX_RUN_BLOCKS * SIZE) as u32 + 1;
        assert!(front.take(MAX_BLOCKS as u32, 1).is_err() && front.take(0, too_long).is_err());
        assert!(front.take(MAX_BLOCKS as u32 - 1, SIZE as u32 + 1).is_err() && front.take(u32::MAX, u32::MAX).is_err());
        let lent = front.take(3, 0).expect("it may be empty");
        assert!(front.take(3, 1).is_err(), "it is lent");
        drop(lent);
        let mut many: Vec<_> =
            (0..=MAX_BLOCKS as u32 * 7 / 8).map(|block| front.take(block, 1).expect("written")).collect();
        assert!(front.is_short());
        many.pop();
        assert!(!front.is_short());
    }
}
