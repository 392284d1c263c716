//! The workers of one generation. The next request goes to the worker that was busy last, so that its caches are warm and
//! spare workers stay untouched.

use std::cell::{Cell, RefCell};
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::{Rc, Weak};
use std::time::Instant;

use wire::control::{FromFront, Generation, Load, WorkerState};

use super::ahead::Ahead;
use super::base::failure::Failure;
use super::exchange::{Shared, Stage};
use super::queue::{Queue, Sizes};
use super::worker::{Worker, describe};
use super::{Front, count};
use crate::config::{Config, Spooling};
use crate::log;

/// See the module's text.
pub struct Pool {
    generation: Generation,
    pub(super) front: Weak<Front>,
    workers: RefCell<Vec<Rc<Worker>>>,
    /// The last is the one that was busy last.
    pub(super) idle: RefCell<Vec<Rc<Worker>>>,
    /// Requests that wait.
    pub(super) queue: RefCell<Queue<Shared>>,
    /// How many wait, those included that were sent ahead.
    pub(super) queued: Cell<u32>,
    busy: Cell<u32>,
    draining: Cell<bool>,
    pub(super) spooling: Rc<Spooling>,
    /// Requests that were sent to busy workers.
    pub(super) ahead: Ahead,
}

impl Pool {
    /// An empty pool; workers come by [`Pool::add`].
    pub fn new(front: &Rc<Front>, generation: Generation, config: &Config) -> Pool {
        let pool = &config.pool;
        let sizes = Sizes { workers: pool.max_clients, length: pool.queue_length, stale: pool.queue_stale };
        let shares = config.sections.iter().filter_map(|section| section.said.admission.share.as_ref());
        Pool {
            generation,
            front: Rc::downgrade(front),
            workers: RefCell::default(),
            idle: RefCell::default(),
            queue: RefCell::new(Queue::new(sizes, shares, Instant::now())),
            queued: Cell::new(0),
            busy: Cell::new(0),
            draining: Cell::new(false),
            spooling: Rc::new(config.spooling.clone()),
            ahead: Ahead::default(),
        }
    }

    /// Hands `exchange` to an idle worker. One that cannot take it is broken; the request never reached it, and the
    /// next one gets it.
    pub(super) fn start(&self, exchange: &Shared) -> bool {
        loop {
            let Some(worker) = self.idle.borrow_mut().pop() else { return false };
            let sent = {
                let job = exchange.borrow();
                worker.send(&job.frame, job.body.as_ref().map(|file| file.as_fd()))
            };
            match sent {
                Ok(()) => {
                    self.occupy(worker, exchange);
                    return true;
                }
                Err(error) => self.discard(&worker, &format!("cannot be sent a request: {error}")),
            }
        }
    }

    pub(super) fn occupy(&self, worker: Rc<Worker>, exchange: &Shared) {
        let mut job = exchange.borrow_mut();
        job.start(worker.clone());
        worker.occupy(exchange, job.started_at);
        if let Some(front) = self.front.upgrade() {
            front.spare_frame(std::mem::take(&mut job.frame));
            count(&front.counters.worker_requests);
        }
        self.busy.set(self.busy.get() + 1);
    }

    /// Takes a worker in that was asked of the mold.
    pub fn add(&self, worker: Rc<Worker>) {
        if self.draining.get() {
            self.ask_to_leave(&worker);
        }
        self.workers.borrow_mut().push(worker);
        self.changed();
    }

    pub(super) fn vacate(&self, worker: &Worker) -> Option<Shared> {
        let exchange = worker.exchange.borrow_mut().take()?;
        self.busy.set(self.busy.get() - 1);
        Some(exchange)
    }

    /// Gives `worker` the next request that waits, or lets it rest, or leave.
    pub(super) fn free(&self, worker: &Rc<Worker>) {
        worker.set_state(WorkerState::Idle);
        self.idle.borrow_mut().push(worker.clone());
        if self.ahead.count.get() > 0 && self.queue.borrow().len() == 0 {
            let loaded = self.workers.borrow().iter().find(|other| !other.ahead.borrow().is_empty()).cloned();
            loaded.inspect(|other| self.take_back(other));
        }
        self.serve_queue();
        self.feed(worker);
        if self.draining.get() && self.queued.get() == 0 {
            self.leave_idle(usize::MAX);
        }
    }

    /// Asks up to `count` idle workers to leave, those first that were idle longest.
    pub fn leave_idle(&self, count: usize) {
        let mut idle = self.idle.borrow_mut();
        let count = count.min(idle.len());
        for worker in idle.drain(..count) {
            self.ask_to_leave(&worker);
        }
    }

    fn ask_to_leave(&self, worker: &Worker) {
        worker.ask_to_leave();
        self.say(FromFront::Leaving { worker: worker.id });
    }

    /// No new requests will come: workers leave as soon as nothing waits.
    pub fn drain(&self) {
        self.draining.set(true);
        if self.queued.get() == 0 {
            self.leave_idle(usize::MAX);
        }
        let is_away = |worker: &&Rc<Worker>| worker.state() == WorkerState::Starting || worker.adopted.get();
        self.workers.borrow().iter().filter(is_away).for_each(|worker| self.ask_to_leave(worker));
    }

    /// Whether nothing is under way or waits.
    pub fn is_quiet(&self) -> bool {
        self.busy.get() == 0 && self.queued.get() == 0
    }

    /// Whether it was told to drain.
    pub fn is_draining(&self) -> bool {
        self.draining.get()
    }

    /// `worker` has ended: a request that it had is lost.
    pub fn gone(&self, worker: &Rc<Worker>) {
        self.lose(worker, Failure::WorkerGone);
    }

    /// `worker` is beyond help: have it killed.
    pub fn discard(&self, worker: &Rc<Worker>, reason: &str) {
        self.discard_as(worker, reason, Failure::WorkerGone);
    }

    pub(super) fn discard_as(&self, worker: &Rc<Worker>, reason: &str, failure: Failure) {
        if worker.state() != WorkerState::Gone {
            log::error("front", format_args!("worker={} pid={} {reason}", worker.id.slot, worker.pid.get()));
            self.say(FromFront::Kill { worker: worker.id, reason: reason.to_owned() });
        }
        self.lose(worker, failure);
    }

    fn lose(&self, worker: &Rc<Worker>, failure: Failure) {
        self.workers.borrow_mut().retain(|other| !Rc::ptr_eq(other, worker));
        self.idle.borrow_mut().retain(|other| !Rc::ptr_eq(other, worker));
        worker.set_state(WorkerState::Gone);
        self.recover(worker);
        // It may have begun one that it was sent ahead, if its last answer was lost with it.
        for begun in worker.ahead.borrow_mut().drain(..) {
            self.ahead.count.set(self.ahead.count.get() - 1);
            self.queued.set(self.queued.get() - u32::from(begun.borrow().stage == Stage::Queued));
            self.queue.borrow_mut().release(begun.borrow().lane, None);
            begun.borrow_mut().fail(failure);
        }
        if let Some(exchange) = self.vacate(worker) {
            let what = describe(&exchange);
            log::error("front", format_args!("worker={} pid={} lost {what}", worker.id.slot, worker.pid.get()));
            self.queue.borrow_mut().release(exchange.borrow().lane, None);
            exchange.borrow_mut().fail(failure);
        }
        self.serve_queue();
        self.changed();
    }

    /// Ends what has waited or run for too long. Called by the clock.
    pub fn expire(&self, now: Instant) {
        self.rescue(now);
        self.give_up_stuck(now);
        self.serve_queue();
        self.time_out(now);
        self.watch_load(now);
        self.enforce_deadlines(now);
    }

    /// How busy it is.
    pub fn load(&self) -> Load {
        Load {
            generation: self.generation,
            idle: self.idle.borrow().len() as u32,
            busy: self.busy.get(),
            queued: self.queued.get() - self.queue.borrow().held_back() as u32,
        }
    }

    /// Closes the sockets of workers that were asked to leave; what was sent to them they still receive.
    pub fn close(&self) {
        for worker in self.workers() {
            self.lose(&worker, Failure::WorkerGone);
        }
    }

    /// All workers.
    pub fn workers(&self) -> Vec<Rc<Worker>> {
        self.workers.borrow().clone()
    }

    /// How many they are.
    pub fn worker_count(&self) -> usize {
        self.workers.borrow().len()
    }

    /// Tells all workers of new error logs; the first one's number is given.
    pub fn reopen_logs(&self, first: u16, logs: &[BorrowedFd<'_>]) {
        for worker in self.workers.borrow().iter() {
            worker.reopen_logs(first, logs);
        }
    }

    pub(super) fn say(&self, message: FromFront) {
        if let Some(front) = self.front.upgrade() {
            front.master.say(message);
        }
    }

    pub(super) fn changed(&self) {
        if let Some(front) = self.front.upgrade() {
            front.pool_changed(self);
        }
    }
}
