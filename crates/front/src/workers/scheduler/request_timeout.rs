//! `RequestTimeout`: enforcement of the time limit on a request in Perl.
//!
//! ```text
//!   0 ─────────── RequestTimeout ───── half of the grace ───── RequestTimeoutGrace
//!     works         interrupted: dies    interrupted again:      killed: 504
//!                   with its stack       logs where it is stuck
//! ```
//!
//! Time in which a slow client holds up the worker does not count. The limit starts anew when the program asks for more
//! time, and for the cleanups. The limit also starts anew for the rest: destructors of what the request has left, until
//! the worker waits for its next request.

use std::time::{Duration, Instant};

use wire::control::{WorkerId, WorkerState};

use super::request::{Remains, Request, RequestId, RequestTimeouts};
use super::stretch::{Stretch, TimedStretch};
use super::{Action, Scheduler};
use crate::base::failure::Failure;

/// The action that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutAction {
    Nothing,
    Interrupt,
    Kill,
}

impl Scheduler {
    pub(super) fn enforce_request_timeouts(&mut self, now: Instant) {
        let running = self.workers.iter().filter(|(_, worker)| !worker.held);
        let running = running.filter_map(|(worker, state)| Some((*worker, state.current?)));
        let due: Vec<_> = running
            .filter_map(|(worker, id)| {
                let request = self.requests.get(&id)?;
                Some((worker, id, request.timed.stretch, due(&request.timeouts, &request.timed, now)))
            })
            .collect();
        for (worker, request, stretch, due) in due {
            match due {
                TimeoutAction::Nothing => {}
                TimeoutAction::Interrupt => self.interrupt(worker, request),
                TimeoutAction::Kill => self.discard(worker, stretch.why_killed(), Failure::RequestTimeout, now),
            }
        }
    }

    fn interrupt(&mut self, worker: WorkerId, id: RequestId) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        let interrupt = interrupt_of(worker, id, &mut request.timed);
        self.act(interrupt);
    }

    /// Handles the end of a response: its worker now runs cleanups.
    pub fn completed(&mut self, worker: WorkerId, id: RequestId, now: Instant) {
        let speaker = self.workers.get_mut(&worker).filter(|speaker| speaker.current == Some(id));
        if speaker.is_some_and(|speaker| !std::mem::replace(&mut speaker.logging, true))
            && let Some(request) = self.requests.get_mut(&id)
        {
            request.timed = TimedStretch::begin(Stretch::Cleanups, now);
        }
    }

    /// Grants the program more time, up to `RequestTimeoutLimit`.
    pub fn extend(&mut self, id: RequestId, more: Duration) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        let RequestTimeouts { run, most, .. } = request.timeouts;
        let wanted = run.saturating_add(more);
        let granted = if most.is_zero() { wanted } else { wanted.min(most.max(run)) };
        if granted > run && !run.is_zero() {
            request.timeouts.run = granted;
            request.timed.interrupts = 0;
        }
    }

    /// Starts to time `worker` between the end of a request and its wait for the next.
    pub(super) fn watch_remains(&mut self, worker: WorkerId, id: RequestId, request: &Request, now: Instant) {
        let Some(ended) = self.workers.get_mut(&worker).filter(|_| !request.timeouts.run.is_zero()) else { return };
        let timed = TimedStretch::begin(Stretch::Rest, now);
        ended.remains = Some(Remains { request: id, timeouts: request.timeouts, timed });
    }

    /// Has all workers checked that may not wait for a request yet.
    pub(super) fn look_at_remains(&mut self) {
        let restless: Vec<WorkerId> = self.restless().collect();
        restless.into_iter().for_each(|worker| self.act(Action::LookForRest(worker)));
    }

    /// Idle workers that were not seen waiting since their last request.
    fn restless(&self) -> impl Iterator<Item = WorkerId> {
        let is_restless = |worker: &super::PoolWorker| worker.state == WorkerState::Idle && worker.remains.is_some();
        self.workers.iter().filter(move |(_, worker)| is_restless(worker)).map(|(id, _)| *id)
    }

    /// Whether every idle worker was seen waiting for its next request.
    pub fn is_at_rest(&self) -> bool {
        self.restless().next().is_none()
    }

    /// Handles the result of [`Action::LookForRest`]: whether `worker` waits for a request.
    pub fn looked_for_rest(&mut self, worker: WorkerId, waits: bool, now: Instant) {
        let Some(looked_at) = self.workers.get_mut(&worker) else { return };
        if waits {
            looked_at.remains = None;
            return;
        }
        let Some(remains) = &mut looked_at.remains else { return };
        match due(&remains.timeouts, &remains.timed, now) {
            TimeoutAction::Nothing => {}
            TimeoutAction::Interrupt => {
                let interrupt = interrupt_of(worker, remains.request, &mut remains.timed);
                self.act(interrupt);
            }
            TimeoutAction::Kill => self.discard(worker, Stretch::Rest.why_killed(), Failure::RequestTimeout, now),
        }
    }
}

fn interrupt_of(worker: WorkerId, request: RequestId, timed: &mut TimedStretch) -> Action {
    timed.interrupts += 1;
    Action::Interrupt { worker, request, first: (timed.interrupts == 1).then_some(timed.stretch) }
}

/// The action that is due at `now` for work that began at `timed.since`.
pub fn due(timeouts: &RequestTimeouts, timed: &TimedStretch, now: Instant) -> TimeoutAction {
    let RequestTimeouts { run, grace, .. } = *timeouts;
    // `since` may lie in the future, because a held-up request moves it forward.
    let worked = now.saturating_duration_since(timed.since);
    if run.is_zero() || worked < run {
        return TimeoutAction::Nothing;
    }
    if worked >= run.saturating_add(grace) {
        return TimeoutAction::Kill;
    }
    match timed.interrupts {
        0 => TimeoutAction::Interrupt,
        1 if worked >= run.saturating_add(grace / 2) => TimeoutAction::Interrupt,
        _ => TimeoutAction::Nothing,
    }
}
