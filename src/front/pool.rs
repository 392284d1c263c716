//! The workers of one generation and the requests that wait for them. One fair queue: whoever came first is served
//! first, by the worker that was busy last, so that its caches are warm and spare workers stay untouched.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::{Rc, Weak};
use std::time::Instant;

use wire::control::{FromFront, Generation, Load, WorkerState};

use super::ahead::Ahead;
use super::exchange::{Exchange, Job, Shared, Stage};
use super::failure::Failure;
use super::worker::{Worker, describe};
use super::{Front, count};
use crate::log;

/// See the module's text.
pub struct Pool {
    generation: Generation,
    queue_length: usize,
    front: Weak<Front>,
    workers: RefCell<Vec<Rc<Worker>>>,
    /// The last is the one that was busy last.
    pub(super) idle: RefCell<Vec<Rc<Worker>>>,
    /// May hold exchanges that are over; `queued` counts the others.
    pub(super) queue: RefCell<VecDeque<Shared>>,
    pub(super) queued: Cell<u32>,
    busy: Cell<u32>,
    draining: Cell<bool>,
    /// Requests that were sent to busy workers.
    pub(super) ahead: Ahead,
}

impl Pool {
    /// An empty pool; workers come by [`Pool::add`].
    pub fn new(front: &Rc<Front>, generation: Generation, queue_length: usize) -> Pool {
        Pool {
            generation,
            queue_length,
            front: Rc::downgrade(front),
            workers: RefCell::default(),
            idle: RefCell::default(),
            queue: RefCell::default(),
            queued: Cell::new(0),
            busy: Cell::new(0),
            draining: Cell::new(false),
            ahead: Ahead::default(),
        }
    }

    /// Gives the job to a worker, or puts it into the queue.
    pub fn submit(&self, job: Job) -> Result<Shared, Failure> {
        let exchange = Rc::new(RefCell::new(Exchange::new(job)));
        if !self.start(&exchange) {
            if self.queued.get() as usize >= self.queue_length {
                return Err(Failure::QueueFull);
            }
            self.queued.set(self.queued.get() + 1);
            self.queue.borrow_mut().push_back(exchange.clone());
            self.release_held();
        }
        self.changed();
        Ok(exchange)
    }

    /// Hands `exchange` to an idle worker. One that cannot take it is broken; the request never reached it, and the
    /// next one gets it.
    fn start(&self, exchange: &Shared) -> bool {
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

    /// Somebody waits: no worker has to wait for a slow client.
    fn release_held(&self) {
        for worker in self.workers.borrow().iter().filter(|worker| worker.is_paused()) {
            if let Some(exchange) = &*worker.exchange.borrow() {
                exchange.borrow_mut().spill();
            }
        }
    }

    /// A client that left: a request that waits will not be started.
    pub fn abandon(&self, exchange: &Shared) {
        if exchange.borrow().stage == Stage::Queued {
            self.queued.set(self.queued.get() - 1);
        }
        let working = exchange.borrow_mut().abandon();
        if let Some(worker) = working {
            // What was sent ahead would lie before the word that nobody waits.
            self.take_back(&worker);
            worker.tell_abandoned(exchange.borrow().id);
        }
        if self.ahead.count.get() > 0 {
            let holds = |worker: &&Rc<Worker>| worker.ahead.borrow().iter().any(|ahead| Rc::ptr_eq(ahead, exchange));
            let holder = self.workers.borrow().iter().find(holds).cloned();
            holder.inspect(|worker| self.take_back(worker));
        }
    }

    /// Takes a worker in that was asked of the mold.
    pub fn add(&self, worker: Rc<Worker>) {
        if self.draining.get() {
            worker.ask_to_leave();
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
        if self.ahead.count.get() > 0 && self.queue.borrow().is_empty() {
            let loaded = self.workers.borrow().iter().find(|other| !other.ahead.borrow().is_empty()).cloned();
            loaded.inspect(|other| self.take_back(other));
        }
        self.serve_queue();
        self.feed(worker);
        if self.draining.get() && self.queued.get() == 0 {
            self.leave_idle(usize::MAX);
        }
    }

    /// Gives idle workers what waits.
    fn serve_queue(&self) {
        while let Some(exchange) = self.next_queued() {
            if !self.start(&exchange) {
                self.queue.borrow_mut().push_front(exchange);
                return;
            }
            self.queued.set(self.queued.get() - 1);
            if self.idle.borrow().is_empty() {
                return;
            }
        }
    }

    pub(super) fn next_queued(&self) -> Option<Shared> {
        let mut queue = self.queue.borrow_mut();
        loop {
            let exchange = queue.pop_front()?;
            if exchange.borrow().stage == Stage::Queued {
                return Some(exchange);
            }
        }
    }

    /// Asks up to `count` idle workers to leave, those first that were idle longest.
    pub fn leave_idle(&self, count: usize) {
        let mut idle = self.idle.borrow_mut();
        let count = count.min(idle.len());
        for worker in idle.drain(..count) {
            worker.ask_to_leave();
        }
    }

    /// No new requests will come: workers leave as soon as nothing waits.
    pub fn drain(&self) {
        self.draining.set(true);
        if self.queued.get() == 0 {
            self.leave_idle(usize::MAX);
        }
        for worker in self.workers.borrow().iter().filter(|worker| worker.state() == WorkerState::Starting) {
            worker.ask_to_leave();
        }
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
            log::error("front", format_args!("worker={} pid={} {reason}", worker.slot, worker.pid.get()));
            self.say(FromFront::Kill { slot: worker.slot, reason: reason.to_owned() });
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
            begun.borrow_mut().fail(failure);
        }
        if let Some(exchange) = self.vacate(worker) {
            let what = describe(&exchange);
            log::error("front", format_args!("worker={} pid={} lost {what}", worker.slot, worker.pid.get()));
            exchange.borrow_mut().fail(failure);
        }
        self.serve_queue();
        self.changed();
    }

    /// Ends what has waited or run for too long. Called by the clock.
    pub fn expire(&self, now: Instant) {
        self.rescue(now);
        self.serve_queue();
        self.queue.borrow_mut().retain(|exchange| {
            let mut exchange = exchange.borrow_mut();
            if exchange.stage == Stage::Queued && now.duration_since(exchange.queued_at) >= exchange.limits.queue {
                self.queued.set(self.queued.get() - 1);
                exchange.fail(Failure::QueueTimeout);
                self.front.upgrade().inspect(|front| count(&front.counters.queue_timeouts));
            }
            exchange.stage == Stage::Queued
        });
        self.enforce_deadlines(now);
    }

    /// How busy it is.
    pub fn load(&self) -> Load {
        Load {
            generation: self.generation,
            idle: self.idle.borrow().len() as u32,
            busy: self.busy.get(),
            queued: self.queued.get(),
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

    /// Tells all workers of a new error log.
    pub fn reopen_log(&self, number: u16, log: BorrowedFd<'_>) {
        for worker in self.workers.borrow().iter() {
            worker.reopen_log(number, log);
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
