//! The workers of one generation and the requests that need one, as a state machine without I/O. Events are method
//! calls; [`Action`]s come out of [`Scheduler::next_action`]. The scheduler has no clock, socket or task. Its driver
//! performs all actions, in order, before the next event.
//!
//! ```text
//!   submit ────────────▶ ┌───────────┐ ──▶ Send, Begin, TakeBack, ReportAbandoned … to workers
//!   ready, ended, gone ▶ │ Scheduler │ ──▶ Over, Fail, WaitAgain, Spill             to requests
//!   client_gone, tick ─▶ └───────────┘ ──▶ Leaves, Kill, Interrupt, Look            to the master and the kernel
//! ```
//!
//! The next request goes to the worker that was busy last, because its caches are warm and the pages of spare workers
//! stay untouched.

mod action;
mod concurrency;
mod leaving;
mod lost;
mod patience;
mod prefetch;
pub mod queue;
mod rate;
mod request;
mod request_timeout;
mod scheduling;
mod stretch;
mod stuck;
#[cfg(test)]
mod tests;
mod worker;

pub use action::{Action, Cause};
pub use rate::{ClientId, PaceInquiry, TooFast};
pub use request::{NewRequest, RequestId, RequestTimeouts};
pub use request_timeout::{TimeoutAction, due};
pub use stretch::{Stretch, TimedStretch};
pub use worker::PoolWorker;

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use wire::control::{WorkerId, WorkerState};
use wire::reply::LeaveReason;

use crate::base::failure::Failure;
use crate::limits::pace::PaceVerdict;
use concurrency::UnderWay;
use config::scheduling::{PoolShare, SpeedLimit};
use patience::ClientPatience;
use prefetch::Pace;
use queue::{Queue, Sizes};
use rate::Clients;
use request::{Request, RequestStage};

#[derive(Debug)]
pub struct Scheduler {
    workers: BTreeMap<WorkerId, PoolWorker>,
    requests: FxHashMap<RequestId, Request>,
    /// Idle workers: first those without a request so far, then the others in the order in which they became idle. The
    /// last one gets the next request.
    idle: Vec<WorkerId>,
    queue: Queue<RequestId>,
    /// Requests that are not begun and not abandoned, including those sent ahead.
    queued: u32,
    busy: u32,
    /// Limit on busy workers; the others stay idle although requests wait.
    most_busy: u32,
    /// Sum of all workers' busy time until the given moment.
    worked: (Duration, Instant),
    /// Number of requests that were sent ahead.
    ahead: u32,
    /// Number of requests whose worker has begun another, but whose end has not been read yet.
    ending: u32,
    /// Number of workers held up by a slow client.
    held: u32,
    /// The idle worker that got a request last, and when.
    latest: Option<(WorkerId, Instant)>,
    pace: Pace,
    /// Accounts of clients under a `SpeedLimit`.
    clients: Clients,
    under_way: UnderWay,
    /// Patience with slow clients.
    patience: ClientPatience,
    draining: bool,
    actions: VecDeque<Action>,
}

/// A worker sent a reply that is not allowed in its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfTurn(pub &'static str);

impl Scheduler {
    /// Creates a scheduler of a pool without workers, with a lane of the queue for each share.
    pub fn new<'a>(sizes: Sizes, shares: impl Iterator<Item = &'a PoolShare>, now: Instant) -> Scheduler {
        Scheduler {
            workers: BTreeMap::new(),
            requests: FxHashMap::default(),
            idle: Vec::new(),
            queue: Queue::new(sizes, shares, now),
            queued: 0,
            busy: 0,
            most_busy: u32::MAX,
            worked: (Duration::ZERO, now),
            ahead: 0,
            ending: 0,
            held: 0,
            latest: None,
            pace: Pace::default(),
            clients: Clients::default(),
            under_way: UnderWay::default(),
            patience: ClientPatience::default(),
            draining: false,
            actions: VecDeque::new(),
        }
    }

    /// The next action to perform.
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn act(&mut self, action: Action) {
        self.actions.push_back(action);
    }

    /// Adds a worker that the mold forks, or that is adopted from a front that has died.
    pub fn add(&mut self, worker: WorkerId, adopted: bool, now: Instant) {
        self.workers.insert(worker, PoolWorker::new(adopted, now));
        if self.draining {
            self.order_to_leave(worker, now);
        }
    }

    /// Handles a worker that waits for its first request.
    pub fn ready(&mut self, worker: WorkerId, now: Instant) -> Result<(), OutOfTurn> {
        let Some(ready) = self.workers.get_mut(&worker) else { return Ok(()) };
        if std::mem::replace(&mut ready.booted, true) {
            return Err(OutOfTurn("ready twice"));
        }
        ready.adopted = false;
        if matches!(ready.state, WorkerState::Starting | WorkerState::Busy) {
            self.free(worker, now);
        }
        Ok(())
    }

    /// Handles the first reply to a request; an error if the worker may not reply to it. Each thread reads the replies
    /// to its own requests, so the first reply to one request may be read before the end of the previous one.
    pub fn first_reply(&mut self, worker: WorkerId, id: RequestId, now: Instant) -> Result<(), OutOfTurn> {
        let Some(speaker) = self.workers.get_mut(&worker) else { return Ok(()) };
        if speaker.current == Some(id) || speaker.ending.contains(&id) {
            return Ok(());
        }
        if !speaker.ahead.contains(&id) {
            return Err(OutOfTurn("a response without a request"));
        }
        while self.current(worker) != Some(id) {
            self.pass(worker, now);
            self.begin_next(worker, now);
        }
        self.send_ahead(worker);
        Ok(())
    }

    /// Moves the worker's current request to `ending`: its end is sent, but not read yet.
    fn pass(&mut self, worker: WorkerId, now: Instant) {
        let Some(id) = self.vacate(worker, now) else { return };
        self.set_held(worker, false);
        if let Some(request) = self.requests.get_mut(&id) {
            request.stage = RequestStage::Ending;
        }
        if let Some(passed) = self.workers.get_mut(&worker) {
            passed.ending.push_back(id);
            self.ending += 1;
        }
    }

    /// Handles the end of a request. With `leaving`, the worker takes no further request.
    pub fn ended(&mut self, worker: WorkerId, id: RequestId, leaving: Option<LeaveReason>, now: Instant) {
        if self.current(worker) == Some(id) {
            self.vacate(worker, now);
            self.over(worker, id, now);
            self.next(worker, leaving, now);
        } else if let Some(speaker) = self.workers.get_mut(&worker)
            && let Some(at) = speaker.ending.iter().position(|ending| *ending == id)
        {
            speaker.ending.remove(at);
            self.ending -= 1;
            self.over(worker, id, now);
        }
        // The request's share has a free place, so a request that waited for the share may get any idle worker.
        self.serve_queue(now);
    }

    fn over(&mut self, worker: WorkerId, id: RequestId, now: Instant) {
        if let Some(request) = self.requests.remove(&id) {
            self.watch_remains(worker, id, &request, now);
            let took = now.saturating_duration_since(request.started_at);
            self.pace.remember(took);
            self.queue.release(request.lane, Some(took));
        }
        if let Some(ended) = self.workers.get_mut(&worker) {
            ended.requests += 1;
        }
        self.act(Action::Over(id));
    }

    /// Decides what `worker` does after its request.
    fn next(&mut self, worker: WorkerId, leaving: Option<LeaveReason>, now: Instant) {
        let Some(ended) = self.workers.get_mut(&worker).filter(|ended| ended.state == WorkerState::Busy) else {
            return;
        };
        if let Some(reason) = leaving {
            ended.enter(WorkerState::Retiring, now);
            self.act(Action::Leaves { worker, reason });
            self.take_back(worker);
        } else if !self.go_on(worker, now) {
            self.free(worker, now);
        }
    }

    /// Gives `worker` the next queued request, or lets it become idle or leave.
    fn free(&mut self, worker: WorkerId, now: Instant) {
        self.rest(worker, now);
        if self.ahead > 0 && self.queue.peek().is_none() {
            // A request that comes back is served at once.
            self.overloaded().into_iter().for_each(|other| self.take_back(other));
        }
        self.serve_queue(now);
        if self.draining && self.queued == 0 {
            self.leave_idle(usize::MAX, now);
        }
    }

    fn rest(&mut self, worker: WorkerId, now: Instant) {
        let Some(resting) = self.workers.get_mut(&worker) else { return };
        if resting.dismissed {
            return self.order_to_leave(worker, now);
        }
        resting.enter(WorkerState::Idle, now);
        let is_cold = resting.requests == 0;
        let cold = self.idle.iter().filter(|idle| self.workers.get(idle).is_some_and(|idle| idle.requests == 0));
        let at = if is_cold { cold.count() } else { self.idle.len() };
        self.idle.insert(at, worker);
    }

    /// Makes the request the current one of `worker`.
    fn occupy(&mut self, worker: WorkerId, id: RequestId, now: Instant) {
        if let Some(busy) = self.workers.get_mut(&worker) {
            busy.current = Some(id);
            busy.logging = false;
            busy.remains = None;
            busy.enter(WorkerState::Busy, now);
            busy.look_at = Some(now + stuck::LOOK);
        }
        if let Some(request) = self.requests.get_mut(&id) {
            request.stage = RequestStage::Running(worker);
            request.started_at = now;
            request.timed = TimedStretch::begin(Stretch::Response, now);
            let is_charged = request.charged_to.is_some_and(|client| self.clients.begin(client, now));
            request.charged_since = is_charged.then_some(now);
        }
        self.worked = (self.worked(now), now);
        self.busy += 1;
    }

    fn vacate(&mut self, worker: WorkerId, now: Instant) -> Option<RequestId> {
        let free = self.workers.get_mut(&worker)?;
        let id = free.current.take()?;
        free.worked += now.saturating_duration_since(free.since);
        self.worked = (self.worked(now), now);
        self.busy -= 1;
        if let Some(request) = self.requests.get_mut(&id)
            && let (Some(client), Some(since)) = (request.charged_to, request.charged_since.take())
        {
            self.clients.end(client, since, now);
        }
        Some(id)
    }

    /// Charges a request to `client` under a `SpeedLimit`, or refuses it.
    pub fn keep_pace(&mut self, limit: &SpeedLimit, client: IpAddr, now: Instant) -> Result<ClientId, TooFast> {
        self.clients.enter(limit, client, now)
    }

    /// Begins a request that the store of `LimitStore` decides about, or refuses it.
    pub fn inquire_pace(&mut self, limit: &SpeedLimit, client: IpAddr, now: Instant) -> Result<PaceInquiry, TooFast> {
        self.clients.inquire(limit, client, now)
    }

    /// Charges or refuses a request by the verdict of the store.
    pub fn settle_pace(
        &mut self,
        limit: &SpeedLimit,
        inquiry: PaceInquiry,
        verdict: PaceVerdict,
        now: Instant,
    ) -> Result<ClientId, TooFast> {
        self.clients.settle(limit, inquiry, verdict, now)
    }

    /// Ends a question to the store of `LimitStore` whose request has ended.
    pub fn withdraw_pace(&mut self, limit: &SpeedLimit, inquiry: PaceInquiry, now: Instant) {
        self.clients.withdraw(limit, inquiry, now);
    }

    /// Limits busy workers to `most`, and at least one. Shares are computed from this limit.
    pub fn admit(&mut self, most: u32, now: Instant) {
        self.most_busy = most.max(1);
        self.queue.resize(self.most_busy);
        self.serve_queue(now);
    }

    /// The worker for the next request, if `most_busy` allows one.
    fn next_idle(&self) -> Option<WorkerId> {
        self.idle.last().copied().filter(|_| self.busy < self.most_busy)
    }

    /// Releases all workers, which still receive what was sent before.
    pub fn close(&mut self, now: Instant) {
        let all: Vec<WorkerId> = self.workers.keys().copied().collect();
        all.into_iter().for_each(|worker| self.lose(worker, Failure::WorkerGone, now));
    }

    /// Enforces the timeouts. Call it every few milliseconds while a request waits or runs.
    pub fn tick(&mut self, now: Instant) {
        self.take_back_from_slow(now);
        self.look_at_silent(now);
        self.serve_queue(now);
        self.time_out(now);
        self.watch_load(now);
        self.press_slow(now);
        self.enforce_request_timeouts(now);
        self.look_at_remains();
    }

    /// Whether no request is running or queued.
    pub fn is_quiet(&self) -> bool {
        self.busy == 0 && self.queued == 0 && self.ending == 0
    }

    pub fn is_draining(&self) -> bool {
        self.draining
    }

    /// Whether replies of `worker` may be for a front that has died.
    pub fn is_adopted(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(|worker| worker.adopted && worker.state != WorkerState::Gone)
    }

    pub fn current(&self, worker: WorkerId) -> Option<RequestId> {
        self.workers.get(&worker)?.current
    }

    /// All workers, ordered by id.
    pub fn workers(&self) -> impl Iterator<Item = (WorkerId, &PoolWorker)> {
        self.workers.iter().map(|(id, worker)| (*id, worker))
    }

    /// Number of idle workers.
    pub fn idle(&self) -> u32 {
        self.idle.len() as u32
    }

    /// Number of busy workers.
    pub fn busy(&self) -> u32 {
        self.busy
    }

    /// Number of queued requests, including those sent ahead.
    pub fn queued(&self) -> u32 {
        self.queued
    }

    /// Sum of all workers' busy time until `now`.
    pub fn worked(&self, now: Instant) -> Duration {
        let (worked, until) = self.worked;
        worked + now.saturating_duration_since(until) * self.busy
    }

    /// The queue, read-only.
    pub fn queue(&self) -> &Queue<RequestId> {
        &self.queue
    }
}
