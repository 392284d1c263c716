//! The workers of one generation and the requests that want one, as a state machine without I/O: events go in as method
//! calls, [`Action`]s come out of [`Pool::next_action`]. It has no clock, no socket and no task; whoever drives it does
//! every action, in order, before the next event.
//!
//! ```text
//!   submit ────────────▶ ┌──────┐ ──▶ Send, Begin, TakeBack, TellAbandoned …   to workers
//!   ready, ended, gone ▶ │ Pool │ ──▶ Over, Fail, WaitAgain, Spill             to requests
//!   client_gone, tick ─▶ └──────┘ ──▶ Leaves, Kill, Interrupt, Look            to the master and the kernel
//! ```
//!
//! The next request goes to the worker that was busy last, so that its caches are warm and spare workers stay untouched.

mod action;
mod concurrency;
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
pub use rate::{ClientId, TooFast};
pub use request::{NewRequest, RequestId, RequestTimeouts};
pub use stretch::Stretch;
pub use worker::Worker;

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use wire::control::{WorkerId, WorkerState};
use wire::reply::LeaveReason;

use crate::base::failure::Failure;
use concurrency::UnderWay;
use config::scheduling::{PoolShare, SpeedLimit};
use patience::Patience;
use prefetch::Pace;
use queue::{Queue, Sizes};
use rate::Clients;
use request::{Request, Stage};
use stretch::TimedStretch;

#[derive(Debug)]
pub struct Pool {
    workers: BTreeMap<WorkerId, Worker>,
    requests: FxHashMap<RequestId, Request>,
    /// The last is the one that was busy last.
    idle: Vec<WorkerId>,
    queue: Queue<RequestId>,
    /// Requests that somebody waits for and nobody has begun, those included that were sent ahead.
    queued: u32,
    busy: u32,
    /// So many workers may have a request at one time; the others are idle although requests wait.
    most_busy: u32,
    /// For how long workers have had requests, all together, until that moment.
    worked: (Duration, Instant),
    /// Requests that were sent ahead.
    ahead: u32,
    /// Requests that have ended where their worker is, and not here.
    ending: u32,
    /// Workers that a slow client holds up.
    held: u32,
    /// The worker that had been idle and was given a request last, and when.
    latest: Option<(WorkerId, Instant)>,
    pace: Pace,
    /// How fast clients ask, where that is limited.
    clients: Clients,
    under_way: UnderWay,
    /// With clients that are too slow.
    patience: Patience,
    draining: bool,
    actions: VecDeque<Action>,
}

/// A worker said what it may not say where it is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfTurn(pub &'static str);

impl Pool {
    /// Without workers, with a lane of the queue for each share.
    pub fn new<'a>(sizes: Sizes, shares: impl Iterator<Item = &'a PoolShare>, now: Instant) -> Pool {
        Pool {
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
            patience: Patience::default(),
            draining: false,
            actions: VecDeque::new(),
        }
    }

    /// What is to be done next.
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn act(&mut self, action: Action) {
        self.actions.push_back(action);
    }

    /// A worker was asked of the mold, or is taken over from a front that has died.
    pub fn add(&mut self, worker: WorkerId, adopted: bool, now: Instant) {
        self.workers.insert(worker, Worker::new(adopted, now));
        if self.draining {
            self.ask_to_leave(worker, now);
        }
    }

    /// A worker waits for its first request.
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

    /// A worker has said something about this request. Whether it may: each thread of the front hears what is for its own
    /// requests, so the first word of one may be heard before the last word of the one before.
    pub fn heard_of(&mut self, worker: WorkerId, id: RequestId, now: Instant) -> Result<(), OutOfTurn> {
        let Some(speaker) = self.workers.get_mut(&worker) else { return Ok(()) };
        if speaker.current == Some(id) || speaker.ending.contains(&id) {
            return Ok(());
        }
        if !speaker.ahead.contains(&id) {
            return Err(OutOfTurn("an answer to no request"));
        }
        while self.current(worker) != Some(id) {
            self.pass(worker, now);
            self.begin_next(worker, now);
        }
        self.send_ahead(worker);
        Ok(())
    }

    /// The request that `worker` has must have ended there.
    fn pass(&mut self, worker: WorkerId, now: Instant) {
        let Some(id) = self.vacate(worker, now) else { return };
        self.set_held(worker, false);
        if let Some(request) = self.requests.get_mut(&id) {
            request.stage = Stage::Ending;
        }
        if let Some(passed) = self.workers.get_mut(&worker) {
            passed.ending.push_back(id);
            self.ending += 1;
        }
    }

    /// A worker has said everything about a request; `leaving`: and will take no other.
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
        // Its share has a place again: one that waited for that may have any worker that is idle.
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

    /// What `worker` does when it has ended the request that it had.
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

    /// Gives `worker` the next request that waits, or lets it rest, or leave.
    fn free(&mut self, worker: WorkerId, now: Instant) {
        self.rest(worker, now);
        if self.ahead > 0 && self.queue.peek().is_none() {
            // What it gives back is served at once.
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
            return self.ask_to_leave(worker, now);
        }
        resting.enter(WorkerState::Idle, now);
        self.idle.push(worker);
    }

    /// `worker` has this request from now on.
    fn occupy(&mut self, worker: WorkerId, id: RequestId, now: Instant) {
        if let Some(busy) = self.workers.get_mut(&worker) {
            busy.current = Some(id);
            busy.logging = false;
            busy.remains = None;
            busy.enter(WorkerState::Busy, now);
            busy.look_at = Some(now + stuck::LOOK);
        }
        if let Some(request) = self.requests.get_mut(&id) {
            request.stage = Stage::Running(worker);
            request.started_at = now;
            request.timed = TimedStretch::begin(Stretch::Answer, now);
            let is_charged = request.charged_to.is_some_and(|client| self.clients.begin(client, now));
            request.charged_since = is_charged.then_some(now);
        }
        self.worked = (self.worked(now), now);
        self.busy += 1;
    }

    fn vacate(&mut self, worker: WorkerId, now: Instant) -> Option<RequestId> {
        let id = self.workers.get_mut(&worker)?.current.take()?;
        self.worked = (self.worked(now), now);
        self.busy -= 1;
        if let Some(request) = self.requests.get_mut(&id)
            && let (Some(client), Some(since)) = (request.charged_to, request.charged_since.take())
        {
            self.clients.end(client, since, now);
        }
        Some(id)
    }

    /// Counts a request of `client` where its speed is limited, or refuses it.
    pub fn keep_pace(&mut self, limit: &SpeedLimit, client: IpAddr, now: Instant) -> Result<ClientId, TooFast> {
        self.clients.enter(limit, client, now)
    }

    /// From now on at most so many workers have a request at one time, and one in any case; shares are parts of that.
    pub fn admit(&mut self, most: u32, now: Instant) {
        self.most_busy = most.max(1);
        self.queue.resize(self.most_busy);
        self.serve_queue(now);
    }

    /// The worker that gets the next request, if any may.
    fn next_idle(&self) -> Option<WorkerId> {
        self.idle.last().copied().filter(|_| self.busy < self.most_busy)
    }

    /// Asks up to `count` idle workers to leave, those first that were idle longest.
    pub fn leave_idle(&mut self, count: usize, now: Instant) {
        let leaving: Vec<WorkerId> = self.idle.drain(..count.min(self.idle.len())).collect();
        leaving.into_iter().for_each(|worker| self.ask_to_leave(worker, now));
    }

    /// Asks `worker` to leave, at once or when it has no request any more.
    pub fn dismiss(&mut self, worker: WorkerId, now: Instant) {
        let Some(dismissed) = self.workers.get_mut(&worker) else { return };
        dismissed.dismissed = true;
        if let Some(at) = self.idle.iter().position(|idle| *idle == worker) {
            self.idle.remove(at);
            self.ask_to_leave(worker, now);
        } else {
            self.take_back(worker);
        }
    }

    fn ask_to_leave(&mut self, worker: WorkerId, now: Instant) {
        if let Some(asked) = self.workers.get_mut(&worker) {
            asked.enter(WorkerState::Retiring, now);
            self.act(Action::AskToLeave(worker));
        }
    }

    /// No new requests will come: workers leave as soon as nothing waits.
    pub fn drain(&mut self, now: Instant) {
        self.draining = true;
        if self.queued == 0 {
            self.leave_idle(usize::MAX, now);
        }
        let is_away = |worker: &Worker| worker.state == WorkerState::Starting || worker.adopted;
        let away: Vec<WorkerId> = self.workers.iter().filter(|(_, w)| is_away(w)).map(|(id, _)| *id).collect();
        away.into_iter().for_each(|worker| self.ask_to_leave(worker, now));
    }

    /// Lets go of all workers; what was sent to them they still receive.
    pub fn close(&mut self, now: Instant) {
        let all: Vec<WorkerId> = self.workers.keys().copied().collect();
        all.into_iter().for_each(|worker| self.lose(worker, Failure::WorkerGone, now));
    }

    /// Ends what has waited or run for too long. To be called every few milliseconds while something waits or runs.
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

    /// The slow client of this request holds `worker` up: the time limit stands still until [`Pool::resumed`]. `stuck`: although
    /// its answer may be stored.
    pub fn hold(&mut self, worker: WorkerId, id: RequestId, stuck: bool) {
        if self.current(worker) != Some(id) {
            return;
        }
        self.set_held(worker, true);
        if let Some(held) = self.workers.get_mut(&worker) {
            held.stuck = stuck;
        }
        if self.queued > 0 && !stuck {
            // It came to wait while the worker was not held.
            self.act(Action::Spill(id));
        }
    }

    /// The slow client of this request held `worker` up for so long.
    pub fn resumed(&mut self, worker: WorkerId, id: RequestId, after: Duration) {
        if self.current(worker) == Some(id) {
            self.set_held(worker, false);
            if let Some(request) = self.requests.get_mut(&id) {
                request.started_at += after;
                request.timed.since += after;
            }
        }
    }

    fn set_held(&mut self, worker: WorkerId, held: bool) {
        let Some(worker) = self.workers.get_mut(&worker) else { return };
        match (std::mem::replace(&mut worker.held, held), held) {
            (false, true) => self.held += 1,
            (true, false) => self.held -= 1,
            _ => {}
        }
    }

    /// Whether nothing is under way or waits.
    pub fn is_quiet(&self) -> bool {
        self.busy == 0 && self.queued == 0 && self.ending == 0
    }

    /// Whether it was told to drain.
    pub fn is_draining(&self) -> bool {
        self.draining
    }

    /// What `worker` says may be for a front that has died.
    pub fn is_adopted(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(|worker| worker.adopted && worker.state != WorkerState::Gone)
    }

    /// The request that `worker` has.
    pub fn current(&self, worker: WorkerId) -> Option<RequestId> {
        self.workers.get(&worker)?.current
    }

    /// Its workers, by their ids.
    pub fn workers(&self) -> impl Iterator<Item = (WorkerId, &Worker)> {
        self.workers.iter().map(|(id, worker)| (*id, worker))
    }

    /// How many workers wait for a request.
    pub fn idle(&self) -> u32 {
        self.idle.len() as u32
    }

    /// How many workers have a request.
    pub fn busy(&self) -> u32 {
        self.busy
    }

    /// How many requests wait.
    pub fn queued(&self) -> u32 {
        self.queued
    }

    /// For how long workers have had requests, all together.
    pub fn worked(&self, now: Instant) -> Duration {
        let (worked, until) = self.worked;
        worked + now.saturating_duration_since(until) * self.busy
    }

    /// The queue, to look at.
    pub fn queue(&self) -> &Queue<RequestId> {
        &self.queue
    }
}
