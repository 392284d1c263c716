//! Requests that are sent to a busy worker ahead of time.
//!
//! To put a process to sleep and wake it takes longer than a small request does. While requests are that quick, a busy
//! worker is sent the next ones, so that it goes on without sleeping. They stay everybody's: a worker that becomes idle,
//! turns out slow, leaves or dies gives them back to the queue, and of the front and the worker exactly one gets each.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use wire::control::WorkerState;
use wire::transport::MAX_INLINE;

use super::exchange::{Shared, Stage};
use super::pool::Pool;
use super::worker::Worker;

/// Up to this typical time, in microseconds, a worker is sent requests ahead.
const QUICK: u64 = 500;
/// A worker that is at one request for longer gives back what it was sent ahead.
const SLOW: Duration = Duration::from_millis(2);

/// What a pool knows of requests that were sent ahead.
pub struct Ahead {
    /// How many there are.
    pub count: Cell<u32>,
    /// A moving average of what a request takes a worker, in microseconds.
    typical: Cell<u64>,
    /// For what is taken back.
    buffer: RefCell<Box<[u8]>>,
}

impl Default for Ahead {
    fn default() -> Ahead {
        Ahead {
            count: Cell::new(0),
            // Nothing is known yet: no request is taken for quick.
            typical: Cell::new(u64::MAX / 16),
            buffer: RefCell::new(vec![0; MAX_INLINE + 1].into()),
        }
    }
}

impl Pool {
    pub(super) fn remember(&self, took: Duration) {
        let typical = self.ahead.typical.get();
        self.ahead.typical.set((typical * 7 + took.as_micros() as u64) / 8);
    }

    /// `worker` begins with a request that it was sent ahead, and is sent another.
    pub(super) fn go_on(&self, worker: &Rc<Worker>) -> bool {
        let Some(next) = worker.ahead.borrow_mut().pop_front() else { return false };
        self.ahead.count.set(self.ahead.count.get() - 1);
        self.queued.set(self.queued.get() - u32::from(next.borrow().stage == Stage::Queued));
        self.occupy(worker.clone(), &next);
        self.feed(worker);
        true
    }

    /// Sends requests ahead while that pays.
    pub(super) fn feed(&self, worker: &Rc<Worker>) {
        while self.ahead.typical.get() < QUICK && worker.can_take_ahead() {
            let Some(exchange) = self.queue.borrow_mut().pop() else { return };
            let sent = {
                let job = exchange.borrow();
                job.body.is_none() && job.frame.len() <= MAX_INLINE && worker.send(&job.frame, None).is_ok()
            };
            if !sent {
                self.wait_again(&exchange);
                return;
            }
            worker.ahead.borrow_mut().push_back(exchange);
            self.ahead.count.set(self.ahead.count.get() + 1);
        }
    }

    /// What `worker` was sent ahead and has not begun waits in the queue again. Even the request that it seems to work on
    /// may not have been begun.
    pub(super) fn take_back(&self, worker: &Rc<Worker>) {
        if !worker.ahead.borrow().is_empty() {
            self.recover(worker);
        }
    }

    pub(super) fn recover(&self, worker: &Rc<Worker>) {
        let back = worker.take_back(&mut self.ahead.buffer.borrow_mut());
        for (frame, body) in back {
            let exchange = if worker.has(frame.id()) { self.vacate(worker) } else { self.recall(worker, frame.id()) };
            let Some(exchange) = exchange else { continue };
            if exchange.borrow_mut().wait_again(frame, body) {
                self.queued.set(self.queued.get() + 1);
            }
            self.wait_again(&exchange);
        }
        if worker.state() == WorkerState::Busy && worker.exchange.borrow().is_none() && !self.go_on(worker) {
            worker.set_state(WorkerState::Idle);
            self.idle.borrow_mut().push(worker.clone());
        }
    }

    /// What lies in its socket is for nobody.
    pub(super) fn empty(&self, worker: &Worker) {
        drop(worker.take_back(&mut self.ahead.buffer.borrow_mut()));
    }

    fn recall(&self, worker: &Worker, id: u64) -> Option<Shared> {
        let mut ahead = worker.ahead.borrow_mut();
        let at = ahead.iter().position(|exchange| exchange.borrow().id == id)?;
        self.ahead.count.set(self.ahead.count.get() - 1);
        ahead.remove(at)
    }

    /// Takes back from workers that are slower than was expected.
    pub(super) fn rescue(&self, now: Instant) {
        if self.ahead.count.get() == 0 {
            return;
        }
        for worker in self.workers() {
            if now.duration_since(worker.since()) >= SLOW {
                self.take_back(&worker);
            }
        }
    }
}
