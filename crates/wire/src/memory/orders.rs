//! Slots for requests to a worker. Compare-and-swap on a slot's state decides between the worker, which claims
//! a request, and the front, which takes it back.
//!
//! ```text
//!   Free ──front writes──▶ Full ──worker claims──▶ Taken ──copied out──▶ Free
//!    ▲                      │
//!    └──front takes back────┘
//! ```
//!
//! Of a dead worker's slots, `Taken` and freed ones were begun; `Full` ones were never seen.

use std::collections::VecDeque;

use super::sync::Ordering::{AcqRel, Acquire, Relaxed, Release};
use super::sync::{AtomicU64, sized};
use super::{LINE, Memory, ORDERS, copy};

/// Maximum number of requests sent to a worker and not claimed yet, including requests prefetched to a busy worker.
pub const SLOTS: usize = sized(8, 2);
/// Longest frame that fits a slot, in bytes; longer ones travel over the socket.
pub const MAX_FRAME: usize = sized(4096, 8);
const SLOT: usize = 2 * LINE + MAX_FRAME / 8;
pub(super) const WORDS: usize = SLOTS * SLOT;

const FREE: u64 = 0;
const FULL: u64 = 1;
const TAKEN: u64 = 2;

/// One slot, by its words: state, length and reply ring, then the frame.
struct Slot<'a> {
    words: &'a [AtomicU64],
    at: usize,
}

impl<'a> Slot<'a> {
    fn new(memory: &'a Memory, number: usize) -> Slot<'a> {
        Slot { words: memory.words(), at: ORDERS + number % SLOTS * SLOT }
    }

    fn state(&self) -> &'a AtomicU64 {
        &self.words[self.at]
    }

    fn about(&self) -> &'a AtomicU64 {
        &self.words[self.at + LINE]
    }

    fn frame_at(&self) -> usize {
        self.at + 2 * LINE
    }

    fn swap(&self, from: u64, to: u64) -> bool {
        self.state().compare_exchange(from, to, AcqRel, Relaxed).is_ok()
    }
}

/// The front's side of the request slots.
pub struct Sender {
    memory: Memory,
    next: usize,
    /// Ids of the latest requests, newest last, including those that the worker has claimed.
    sent: VecDeque<u64>,
}

impl Sender {
    /// A sender for memory whose slots are free, or are about to be freed by the worker ([`Receiver::reset`]).
    pub fn new(memory: &Memory) -> Sender {
        Sender { memory: memory.clone(), next: 0, sent: VecDeque::new() }
    }

    /// Writes a frame into the next slot; the caller wakes the worker if it sleeps. Returns false when there is
    /// no room.
    pub fn send(&mut self, id: u64, frame: &[u8], reply_to: u8) -> bool {
        let slot = Slot::new(&self.memory, self.next);
        if frame.len() > MAX_FRAME || slot.state().load(Acquire) != FREE {
            return false;
        }
        copy::store(slot.words, slot.frame_at(), frame);
        slot.about().store(frame.len() as u64 | u64::from(reply_to) << 32, Relaxed);
        slot.state().store(FULL, Release);
        self.next += 1;
        if self.sent.len() == SLOTS {
            self.sent.pop_front();
        }
        self.sent.push_back(id);
        true
    }

    /// Takes back the requests that the worker has not claimed, oldest first.
    pub fn take_back(&mut self) -> Vec<u64> {
        let mut back = VecDeque::new();
        while let Some(id) = self.sent.pop_back() {
            if !Slot::new(&self.memory, self.next - 1).swap(FULL, FREE) {
                // The worker has begun this request, and so all older ones.
                self.sent.clear();
                break;
            }
            self.next -= 1;
            back.push_front(id);
        }
        back.into()
    }

    /// Frees the slots that another front has filled.
    pub fn clear(&self) {
        (0..SLOTS).for_each(|number| {
            Slot::new(&self.memory, number).swap(FULL, FREE);
        });
    }
}

/// The worker's side of the request slots.
pub struct Receiver {
    memory: Memory,
    next: usize,
}

impl Receiver {
    /// A receiver that begins with the first slot.
    pub fn new(memory: &Memory) -> Receiver {
        Receiver { memory: memory.clone(), next: 0 }
    }

    /// Frees all slots, for another front.
    pub fn reset(&mut self) {
        self.next = 0;
        (0..SLOTS).for_each(|number| Slot::new(&self.memory, number).state().store(FREE, Release));
    }

    /// Whether a request waits.
    pub fn has_next(&self) -> bool {
        Slot::new(&self.memory, self.next).state().load(Acquire) == FULL
    }

    /// Claims the next request: copies its frame into `buffer` and returns the number of the ring for the
    /// answer.
    pub fn claim(&mut self, buffer: &mut Vec<u8>) -> Option<u8> {
        let slot = Slot::new(&self.memory, self.next);
        if slot.state().load(Relaxed) != FULL || !slot.swap(FULL, TAKEN) {
            return None;
        }
        let about = slot.about().load(Relaxed);
        let length = (about & u64::from(u32::MAX)) as usize;
        buffer.clear();
        copy::load(slot.words, slot.frame_at(), length.min(MAX_FRAME), buffer);
        slot.state().store(FREE, Release);
        self.next += 1;
        Some((about >> 32) as u8)
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{scope, yield_now};

    use super::*;
    use crate::memory::tests::memory;

    #[test]
    fn requests_arrive_in_order_and_what_has_no_room_is_refused() {
        let memory = memory();
        let (mut front, mut worker) = (Sender::new(&memory), Receiver::new(&memory));
        let mut frame = Vec::new();
        assert!(!worker.has_next() && worker.claim(&mut frame).is_none());
        for id in 0..SLOTS as u64 {
            assert!(front.send(id, format!("frame {id}").as_bytes(), id as u8));
        }
        assert!(!front.send(9, b"too many", 0));
        assert!(!Sender::new(&self::memory()).send(9, &[0; MAX_FRAME + 1], 0));
        for id in 0..SLOTS as u8 {
            assert_eq!(worker.claim(&mut frame), Some(id));
            assert_eq!(frame, format!("frame {id}").as_bytes());
        }
        assert!(front.send(9, &[7; MAX_FRAME], 3));
        assert_eq!(worker.claim(&mut frame), Some(3));
        assert_eq!(frame, [7; MAX_FRAME]);
    }

    #[test]
    fn requests_not_begun_are_taken_back_and_their_slots_reused() {
        let memory = memory();
        let (mut front, mut worker) = (Sender::new(&memory), Receiver::new(&memory));
        let mut frame = Vec::new();
        (1..=3).for_each(|id| assert!(front.send(id, b"frame", 0)));
        assert_eq!(worker.claim(&mut frame), Some(0));
        assert_eq!(front.take_back(), [2, 3]);
        assert!(front.take_back().is_empty() && !worker.has_next());
        assert!(front.send(4, b"another", 1));
        assert_eq!((worker.claim(&mut frame), &frame[..]), (Some(1), &b"another"[..]));
    }

    #[test]
    fn either_the_front_or_the_worker_gets_each_request() {
        const REQUESTS: u64 = 20_000;
        let memory = memory();
        let (mut front, mut worker) = (Sender::new(&memory), Receiver::new(&memory));
        let (back, claimed) = scope(|scope| {
            let claims = scope.spawn(move || {
                let (mut claimed, mut frame) = (Vec::new(), Vec::new());
                while claimed.last() != Some(&u64::MAX) {
                    match worker.claim(&mut frame) {
                        Some(_) => claimed.push(u64::from_ne_bytes(frame[..8].try_into().expect("an id"))),
                        None => yield_now(),
                    }
                }
                claimed
            });
            let mut back = Vec::new();
            let mut send = |id: u64, back: &mut Vec<u64>, wanted: bool| {
                while !front.send(id, &id.to_ne_bytes(), 0) {
                    yield_now();
                }
                if wanted {
                    back.extend(front.take_back());
                }
            };
            (0..REQUESTS).for_each(|id| send(id, &mut back, id % 3 == 0));
            send(u64::MAX, &mut back, false);
            (back, claims.join().expect("no panic"))
        });
        let mut all: Vec<u64> = back.iter().chain(&claimed).copied().filter(|id| *id < REQUESTS).collect();
        assert!(claimed.is_sorted() && !claimed.is_empty());
        all.sort_unstable();
        assert!(all.into_iter().eq(0..REQUESTS));
    }

    #[test]
    fn a_new_front_starts_with_empty_slots() {
        let memory = memory();
        let (mut dead, mut worker) = (Sender::new(&memory), Receiver::new(&memory));
        let mut frame = Vec::new();
        (1..=2).for_each(|id| assert!(dead.send(id, b"of the dead", 0)));
        assert!(worker.claim(&mut frame).is_some());
        let mut next = Sender::new(&memory);
        next.clear();
        assert!(!worker.has_next());
        worker.reset();
        assert!(next.send(1, b"of the next", 0) && worker.claim(&mut frame).is_some());
        assert_eq!(frame, b"of the next");
    }
}
