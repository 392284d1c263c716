//! `RequestTimeout`: what happens to a request that is in Perl for too long.
//!
//! ```text
//!   0 ─────────── RequestTimeout ───── half of the grace ───── RequestTimeoutGrace
//!     works         told: dies           told again: where       killed: 504
//!                   with its stack       it is stuck
//! ```
//!
//! Time in which a slow client holds the worker up does not count. A program that asks for more time starts anew.

use std::time::{Duration, Instant};

use wire::control::WorkerId;

use super::request::{Request, RequestId};
use super::{Action, Pool};
use crate::front::base::failure::Failure;

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
        let due: Vec<_> =
            running.filter_map(|(worker, id)| Some((worker, id, due(self.requests.get(&id)?, now)))).collect();
        for (worker, request, due) in due {
            match due {
                Due::Nothing => {}
                Due::Interrupt => self.interrupt(worker, request),
                Due::Kill => {
                    self.discard(worker, "has worked on one request for too long", Failure::RequestTimeout, now);
                }
            }
        }
    }

    fn interrupt(&mut self, worker: WorkerId, id: RequestId) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        request.interrupts += 1;
        let first = request.interrupts == 1;
        self.act(Action::Interrupt { worker, request: id, first });
    }

    /// The program asked for more time.
    pub fn extend(&mut self, id: RequestId, more: Duration) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        if !request.timeouts.run.is_zero() {
            request.timeouts.run = request.timeouts.run.saturating_add(more);
        }
        request.interrupts = 0;
    }
}

fn due(request: &Request, now: Instant) -> Due {
    let (run, grace) = (request.timeouts.run, request.timeouts.grace);
    // It may have been moved on past this moment.
    let worked = now.saturating_duration_since(request.started_at);
    if run.is_zero() || worked < run {
        return Due::Nothing;
    }
    if worked >= run.saturating_add(grace) {
        return Due::Kill;
    }
    match request.interrupts {
        0 => Due::Interrupt,
        1 if worked >= run.saturating_add(grace / 2) => Due::Interrupt,
        _ => Due::Nothing,
    }
}
