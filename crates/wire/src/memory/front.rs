//! The memory of one worker as the front has it.

use std::sync::{Arc, Mutex, PoisonError};

use super::blocks::Lender;
use super::orders::Sender;
use super::replies::Reader;
use super::{CONTROL, Flag, Memory, WORKER_SLEEPS};

/// See the module.
pub struct FrontMemory {
    memory: Memory,
    orders: Mutex<Sender>,
    worker_sleeps: Flag,
    control: Flag,
    lender: Arc<Lender>,
}

impl FrontMemory {
    /// Of a worker with so many blocks, which `wake` wakes. What another front has left there is taken away.
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

    /// Leaves a request for the worker; false: it must travel over the socket.
    pub fn send(&self, id: u64, frame: &[u8], reply_to: u8) -> bool {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).send(id, frame, reply_to)
    }

    /// The requests that the worker has not begun, oldest first. They are no longer its.
    pub fn take_back(&self) -> Vec<u64> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).take_back()
    }

    /// Whether the worker sleeps, and must be woken for what was left; it is taken for awake from here on.
    pub fn must_wake(&self) -> bool {
        self.worker_sleeps.take()
    }

    /// Whether the worker waits for a packet or a bell.
    pub fn is_worker_asleep(&self) -> bool {
        self.worker_sleeps.is_raised()
    }

    /// A packet lies in the socket: a worker that has requests here looks there, too.
    pub fn announce_packet(&self) {
        self.control.raise();
    }

    /// The ring of a thread, and its blocks.
    pub fn reader(&self, thread: usize) -> Reader {
        Reader::new(&self.memory, thread, &self.lender)
    }

    /// Its blocks.
    pub fn lender(&self) -> &Arc<Lender> {
        &self.lender
    }
}
