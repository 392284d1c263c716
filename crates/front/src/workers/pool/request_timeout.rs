//! `RequestTimeout`: what happens to a request that is in Perl for too long.
//!
//! ```text
//!   0 ─────────── RequestTimeout ───── half of the grace ───── RequestTimeoutGrace
//!     works         told: dies           told again: where       killed: 504
//!                   with its stack       it is stuck
//! ```
//!
//! Time in which a slow client holds the worker up does not count. A program that asks for more time starts anew. So does what
//! comes behind the answer: the cleanups, and what runs behind the request's end until the worker waits for the next one,
//! destructors of what the request has left.

use std::time::{Duration, Instant};

use wire::control::{WorkerId, WorkerState};

use super::request::{Remains, Request, RequestId, RequestTimeouts};
use super::stretch::{Stretch, TimedStretch};
use super::{Action, Pool};
use crate::base::failure::Failure;

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Nothing,
    Interrupt,
    Kill,
}

impl Pool {
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
                Due::Nothing => {}
                Due::Interrupt => self.interrupt(worker, request),
                Due::Kill => self.discard(worker, stretch.why_killed(), Failure::RequestTimeout, now),
            }
        }
    }

    fn interrupt(&mut self, worker: WorkerId, id: RequestId) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        let interrupt = told(worker, id, &mut request.timed);
        self.act(interrupt);
    }

    /// The answer to this request is whole; its worker cleans up.
    pub fn completed(&mut self, worker: WorkerId, id: RequestId, now: Instant) {
        let speaker = self.workers.get_mut(&worker).filter(|speaker| speaker.current == Some(id));
        if speaker.is_some_and(|speaker| !std::mem::replace(&mut speaker.logging, true))
            && let Some(request) = self.requests.get_mut(&id)
        {
            request.timed = TimedStretch::begin(Stretch::Cleanups, now);
        }
    }

    /// The program asked for more time. It gets as much as `RequestTimeoutLimit` leaves.
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

    /// `worker` has said the end of that request: now it puts itself in order for the next one.
    pub(super) fn watch_remains(&mut self, worker: WorkerId, id: RequestId, request: &Request, now: Instant) {
        let Some(ended) = self.workers.get_mut(&worker).filter(|_| !request.timeouts.run.is_zero()) else { return };
        let timed = TimedStretch::begin(Stretch::Rest, now);
        ended.remains = Some(Remains { request: id, timeouts: request.timeouts, timed });
    }

    /// Has those looked at that may not have come to rest yet.
    pub(super) fn look_at_remains(&mut self) {
        let restless: Vec<WorkerId> = self.restless().collect();
        restless.into_iter().for_each(|worker| self.act(Action::LookForRest(worker)));
    }

    /// Idle workers that were not seen to wait since their last request.
    fn restless(&self) -> impl Iterator<Item = WorkerId> {
        let is_restless = |worker: &super::Worker| worker.state == WorkerState::Idle && worker.remains.is_some();
        self.workers.iter().filter(move |(_, worker)| is_restless(worker)).map(|(id, _)| *id)
    }

    /// Whether every idle worker was seen to wait for its next request.
    pub fn is_at_rest(&self) -> bool {
        self.restless().next().is_none()
    }

    /// Whether `worker` waits for a request.
    pub fn looked_for_rest(&mut self, worker: WorkerId, waits: bool, now: Instant) {
        let Some(looked_at) = self.workers.get_mut(&worker) else { return };
        if waits {
            looked_at.remains = None;
            return;
        }
        let Some(remains) = &mut looked_at.remains else { return };
        match due(&remains.timeouts, &remains.timed, now) {
            Due::Nothing => {}
            Due::Interrupt => {
                let interrupt = told(worker, remains.request, &mut remains.timed);
                self.act(interrupt);
            }
            Due::Kill => self.discard(worker, Stretch::Rest.why_killed(), Failure::RequestTimeout, now),
        }
    }
}

fn told(worker: WorkerId, request: RequestId, timed: &mut TimedStretch) -> Action {
    timed.interrupts += 1;
    Action::Interrupt { worker, request, first: (timed.interrupts == 1).then_some(timed.stretch) }
}

fn due(timeouts: &RequestTimeouts, timed: &TimedStretch, now: Instant) -> Due {
    let RequestTimeouts { run, grace, .. } = *timeouts;
    // It may have been moved on past this moment.
    let worked = now.saturating_duration_since(timed.since);
    if run.is_zero() || worked < run {
        return Due::Nothing;
    }
    if worked >= run.saturating_add(grace) {
        return Due::Kill;
    }
    match timed.interrupts {
        0 => Due::Interrupt,
        1 if worked >= run.saturating_add(grace / 2) => Due::Interrupt,
        _ => Due::Nothing,
    }
}
