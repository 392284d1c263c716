//! Lost workers: requests that they had not begun are queued again, others fail.

use std::time::Instant;

use wire::control::{ExitReason, WorkerId, WorkerState};

use super::request::{RequestId, RequestStage};
use super::{Action, Cause, Scheduler};
use crate::base::failure::Failure;

impl Scheduler {
    /// Handles the end of a worker: its current request is lost.
    pub fn gone(&mut self, worker: WorkerId, now: Instant) {
        self.lose(worker, Failure::WorkerGone, now);
    }

    /// Has a broken worker killed; its requests fail with `failure`.
    pub fn discard(&mut self, worker: WorkerId, reason: impl Into<String>, failure: Failure, now: Instant) {
        if self.workers.get(&worker).is_some_and(|discarded| discarded.state != WorkerState::Gone) {
            let exit = match failure {
                Failure::RequestTimeout => ExitReason::RequestTimeout,
                _ => ExitReason::Unsound,
            };
            self.act(Action::Kill { worker, reason: reason.into(), exit });
            self.lose(worker, failure, now);
        }
    }

    pub(super) fn lose(&mut self, worker: WorkerId, failure: Failure, now: Instant) {
        let Some(lost) = self.workers.get_mut(&worker).filter(|lost| lost.lost.is_none()) else { return };
        lost.enter(WorkerState::Gone, now);
        lost.lost = Some(failure);
        self.idle.retain(|other| *other != worker);
        self.act(Action::TakeBack(worker));
    }

    /// Fails all requests that a lost worker has not given back.
    pub(super) fn bury(&mut self, worker: WorkerId, now: Instant) {
        self.set_held(worker, false);
        let current = self.vacate(worker, now);
        let Some(lost) = self.workers.remove(&worker) else { return };
        let failure = lost.lost.unwrap_or(Failure::WorkerGone);
        for request in lost.ending {
            self.ending -= 1;
            self.fail_begun(request, failure, Cause::Lost(worker));
        }
        // The end of the last response may be lost, too, so the worker may have begun requests that were sent ahead.
        for request in lost.ahead {
            self.ahead -= 1;
            self.fail_begun(request, failure, Cause::PerhapsBegun);
        }
        if let Some(request) = current {
            let cause = if lost.logging { Cause::LostCleanups(worker) } else { Cause::Lost(worker) };
            self.fail_begun(request, failure, cause);
        }
        self.act(Action::Forget(worker));
        self.serve_queue(now);
    }

    pub(super) fn fail_begun(&mut self, id: RequestId, failure: Failure, cause: Cause) {
        let Some(request) = self.requests.remove(&id) else { return };
        if matches!(request.stage, RequestStage::Ahead(_)) && !request.abandoned {
            self.queued -= 1;
        }
        self.queue.release(request.lane, None);
        self.act(Action::Fail { request: id, failure, cause });
    }
}
