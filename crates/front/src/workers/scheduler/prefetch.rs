//! Prefetch: requests that are sent to a busy worker ahead of time.
//!
//! A sleep and wake-up of a process takes longer than a small request. While requests are quick, a busy worker is sent
//! several more, so that it continues without sleeping; while they are short, one more. Prefetched requests are not
//! bound to their worker: one that becomes idle, slow, leaves or dies gives them back. Exactly one of front and worker
//! gets each request.

use std::time::{Duration, Instant};

use wire::control::{WorkerId, WorkerState};
use wire::memory::orders::SLOTS;

use super::request::{RequestId, RequestStage};
use super::{Action, PoolWorker, Scheduler};
use crate::base::failure::Failure;

/// Mean time of requests, in µs, below which a worker gets several requests ahead.
const QUICK: u64 = 500;
/// Mean time of requests, in µs, below which a worker gets one request ahead, so that it need not sleep between two.
const SHORT: u64 = 5000;
/// Time after an idle worker got a request during which further quick requests join it; see `joins`.
const TOGETHER: Duration = Duration::from_micros(100);
/// Limits, in µs, on the expected time of a worker's current and prefetched requests: while other workers are idle, and
/// while none is.
const AMONG_IDLE: u64 = 300;
const AMONG_BUSY: u64 = 1500;
/// A worker whose current request takes longer than this, and longer than this multiple of the mean, gives back its
/// prefetched requests.
const SLOW: Duration = Duration::from_millis(2);
const MUCH_SLOWER: u64 = 3;
/// Upper limit of [`Scheduler::slack`]: clients wait that much longer for their responses.
const MAX_SLACK: Duration = Duration::from_millis(1);
/// Slots in a worker's memory, less one for the current request.
const MAX_AHEAD: usize = SLOTS - 1;

/// Moving average of a request's time in a worker, in µs.
#[derive(Debug)]
pub(super) struct Pace(u64);

impl Default for Pace {
    /// Initially unknown: no request counts as quick or short.
    fn default() -> Pace {
        Pace(u64::MAX / 16)
    }
}

impl Pace {
    pub fn remember(&mut self, took: Duration) {
        self.0 = (self.0 * 7 + took.as_micros() as u64) / 8;
    }

    /// A pace after many quick requests.
    #[cfg(test)]
    pub fn quick() -> Pace {
        Pace(0)
    }

    /// A pace after many short requests.
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

    /// Whether `at_work` is too long for one request.
    fn is_slow(&self, at_work: Duration) -> bool {
        at_work >= SLOW.max(Duration::from_micros(self.of(1).saturating_mul(MUCH_SLOWER)))
    }

    /// Expected time of `requests` requests, in µs.
    fn of(&self, requests: usize) -> u64 {
        self.0.saturating_mul(requests as u64)
    }
}

impl Scheduler {
    /// Lets `worker` begin a prefetched request, and sends more ahead. False if it has none.
    pub(super) fn go_on(&mut self, worker: WorkerId, now: Instant) -> bool {
        let begins = self.begin_next(worker, now);
        if begins {
            self.send_ahead(worker);
        }
        begins
    }

    /// Lets `worker` begin its oldest prefetched request. False if it has none.
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

    /// Sends queued requests ahead to `worker` while requests are quick or short.
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

    /// A worker that got its request just now and has probably not begun it. It gets the next quick requests, too,
    /// because waking another worker takes longer.
    pub(super) fn joins(&self, now: Instant) -> Option<WorkerId> {
        let (worker, since) = self.latest?;
        let is_fresh = now.saturating_duration_since(since) < TOGETHER;
        (is_fresh && self.can_take_ahead(worker, AMONG_IDLE)).then_some(worker)
    }

    pub(super) fn put_ahead(&mut self, worker: WorkerId, id: RequestId) {
        if let Some(request) = self.requests.get_mut(&id) {
            request.stage = RequestStage::Ahead(worker);
        }
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.ahead.push_back(id);
        }
        self.ahead += 1;
        self.act(Action::Send { worker, request: id, ahead: true });
    }

    /// Whether `worker` may be sent one more request, with an expected total time of at most `most` µs.
    fn can_take_ahead(&self, worker: WorkerId, most: u64) -> bool {
        self.workers.get(&worker).is_some_and(|worker| {
            let ahead = worker.ahead.len();
            let is_at_work = worker.state == WorkerState::Busy && !worker.adopted && !worker.dismissed;
            is_at_work && ahead < MAX_AHEAD && self.pace.of(ahead + 2) <= most
        })
    }

    /// A worker with more prefetched requests than it may have while others are idle.
    pub(super) fn overloaded(&self) -> Option<WorkerId> {
        self.workers.iter().find(|(_, worker)| self.pace.of(worker.ahead.len()) > AMONG_IDLE).map(|(id, _)| *id)
    }

    /// Has the requests taken back that `worker` has not begun, perhaps including its current one.
    pub(super) fn take_back(&mut self, worker: WorkerId) {
        if self.workers.get(&worker).is_some_and(|worker| !worker.ahead.is_empty()) {
            self.act(Action::TakeBack(worker));
        }
    }

    /// Handles the result of [`Action::TakeBack`]: these requests, oldest first, will not reach `worker`.
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

    /// Removes the request from those sent ahead to `worker`. False if it is not among them.
    pub(super) fn forget_ahead(&mut self, worker: WorkerId, id: RequestId) -> bool {
        let Some(worker) = self.workers.get_mut(&worker) else { return false };
        let Some(at) = worker.ahead.iter().position(|ahead| *ahead == id) else { return false };
        worker.ahead.remove(at);
        self.ahead -= 1;
        true
    }

    /// How long the front may let events accumulate, because every worker is busy, has a prefetched request, and others
    /// wait. Waking for each event finds cold caches, which costs more than the event itself.
    pub fn slack(&self) -> Duration {
        if self.pace.is_quick() || !self.pace.is_short() {
            return Duration::ZERO;
        }
        let is_full = self.idle.is_empty() && self.held == 0 && self.queue.peek().is_some();
        let has_next = |worker: &PoolWorker| worker.state == WorkerState::Busy && !worker.ahead.is_empty();
        if !is_full || !self.workers.values().all(has_next) {
            return Duration::ZERO;
        }
        Duration::from_micros(self.pace.of(1) / 2).min(MAX_SLACK)
    }

    /// Takes prefetched requests back from workers that are slower than expected.
    pub(super) fn take_back_from_slow(&mut self, now: Instant) {
        if self.ahead == 0 {
            return;
        }
        let is_slow = |since: Instant| self.pace.is_slow(now.duration_since(since));
        let slow: Vec<_> = self.workers.iter().filter(|(_, worker)| is_slow(worker.since)).map(|(id, _)| *id).collect();
        slow.into_iter().for_each(|worker| self.take_back(worker));
    }
}
