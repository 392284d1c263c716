//! Rings for responses: one for each thread of the front, written by the worker and read by that thread.
//!
//! ```text
//!   tail ── written by the worker      head ── written by the front
//!   an entry: kind and length in one word, then the bytes
//! ```
//!
//! A packet too long for the ring lies in blocks, which its entry names.

use std::sync::Arc;

use super::blocks::Lender;
use super::sync::Ordering::{Acquire, Relaxed, Release};
use super::sync::{AtomicU64, sized};
use super::{Flag, LINE, Memory, copy, ring_at};
use crate::Malformed;
use crate::reply::MAX_PACKET;

/// Maximum number of threads of a front.
pub const MAX_THREADS: usize = sized(64, 1);
/// Longest packet in the ring itself, in bytes; a longer one lies in blocks.
pub const MAX_ENTRY: usize = ROOM * 8 / 2 - 8;
/// Maximum number of packets in a ring.
pub const MAX_ENTRIES: usize = ROOM;

/// Size of a ring's data in words; a power of two.
const ROOM: usize = sized(1024, 4);
const TAIL: usize = 0;
const HEAD: usize = LINE;
const FRONT_SLEEPS: usize = 2 * LINE;
const WORKER_WAITS: usize = 3 * LINE;
const DATA: usize = 4 * LINE;
pub(super) const RING: usize = DATA + ROOM;
pub(super) const WORDS: usize = MAX_THREADS * RING;

const PACKET: u64 = 1;
const IN_BLOCKS: u64 = 2;

/// A ring, whose counters are the words from `at`.
#[derive(Clone)]
struct Ring {
    memory: Memory,
    at: usize,
}

impl Ring {
    fn new(memory: &Memory, number: usize) -> Ring {
        Ring { memory: memory.clone(), at: ring_at(number) }
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        &self.memory.words()[self.at + offset]
    }

    fn flag(&self, offset: usize) -> Flag {
        Flag::new(&self.memory, self.at + offset)
    }

    fn data(&self) -> &[AtomicU64] {
        self.memory.words().get(self.at + DATA..self.at + RING).unwrap_or_default()
    }

    fn store(&self, at: u64, bytes: &[u8]) {
        let at = at as usize % ROOM;
        let (first, rest) = bytes.split_at(bytes.len().min((ROOM - at) * 8));
        copy::store(self.data(), at, first);
        copy::store(self.data(), 0, rest);
    }

    fn load(&self, at: u64, length: usize, into: &mut Vec<u8>) {
        let at = at as usize % ROOM;
        let first = length.min((ROOM - at) * 8);
        copy::load(self.data(), at, first, into);
        copy::load(self.data(), 0, length - first, into);
    }
}

/// The worker's side of a ring.
pub struct RingWriter {
    ring: Ring,
    /// Raised while the front's thread sleeps: the worker must wake it after writing.
    pub front_sleeps: Flag,
    /// Raised while the worker waits for room.
    pub waits: Flag,
}

impl RingWriter {
    /// The writer of the ring of thread `number`.
    pub fn new(memory: &Memory, number: usize) -> RingWriter {
        let ring = Ring::new(memory, number);
        RingWriter { front_sleeps: ring.flag(FRONT_SLEEPS), waits: ring.flag(WORKER_WAITS), ring }
    }

    /// Empties the ring, for another front.
    pub fn reset(&self) {
        self.ring.word(HEAD).store(0, Relaxed);
        self.waits.lower();
        self.ring.word(TAIL).store(0, Release);
        self.front_sleeps.raise();
    }

    /// Writes a packet of at most [`MAX_ENTRY`] bytes. Returns false when there is no room now.
    pub fn write(&self, packet: &[u8]) -> bool {
        self.put(PACKET, packet)
    }

    /// Writes an entry that names blocks: for each run its first block, and its length in bytes.
    pub fn write_blocks(&self, blocks: &[(usize, usize)]) -> bool {
        let named: Vec<u8> = blocks
            .iter()
            .flat_map(|(block, length)| [*block as u32, *length as u32])
            .flat_map(u32::to_le_bytes)
            .collect();
        self.put(IN_BLOCKS, &named)
    }

    /// Whether a packet of `length` bytes has room.
    pub fn has_room(&self, length: usize) -> bool {
        let used = self.ring.word(TAIL).load(Relaxed).wrapping_sub(self.ring.word(HEAD).load(Acquire));
        // Each entry also uses one word of its own.
        (length.div_ceil(8) as u64) < (ROOM as u64).saturating_sub(used)
    }

    fn put(&self, kind: u64, bytes: &[u8]) -> bool {
        if !self.has_room(bytes.len()) {
            return false;
        }
        let tail = self.ring.word(TAIL).load(Relaxed);
        self.ring.store(tail.wrapping_add(1), bytes);
        self.ring.data()[tail as usize % ROOM].store(kind << 32 | bytes.len() as u64, Relaxed);
        self.ring.word(TAIL).store(tail.wrapping_add(1 + bytes.len().div_ceil(8) as u64), Release);
        true
    }
}

/// The front's side of a ring. The read position is private: no write of the worker can move it out of the ring.
pub struct RingReader {
    ring: Ring,
    lender: Arc<Lender>,
    head: u64,
    /// Raised while the thread sleeps.
    pub sleeps: Flag,
    worker_waits: Flag,
    named: Vec<u8>,
}

impl RingReader {
    /// The reader of the ring of thread `number`. The ring must be empty, or be emptied before the first read.
    pub fn new(memory: &Memory, number: usize, lender: &Arc<Lender>) -> RingReader {
        let ring = Ring::new(memory, number);
        let reader = RingReader {
            lender: lender.clone(),
            head: 0,
            sleeps: ring.flag(FRONT_SLEEPS),
            worker_waits: ring.flag(WORKER_WAITS),
            named: Vec::new(),
            ring,
        };
        reader.sleeps.raise();
        reader
    }

    /// Whether the ring has no reply now. The worker may write one at any moment.
    pub fn is_empty(&self) -> bool {
        self.ring.word(TAIL).load(Acquire) == self.head
    }

    /// Moves the next packet into `packet`. Returns false when the ring is empty. The caller must then ask
    /// [`RingReader::makes_room`] whether the worker waits for room.
    pub fn read(&mut self, packet: &mut Vec<u8>) -> Result<bool, Malformed> {
        let there = self.ring.word(TAIL).load(Acquire).wrapping_sub(self.head);
        if there == 0 {
            return Ok(false);
        }
        let entry = self.ring.data()[self.head as usize % ROOM].load(Relaxed);
        let (kind, length) = (entry >> 32, (entry & u64::from(u32::MAX)) as usize);
        let words = 1 + length.div_ceil(8) as u64;
        if there > ROOM as u64 || words > there {
            return Err(Malformed("a response longer than its ring"));
        }
        packet.clear();
        let begin = self.head.wrapping_add(1);
        match kind {
            PACKET => self.ring.load(begin, length, packet),
            IN_BLOCKS => self.gather(begin, length, packet)?,
            _ => return Err(Malformed("unknown kind of entry")),
        }
        self.head = self.head.wrapping_add(words);
        self.ring.word(HEAD).store(self.head, Release);
        Ok(true)
    }

    /// Whether the caller must wake the worker, which waited for room.
    pub fn makes_room(&self) -> bool {
        self.worker_waits.take()
    }

    fn gather(&mut self, at: u64, length: usize, packet: &mut Vec<u8>) -> Result<(), Malformed> {
        self.named.clear();
        self.ring.load(at, length, &mut self.named);
        for named in self.named.as_chunks::<8>().0 {
            let [a, b, c, d, e, f, g, h] = *named;
            let block = self.lender.take(u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))?;
            block.copy_to(packet);
            if packet.len() > MAX_PACKET {
                return Err(Malformed("packet larger than allowed"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{scope, yield_now};

    use super::*;
    use crate::memory::blocks;
    use crate::memory::tests::memory;

    fn ends(memory: &Memory) -> (RingWriter, RingReader, Arc<Lender>) {
        let lender = Lender::new(memory, 8, || {});
        (RingWriter::new(memory, 2), RingReader::new(memory, 2, &lender), lender)
    }

    #[test]
    fn packets_of_all_lengths_are_received_unchanged() {
        let memory = memory();
        let (worker, mut front, _) = ends(&memory);
        let text: Vec<u8> = (0..MAX_ENTRY).map(|at| (at % 251) as u8).collect();
        let mut packet = Vec::new();
        for round in 0..3000 {
            let lengths = [round % 97, (round * 31) % MAX_ENTRY, 0];
            assert!(lengths.iter().all(|length| worker.write(&text[..*length])));
            for length in lengths {
                assert!(front.read(&mut packet).expect("well formed"));
                assert_eq!(packet, text[..length]);
            }
            assert!(front.is_empty() && !front.read(&mut packet).expect("nothing"));
        }
    }

    #[test]
    fn a_full_ring_takes_nothing_until_something_is_read() {
        let memory = memory();
        let (worker, mut front, _) = ends(&memory);
        assert!(worker.write(&[1; MAX_ENTRY]) && worker.write(&[2; MAX_ENTRY]));
        assert!(!worker.write(b"one more"));
        worker.waits.raise();
        let mut packet = Vec::new();
        assert!(front.read(&mut packet).expect("well formed") && front.makes_room() && !front.makes_room());
        assert!(worker.write(b"one more"));
        (0..2).for_each(|_| assert!(front.read(&mut packet).expect("well formed")));
        assert_eq!(packet, b"one more");
    }

    #[test]
    fn a_packet_that_is_too_long_lies_in_blocks() {
        let memory = memory();
        let (worker, mut front, lender) = ends(&memory);
        let blocks = blocks::BlockWriter::new(&memory, 8);
        let text: Vec<u8> = (0..40_000).map(|at| (at % 251) as u8).collect();
        let named: Vec<_> = text.chunks(blocks::SIZE).map(|piece| blocks.write(piece).expect("free")).collect();
        assert!(worker.write_blocks(&named));
        let mut packet = Vec::new();
        assert!(front.read(&mut packet).expect("well formed"));
        assert_eq!(packet, text);
        assert!(lender.take(0, 1).is_ok(), "it was given back");
    }

    #[test]
    fn no_write_of_a_worker_reaches_beyond_its_ring() {
        let spoilt = [0, 1 << 32 | 9000, 2 << 32 | 8, 3 << 32, u64::MAX, 1 << 32 | u64::from(u32::MAX)];
        for entry in spoilt {
            for tail in [1, 2, ROOM as u64, ROOM as u64 + 1, u64::MAX] {
                let memory = memory();
                let (worker, mut front, lender) = ends(&memory);
                let held = lender.take(0, 1).expect("it is free");
                worker.ring.data()[0].store(entry, Relaxed);
                worker.ring.word(TAIL).store(tail, Release);
                let mut packet = Vec::new();
                let read = front.read(&mut packet);
                assert!(read.is_err(), "{entry:x} {tail}: {read:?}");
                drop(held);
            }
        }
    }

    #[test]
    fn a_sleeper_is_always_woken() {
        let memory = memory();
        let (worker, mut front, _) = ends(&memory);
        const PACKETS: u32 = 50_000;
        let (ring, rings) = std::sync::mpsc::channel();
        scope(|scope| {
            scope.spawn(move || {
                for number in 0..PACKETS {
                    while !worker.write(&number.to_le_bytes()) {
                        yield_now();
                    }
                    if worker.front_sleeps.take() {
                        ring.send(()).expect("somebody listens");
                    }
                }
            });
            let (mut next, mut packet) = (0u32, Vec::new());
            while next < PACKETS {
                if front.read(&mut packet).expect("well formed") {
                    assert_eq!(packet, next.to_le_bytes());
                    next += 1;
                    continue;
                }
                front.sleeps.raise();
                if front.is_empty() {
                    rings.recv().expect("woken");
                }
            }
        });
    }
}
