//! The front's view of one worker's shared memory.

use std::sync::{Arc, Mutex, PoisonError};

use super::blocks::Lender;
use super::orders::Sender;
use super::replies::RingReader;
use super::sync::Ordering::Relaxed;
use super::{CONTROL, Flag, Memory, TURNS, WORKER_SLEEPS};

/// The front's view of one worker's shared memory.
pub struct FrontMemory {
    memory: Memory,
    orders: Mutex<Sender>,
    worker_sleeps: Flag,
    control: Flag,
    lender: Arc<Lender>,
}

impl FrontMemory {
    /// Takes over the memory of a worker with that many `blocks`; `wake` wakes the worker. Requests left there
    /// by an earlier front are removed.
    pub fn new(memory: Memory, blocks: usize, wake: impl Fn() + Send + Sync + 'static) -> FrontMemory {
        let orders = Sender::new(&memory);
        orders.clear();
        FrontMemory {
            orders: orders.into(),
            worker_sleeps: Flag::new(&memory, WORKER_SLEEPS),
            control: Flag::new(&memory, CONTROL),
            lender: Lender::new(&memory, blocks, wake),
            memory,
        }
    }

    /// Writes a request into a slot. Returns false when it does not fit: send it over the socket.
    pub fn send(&self, id: u64, frame: &[u8], reply_to: u8) -> bool {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).send(id, frame, reply_to)
    }

    /// Takes back the requests that the worker has not begun, oldest first.
    pub fn take_back(&self) -> Vec<u64> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).take_back()
    }

    /// Whether the worker sleeps and the caller must wake it; clears the flag.
    pub fn must_wake(&self) -> bool {
        self.worker_sleeps.take()
    }

    /// Whether the worker waits for a packet or a bell.
    pub fn is_worker_asleep(&self) -> bool {
        self.worker_sleeps.is_raised()
    }

    /// Number of turns that the worker's event loop has begun. The worker may write anything.
    pub fn turns(&self) -> u64 {
        self.memory.words().get(TURNS).map_or(0, |turns| turns.load(Relaxed))
    }

    /// Announces a packet in the socket, so that a worker with requests in its slots reads the socket, too.
    pub fn announce_packet(&self) {
        self.control.raise();
    }

    /// Makes the reader of a front thread's ring.
    pub fn reader(&self, thread: usize) -> RingReader {
        RingReader::new(&self.memory, thread, &self.lender)
    }

    /// The worker's blocks.
    pub fn lender(&self) -> &Arc<Lender> {
        &self.lender
    }
}
