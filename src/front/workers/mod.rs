//! The workers of one generation: carries events to the [`Pool`], which decides, and what it decides to workers' sockets,
//! to the exchanges of requests and to the master.
//!
//! ```text
//!   request's future ──submit──▶ Workers ──▶ Pool            decides, knows no socket
//!          ▲                        │  ▲  ◀── Action
//!          │                        ▼  │
//!       Exchange ◀──── replies ── Worker                     a socket, and the task that listens to it
//! ```

mod actions;
mod content_length;
pub mod exchange;
pub mod pool;
mod replies;
pub mod spool;
mod takeover;
mod worker;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::Instant;

use wire::control::{FromFront, GenerationNumber, Load, ShareStatus, WorkerId, WorkerStatus};
use wire::transport::MAX_INLINE;

use super::base::failure::Failure;
use super::base::shared::{self, count};
use crate::config::access::Throttle;
use crate::config::scheduling::SpeedLimit;
use crate::config::{Config, Spooling};
use pool::queue::{Lane, Sizes};
use pool::{NewRequest, Pool};

pub use content_length::Promised;
pub use exchange::{Exchange, Job, Label, SharedExchange, Stage};
pub use pool::{ClientId, RequestId, RequestTimeouts, TooFast};
pub use takeover::take_over;
pub use worker::Worker;

pub struct Workers {
    generation: GenerationNumber,
    front: Rc<shared::Shared>,
    pool: RefCell<Pool>,
    by_id: RefCell<BTreeMap<WorkerId, Rc<Worker>>>,
    exchanges: RefCell<HashMap<RequestId, SharedExchange>>,
    spooling: Rc<Spooling>,
    /// For what is taken back.
    buffer: RefCell<Box<[u8]>>,
}

/// A place among the requests that are under way, given back when this goes.
pub struct Turn {
    /// Of which line.
    pub line: u32,
    workers: Rc<Workers>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.workers.pool.borrow_mut().give_turn_back(self.line);
    }
}

impl Workers {
    /// None yet; they come by [`Workers::add`].
    pub fn new(front: &Rc<shared::Shared>, generation: GenerationNumber, config: &Config) -> Workers {
        let pool = &config.pool;
        let sizes = Sizes { workers: pool.max_clients, length: pool.queue_length, stale: pool.queue_stale };
        let shares = config.sections.iter().filter_map(|section| section.said.scheduling.share.as_ref());
        Workers {
            generation,
            front: front.clone(),
            pool: RefCell::new(Pool::new(sizes, shares, Instant::now())),
            by_id: RefCell::default(),
            exchanges: RefCell::default(),
            spooling: Rc::new(config.spooling.clone()),
            buffer: RefCell::new(vec![0; MAX_INLINE + 1].into()),
        }
    }

    /// Tells the pool of an event, and does what it wants.
    fn tell<T>(&self, event: impl FnOnce(&mut Pool) -> T) -> T {
        let told = event(&mut self.pool.borrow_mut());
        loop {
            let next = self.pool.borrow_mut().next_action();
            match next {
                Some(action) => self.perform(action),
                None => return told,
            }
        }
    }

    /// Gives the job to a worker, or puts it into the queue.
    pub fn submit(&self, job: Job) -> Result<SharedExchange, Failure> {
        let id = job.id;
        let new = NewRequest {
            id,
            lane: self.pool.borrow().queue().lane(job.share),
            timeouts: job.timeouts,
            small: job.body.is_none() && job.frame.len() <= MAX_INLINE,
            charged_to: job.charged_to,
        };
        let exchange = Exchange::new(job, self.spooling.clone());
        let now = exchange.queued_at;
        let exchange = Rc::new(RefCell::new(exchange));
        self.exchanges.borrow_mut().insert(id, exchange.clone());
        let submitted = self.tell(|pool| pool.submit(new, now));
        self.changed();
        if let Err(failure) = submitted {
            self.take(id);
            count(&self.front.counters.turned_away);
            return Err(failure);
        }
        Ok(exchange)
    }

    /// A client that left: a request that waits will not be started.
    pub fn abandon(&self, exchange: &SharedExchange) {
        let (id, owed, unfinished) = {
            let mut exchange = exchange.borrow_mut();
            exchange.abandon();
            (exchange.id, exchange.is_owed(), !exchange.is_whole())
        };
        self.tell(|pool| pool.client_gone(id, owed, unfinished));
    }

    /// The client of `exchange` sends nothing more. Says whether it can be given its answer all the same.
    pub fn hang_up(&self, exchange: &SharedExchange) -> bool {
        let id = exchange.borrow().id;
        self.tell(|pool| pool.client_hung_up(id));
        self.tell(|pool| pool.told_hung_up(id))
    }

    /// Counts a request of `client` where its speed is limited, or refuses it.
    pub fn keep_pace(&self, limit: &SpeedLimit, client: IpAddr) -> Result<ClientId, TooFast> {
        self.pool.borrow_mut().keep_pace(limit, client, Instant::now())
    }

    /// Counts a request where only some may be under way; `None`: as many as may be are.
    pub fn take_turn(self: &Rc<Self>, throttle: &Throttle) -> Option<Turn> {
        let taken = self.pool.borrow_mut().take_turn(throttle.id, throttle.most);
        taken.then(|| Turn { line: throttle.id, workers: self.clone() })
    }

    /// Takes a worker in that was asked of the mold.
    pub fn add(&self, worker: Rc<Worker>, adopted: bool) {
        let (id, gives_back) = (worker.id, worker.can_take_back());
        self.by_id.borrow_mut().insert(id, worker);
        self.tell(|pool| pool.add(id, gives_back, adopted, Instant::now()));
        self.changed();
    }

    /// `worker` has ended: a request that it had is lost.
    pub fn gone(&self, worker: &Worker) {
        self.tell(|pool| pool.gone(worker.id, Instant::now()));
        self.changed();
    }

    /// `worker` is beyond help: have it killed.
    pub fn discard(&self, worker: &Worker, reason: &str, failure: Failure) {
        self.tell(|pool| pool.discard(worker.id, reason, failure, Instant::now()));
        self.changed();
    }

    /// Asks up to `count` idle workers to leave, those first that were idle longest.
    pub fn leave_idle(&self, count: usize) {
        self.tell(|pool| pool.leave_idle(count, Instant::now()));
    }

    /// No new requests will come: workers leave as soon as nothing waits.
    pub fn drain(&self) {
        self.tell(|pool| pool.drain(Instant::now()));
    }

    /// Ends what has waited or run for too long. Called by the clock.
    pub fn expire(&self, now: Instant) {
        self.tell(|pool| pool.tick(now));
    }

    /// Closes the sockets of workers that were asked to leave; what was sent to them they still receive.
    pub fn close(&self) {
        self.tell(|pool| pool.close(Instant::now()));
    }

    /// Whether nothing is under way or waits.
    pub fn is_quiet(&self) -> bool {
        self.pool.borrow().is_quiet()
    }

    /// Whether it was told to drain.
    pub fn is_draining(&self) -> bool {
        self.pool.borrow().is_draining()
    }

    /// How many requests wait.
    pub fn queued(&self) -> u32 {
        self.pool.borrow().queued()
    }

    /// How busy they are.
    pub fn load(&self) -> Load {
        let pool = self.pool.borrow();
        Load {
            generation: self.generation,
            idle: pool.idle(),
            busy: pool.busy(),
            queued: pool.queued().saturating_sub(pool.queue().held_back() as u32),
        }
    }

    /// Whether more requests come than are answered.
    pub fn is_overloaded(&self) -> bool {
        self.pool.borrow().queue().lanes().iter().any(Lane::is_overloaded)
    }

    /// What the requests of each `PoolShare` have, for a status.
    pub fn shares(&self) -> Vec<ShareStatus> {
        let status = |lane: &Lane<RequestId>| {
            lane.share.as_ref().map(|(_, place)| ShareStatus {
                place: place.clone(),
                most: lane.most,
                busy: lane.busy,
                queued: lane.len() as u32,
                overloaded: lane.is_overloaded(),
                turned_away: lane.turned_away,
            })
        };
        self.pool.borrow().queue().lanes().iter().filter_map(status).collect()
    }

    /// All workers, for a status.
    pub fn status(&self) -> Vec<WorkerStatus> {
        let pool = self.pool.borrow();
        let status = |(id, worker): (WorkerId, &pool::Worker)| WorkerStatus {
            slot: id.slot,
            generation: self.generation,
            pid: self.worker(id).map_or(0, |worker| worker.pid.get()),
            state: worker.state,
            requests: worker.requests,
            request: worker.current.and_then(|id| Some(self.exchange(id)?.borrow().label.shown())).unwrap_or_default(),
            since_ms: worker.since.elapsed().as_millis() as u64,
            private_bytes: None,
        };
        pool.workers().map(status).collect()
    }

    /// All workers.
    pub fn all(&self) -> Vec<Rc<Worker>> {
        self.by_id.borrow().values().cloned().collect()
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.by_id.borrow().len()
    }

    /// Tells all workers of new error logs; the first one's number is given.
    pub fn reopen_logs(&self, first: u16, logs: &[BorrowedFd<'_>]) {
        self.by_id.borrow().values().for_each(|worker| worker.reopen_logs(first, logs));
    }

    fn worker(&self, id: WorkerId) -> Option<Rc<Worker>> {
        self.by_id.borrow().get(&id).cloned()
    }

    fn exchange(&self, id: RequestId) -> Option<SharedExchange> {
        self.exchanges.borrow().get(&id).cloned()
    }

    fn take(&self, id: RequestId) -> Option<SharedExchange> {
        self.exchanges.borrow_mut().remove(&id)
    }

    /// `worker=3 pid=4711`
    fn name(&self, id: WorkerId) -> String {
        format!("worker={} pid={}", id.slot, self.worker(id).map_or(0, |worker| worker.pid.get()))
    }

    fn say(&self, message: FromFront) {
        self.front.master.say(message);
    }

    fn changed(&self) {
        self.front.pool_changed(self.load());
    }
}
