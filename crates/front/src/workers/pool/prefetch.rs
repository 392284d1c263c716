//! Requests that are sent to a busy worker ahead of time.
//!
//! To put a process to sleep and wake it takes longer than a small request does. While requests are that quick, a busy
//! worker is sent the next ones, so that it goes on without sleeping; while they are short, it is sent the next one. They stay
//! everybody's: a worker that becomes idle, turns out slow, leaves or dies gives them back to the queue, and of the front and the
//! worker exactly one gets each.

use std::time::{Duration, Instant};

use wire::control::{WorkerId, WorkerState};
use wire::memory::orders::SLOTS;

use super::request::{RequestId, Stage};
use super::{Action, Pool, Worker};
use crate::base::failure::Failure;

/// Up to this typical time, in microseconds, a worker is sent several requests ahead; up to the second, one, so that it need not sleep
/// between two.
const QUICK: u64 = 500;
const SHORT: u64 = 5000;
/// Requests that come so soon one after the other come together.
const TOGETHER: Duration = Duration::from_micros(100);
/// What a worker has and what it is sent ahead may typically take so long, in microseconds: while others are idle, and while none is.
const AMONG_IDLE: u64 = 300;
const AMONG_BUSY: u64 = 1500;
/// A worker that is at one request for longer, and for longer than this many typical ones take, gives back what it was sent ahead.
const SLOW: Duration = Duration::from_millis(2);
const MUCH_SLOWER: u64 = 3;
/// The most that [`Pool::slack`] is: clients wait for their answers so much longer.
const MAX_SLACK: Duration = Duration::from_millis(1);
/// As many as there are slots in a worker's memory, beside the one that it has begun.
const MAX_AHEAD: usize = SLOTS - 1;

/// A moving average of what a request takes a worker, in microseconds.
#[derive(Debug)]
pub(super) struct Pace(u64);

impl Default for Pace {
    /// Nothing is known yet: no request is taken for quick.
    fn default() -> Pace {
        Pace(u64::MAX / 16)
    }
}

impl Pace {
    pub fn remember(&mut self, took: Duration) {
        self.0 = (self.0 * 7 + took.as_micros() as u64) / 8;
    }

    /// Requests were quick for long.
    #[cfg(test)]
    pub fn quick() -> Pace {
        Pace(0)
    }

    /// Requests were short for long.
    #[cfg(test)]
    pub fn short() -> Pace {
        Pace(1000)
    }

    fn is_quick(&self) -> bool {
        self.0 < QUICK
    }

    fn is_short(&self) -> bool {
        self.0 < SHORT
    }

    /// What is too long for one request.
    fn is_slow(&self, at_work: Duration) -> bool {
        at_work >= SLOW.max(Duration::from_micros(self.of(1).saturating_mul(MUCH_SLOWER)))
    }

    /// What so many requests take, in microseconds.
    fn of(&self, requests: usize) -> u64 {
        self.0.saturating_mul(requests as u64)
    }
}

impl Pool {
    /// `worker` begins with a request that it was sent ahead, and is sent another.
    pub(super) fn go_on(&mut self, worker: WorkerId, now: Instant) -> bool {
        let begins = self.begin_next(worker, now);
        if begins {
            self.send_ahead(worker);
        }
        begins
    }

    /// `worker` begins with a request that it was sent ahead.
    pub(super) fn begin_next(&mut self, worker: WorkerId, now: Instant) -> bool {
        let Some(next) = self.workers.get_mut(&worker).and_then(|worker| worker.ahead.pop_front()) else {
            return false;
        };
        self.ahead -= 1;
        let is_waited_for = self.requests.get(&next).is_some_and(|request| !request.abandoned);
        self.queued -= u32::from(is_waited_for);
        self.occupy(worker, next, now);
        self.act(Action::Begin { worker, request: next });
        true
    }

    /// Sends requests ahead while that pays.
    pub(super) fn send_ahead(&mut self, worker: WorkerId) {
        let most = if self.pace.is_quick() {
            AMONG_BUSY
        } else if self.pace.is_short() {
            self.pace.of(2)
        } else {
            return;
        };
        while self.can_take_ahead(worker, most) {
            let Some(id) = self.queue.peek().copied().filter(|id| self.requests.get(id).is_some_and(|r| r.small))
            else {
                return;
            };
            self.queue.pop();
            self.put_ahead(worker, id);
        }
    }

    /// A worker that was given a request a moment ago, and is most likely still on its way to it: while requests take less than it
    /// takes to wake another worker, it does the next ones, too.
    pub(super) fn joins(&self, now: Instant) -> Option<WorkerId> {
        let (worker, since) = self.latest?;
        let is_fresh = now.saturating_duration_since(since) < TOGETHER;
        (is_fresh && self.can_take_ahead(worker, AMONG_IDLE)).then_some(worker)
    }

    pub(super) fn put_ahead(&mut self, worker: WorkerId, id: RequestId) {
        if let Some(request) = self.requests.get_mut(&id) {
            request.stage = Stage::Ahead(worker);
        }
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.ahead.push_back(id);
        }
        self.ahead += 1;
        self.act(Action::Send { worker, request: id, ahead: true });
    }

    /// Whether it may be sent one more, of which none waits there for more than `most` microseconds.
    fn can_take_ahead(&self, worker: WorkerId, most: u64) -> bool {
        self.workers.get(&worker).is_some_and(|worker| {
            let ahead = worker.ahead.len();
            let is_at_work = worker.state == WorkerState::Busy && !worker.adopted && !worker.dismissed;
            is_at_work && ahead < MAX_AHEAD && self.pace.of(ahead + 2) <= most
        })
    }

    /// A worker with more ahead of it than it may have while others are idle.
    pub(super) fn overloaded(&self) -> Option<WorkerId> {
        self.workers.iter().find(|(_, worker)| self.pace.of(worker.ahead.len()) > AMONG_IDLE).map(|(id, _)| *id)
    }

    /// What `worker` was sent ahead and has not begun is to wait in the queue again. Even the request that it seems to work
    /// on may not have been begun.
    pub(super) fn take_back(&mut self, worker: WorkerId) {
        if self.workers.get(&worker).is_some_and(|worker| !worker.ahead.is_empty()) {
            self.act(Action::TakeBack(worker));
        }
    }

    /// These requests, oldest first, lay in the socket of `worker`: it will never see them.
    pub fn taken_back(&mut self, worker: WorkerId, requests: &[RequestId], now: Instant) {
        for id in requests {
            let is_current = self.current(worker) == Some(*id);
            if is_current {
                self.vacate(worker, now);
            }
            if is_current || self.forget_ahead(worker, *id) {
                self.wait_again(*id);
            }
        }
        let Some(left) = self.workers.get_mut(&worker) else { return };
        if left.lost.is_some() {
            return self.bury(worker, now);
        }
        let (is_silent, has_request) = (left.suspected.take(), left.current.is_some());
        match is_silent {
            Some(_) if has_request => left.look_at = None,
            Some(silent) => {
                let reason = format!("is stuck: it has not taken its request for {silent:.1?}");
                return self.discard(worker, reason, Failure::WorkerGone, now);
            }
            None => {}
        }
        if !has_request && left.state == WorkerState::Busy && !left.adopted && !self.go_on(worker, now) {
            self.rest(worker, now);
        }
        self.serve_queue(now);
        if self.draining && self.queued == 0 {
            self.leave_idle(usize::MAX, now);
        }
    }

    /// Says whether it was sent ahead to `worker`.
    pub(super) fn forget_ahead(&mut self, worker: WorkerId, id: RequestId) -> bool {
        let Some(worker) = self.workers.get_mut(&worker) else { return false };
        let Some(at) = worker.ahead.iter().position(|ahead| *ahead == id) else { return false };
        worker.ahead.remove(at);
        self.ahead -= 1;
        true
    }

    /// How long no worker comes to want anything: each is busy and has the next request already, and others wait. For so long the front
    /// may let events come together. To wake for each finds cold caches each time, which costs more than the events do.
    pub fn slack(&self) -> Duration {
        if self.pace.is_quick() || !self.pace.is_short() {
            return Duration::ZERO;
        }
        let is_full = self.idle.is_empty() && self.held == 0 && self.queue.peek().is_some();
        let has_next = |worker: &Worker| worker.state == WorkerState::Busy && !worker.ahead.is_empty();
        if !is_full || !self.workers.values().all(has_next) {
            return Duration::ZERO;
        }
        Duration::from_micros(self.pace.of(1) / 2).min(MAX_SLACK)
    }

    /// Takes back from workers that are slower than was expected.
    pub(super) fn take_back_from_slow(&mut self, now: Instant) {
        if self.ahead == 0 {
            return;
        }
        let is_slow = |since: Instant| self.pace.is_slow(now.duration_since(since));
        let slow: Vec<_> = self.workers.iter().filter(|(_, worker)| is_slow(worker.since)).map(|(id, _)| *id).collect();
        slow.into_iter().for_each(|worker| self.take_back(worker));
    }
}
