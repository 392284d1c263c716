//! A pool of a generation, shared by all threads. A thread with an event locks the pool and performs all actions of its
//! [`Scheduler`] before the next event. Actions for requests are sent to their threads as [`Notice`]s.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use wire::control::{FromFront, Load, PoolId, WorkerId};
use wire::transport::MAX_ORDER;

use super::mailbox::{Mailboxes, Notice, Notices};
use super::scheduler::queue::Sizes;
use super::scheduler::{ClientId, PaceInquiry, RequestId, Scheduler, TooFast};
use super::streams::Streams;
use super::submitted::{Label, RequestStart, Submitted};
use super::worker::Worker;
use super::{Workers, ring};
use crate::base::failure::Failure;
use crate::base::lock::lock;
use crate::base::shared;
use crate::limits::pace::PaceVerdict;
use crate::limits::turns::{SharedTurns, TurnCount};
use config::access::RequestThrottle;
use config::scheduling::SpeedLimit;
use config::{Config, pools};

pub struct SharedPool {
    /// The generation and number of this pool.
    pub id: PoolId,
    /// The configuration has no other pool.
    pub(super) is_alone: bool,
    /// State shared by all parts of the front.
    pub front: Arc<shared::Shared>,
    mailboxes: Mailboxes,
    state: Mutex<State>,
    /// The streams of workers with an event loop.
    pub(super) streams: Streams,
}

pub(super) struct State {
    pub scheduler: Scheduler,
    pub workers: BTreeMap<WorkerId, Arc<Worker>>,
    pub requests: FxHashMap<RequestId, Submitted>,
    /// Each worker's last request and its queueing time, for the status page.
    pub last: FxHashMap<WorkerId, (Label, Duration)>,
    /// Receive buffer for requests that are taken back from a worker.
    pub buffer: Box<[u8]>,
}

/// A request counted under `MaxConcurrentReqs`; dropping it ends the count.
pub struct ConcurrencyTurn {
    /// Id of the `MaxConcurrentReqs` line.
    pub line: u32,
    /// The count with this request.
    pub count: TurnCount,
    pool: Arc<SharedPool>,
    /// Where the end of the request is reported for other servers, and the line's name there.
    shared: Option<(Arc<SharedTurns>, Arc<str>)>,
}

impl ConcurrencyTurn {
    /// Reports the end of the request for other servers.
    pub fn share(&mut self, turns: &Arc<SharedTurns>, line: &Arc<str>) {
        self.shared = Some((turns.clone(), line.clone()));
    }
}

impl Drop for ConcurrencyTurn {
    fn drop(&mut self) {
        let count = lock(&self.pool.state).scheduler.give_turn_back(self.line);
        if let Some((turns, line)) = &self.shared {
            turns.end(line, count);
        }
    }
}

impl SharedPool {
    /// Creates a pool without workers; see [`SharedPool::add`].
    pub fn new(front: &Arc<shared::Shared>, mailboxes: &Mailboxes, id: PoolId, config: &Config) -> SharedPool {
        let pool = config.pool_of(id.pool);
        let sizes = Sizes { workers: pool.max_clients, length: pool.queue_length, stale: pool.queue_stale };
        // All shares are included, because a place may have its share from one section and its pool from another.
        let shares = config.sections.iter().filter_map(|section| section.own.scheduling.share.as_ref());
        let state = State {
            scheduler: Scheduler::new(sizes, shares, Instant::now()),
            workers: BTreeMap::new(),
            requests: FxHashMap::default(),
            last: FxHashMap::default(),
            buffer: vec![0; MAX_ORDER].into(),
        };
        SharedPool {
            id,
            is_alone: config.more_pools.is_empty() && id.pool == pools::DEFAULT,
            front: front.clone(),
            mailboxes: mailboxes.clone(),
            state: Mutex::new(state),
            streams: Streams::new(pool),
        }
    }

    pub fn count(&self) -> usize {
        lock(&self.state).workers.len()
    }

    pub(super) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&lock(&self.state))
    }

    /// Passes an event of the clock or the master to the scheduler.
    fn pass_event(&self, event: impl FnOnce(&mut Scheduler)) {
        let mut state = lock(&self.state);
        event(&mut state.scheduler);
        self.perform(&mut state, &mut |thread, notice| self.mail(thread, notice));
    }

    /// Passes a worker's arrival or departure to the scheduler, and publishes the new load.
    pub(super) fn change_worker(&self, event: impl FnOnce(&mut Scheduler)) {
        self.pass_event(event);
        self.streams.look_again();
        self.front.pool_changed(self.load());
    }

    fn mail(&self, thread: u8, notice: Notice) {
        self.mailboxes.send(thread, self.id, notice);
    }

    /// Charges a request to `client` under a `SpeedLimit`, or refuses it.
    pub fn keep_pace(&self, limit: &SpeedLimit, client: IpAddr) -> Result<ClientId, TooFast> {
        lock(&self.state).scheduler.keep_pace(limit, client, Instant::now())
    }

    /// Begins a request that the store of `LimitStore` decides about, or refuses it.
    pub fn inquire_pace(&self, limit: &SpeedLimit, client: IpAddr) -> Result<PaceInquiry, TooFast> {
        lock(&self.state).scheduler.inquire_pace(limit, client, Instant::now())
    }

    /// Charges or refuses a request by the verdict of the store.
    pub fn settle_pace(
        &self,
        limit: &SpeedLimit,
        inquiry: PaceInquiry,
        verdict: PaceVerdict,
    ) -> Result<ClientId, TooFast> {
        lock(&self.state).scheduler.settle_pace(limit, inquiry, verdict, Instant::now())
    }

    /// Ends a question to the store of `LimitStore` whose request has ended.
    pub fn withdraw_pace(&self, limit: &SpeedLimit, inquiry: PaceInquiry) {
        lock(&self.state).scheduler.withdraw_pace(limit, inquiry, Instant::now());
    }

    /// Counts a request under `MaxConcurrentReqs`. `None`: the limit is reached.
    pub fn take_turn(self: &Arc<Self>, throttle: &RequestThrottle) -> Option<ConcurrencyTurn> {
        let count = lock(&self.state).scheduler.take_turn(throttle.id, throttle.most)?;
        Some(ConcurrencyTurn { line: throttle.id, count, pool: self.clone(), shared: None })
    }

    /// Adds a worker that the mold forks, or that is `adopted` from an earlier front.
    pub fn add(&self, worker: Arc<Worker>, adopted: bool) {
        let id = worker.id;
        lock(&self.state).workers.insert(id, worker);
        self.change_worker(|scheduler| scheduler.add(id, adopted, Instant::now()));
    }

    /// Handles the end of a worker: its current request is lost.
    pub fn gone(&self, worker: WorkerId) {
        self.change_worker(|scheduler| scheduler.gone(worker, Instant::now()));
    }

    /// Has a broken worker killed; its requests fail with `failure`.
    pub fn discard(&self, worker: WorkerId, reason: &str, failure: Failure) {
        self.change_worker(|scheduler| scheduler.discard(worker, reason, failure, Instant::now()));
    }

    /// Asks up to `count` idle workers to leave, the longest idle first.
    pub fn leave_idle(&self, count: usize) {
        self.pass_event(|scheduler| scheduler.leave_idle(count, Instant::now()));
    }

    /// Limits the number of busy workers to `most`.
    pub fn admit(&self, most: u32) {
        self.change_worker(|scheduler| scheduler.admit(most, Instant::now()));
    }

    /// Lets a worker serve that was ready before the master reported its pid.
    pub fn employ(&self, worker: WorkerId) {
        self.change_worker(|scheduler| {
            let _ = scheduler.ready(worker, Instant::now());
        });
    }

    /// Asks `worker` to leave as soon as it has no request.
    pub fn dismiss(&self, worker: WorkerId) {
        self.change_worker(|scheduler| scheduler.dismiss(worker, Instant::now()));
    }

    /// Asks `worker` to become a mold, with the channel `control` to the master, as soon as it has no request.
    pub fn promote(&self, worker: WorkerId, control: OwnedFd) {
        let found = self.look(|state| state.workers.get(&worker).cloned());
        if let Some(found) = found {
            found.will_be_promoted(control);
            self.dismiss(worker);
        }
    }

    /// Begins to drain: no new requests arrive, and workers leave as soon as the queue is empty.
    pub fn drain(&self) {
        self.pass_event(|scheduler| scheduler.drain(Instant::now()));
    }

    /// Enforces the timeouts. Called periodically by the clock.
    pub fn expire(&self, now: Instant) {
        self.pass_event(|scheduler| scheduler.tick(now));
    }

    /// Closes the sockets of all workers, which still receive what was sent before.
    pub fn close(&self) {
        self.pass_event(|scheduler| scheduler.close(Instant::now()));
    }

    /// Discards the requests in the socket of an adopted worker, because their front has died.
    pub(super) fn empty(&self, worker: &Worker) {
        drop(worker.take_back(&mut lock(&self.state).buffer));
    }

    pub fn all(&self) -> Vec<Arc<Worker>> {
        self.look(|state| state.workers.values().cloned().collect())
    }

    /// Whether `worker` belongs to this pool.
    pub fn has(&self, worker: WorkerId) -> bool {
        self.look(|state| state.workers.contains_key(&worker))
    }

    /// Sends new error logs to all workers; `first` is the index of the first log.
    pub fn reopen_logs(&self, first: u16, logs: &[BorrowedFd<'_>]) {
        self.look(|state| state.workers.values().for_each(|worker| worker.reopen_logs(first, logs)));
    }

    pub(super) fn send_to_master(&self, message: FromFront) {
        self.front.master.send(message);
    }

    /// The current load: idle and busy workers, and requests that wait for one.
    pub fn load(&self) -> Load {
        self.look(|state| load(self.id, &state.scheduler))
    }
}

impl Workers {
    /// Passes an event of this thread to the scheduler, then performs the resulting actions. Notices for this thread's
    /// own requests are handled after the lock is released.
    pub(super) fn pass_event<T>(self: &Rc<Self>, event: impl FnOnce(&mut State) -> T) -> T {
        let mut own = Notices::new();
        let mut state = lock(&self.pool.state);
        let outcome = event(&mut state);
        self.pool.perform(&mut state, &mut |to, notice| match to == self.thread {
            true => own.push(notice),
            false => self.pool.mail(to, notice),
        });
        let load = load(self.pool.id, &state.scheduler);
        let slack = state.scheduler.slack();
        drop(state);
        self.pool.front.pool_changed(load);
        ring::coalesce(slack);
        own.into_iter().for_each(|notice| self.receive(notice));
        outcome
    }
}

fn load(id: PoolId, scheduler: &Scheduler) -> Load {
    Load {
        id,
        idle: scheduler.idle(),
        busy: scheduler.busy(),
        queued: scheduler.queued().saturating_sub(scheduler.queue().held_back() as u32),
    }
}

impl State {
    /// Stores the last request of a worker, for the status page.
    pub fn remember(&mut self, label: Label, begun: Option<RequestStart>) {
        if let Some(begun) = begun
            && self.workers.contains_key(&begun.worker)
        {
            self.last.insert(begun.worker, (label, begun.waited));
        }
    }

    /// `worker=3 pid=4711`, for the log.
    pub fn name(&self, id: WorkerId) -> String {
        format!("worker={} pid={}", id.slot, self.workers.get(&id).map_or(0, |worker| worker.pid()))
    }
}
