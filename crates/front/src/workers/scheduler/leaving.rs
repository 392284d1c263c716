//! Workers that leave: asked by the front, or of their own.

use std::time::Instant;

use wire::control::{WorkerId, WorkerState};
use wire::reply::LeaveReason;

use super::{Action, PoolWorker, Scheduler};

impl Scheduler {
    /// Asks up to `count` idle workers to leave, the longest idle first.
    pub fn leave_idle(&mut self, count: usize, now: Instant) {
        let leaving: Vec<WorkerId> = self.idle.drain(..count.min(self.idle.len())).collect();
        leaving.into_iter().for_each(|worker| self.order_to_leave(worker, now));
    }

    /// Asks `worker` to leave, at once or after its current request.
    pub fn dismiss(&mut self, worker: WorkerId, now: Instant) {
        let Some(dismissed) = self.workers.get_mut(&worker) else { return };
        dismissed.dismissed = true;
        if let Some(at) = self.idle.iter().position(|idle| *idle == worker) {
            self.idle.remove(at);
            self.order_to_leave(worker, now);
        } else {
            self.take_back(worker);
        }
    }

    /// Handles a worker that asks to leave although it has no request of this scheduler. Returns whether it may.
    pub fn leaves(&mut self, worker: WorkerId, reason: LeaveReason, now: Instant) -> bool {
        let Some(at) = self.idle.iter().position(|idle| *idle == worker) else { return false };
        self.idle.remove(at);
        if let Some(leaving) = self.workers.get_mut(&worker) {
            leaving.enter(WorkerState::Retiring, now);
        }
        self.act(Action::Leaves { worker, reason });
        true
    }

    pub(super) fn order_to_leave(&mut self, worker: WorkerId, now: Instant) {
        if let Some(entry) = self.workers.get_mut(&worker) {
            entry.enter(WorkerState::Retiring, now);
            self.act(Action::AskToLeave(worker));
        }
    }

    /// Begins to drain: no new requests arrive, and workers leave as soon as the queue is empty.
    pub fn drain(&mut self, now: Instant) {
        self.draining = true;
        if self.queued == 0 {
            self.leave_idle(usize::MAX, now);
        }
        let is_away = |worker: &PoolWorker| worker.state == WorkerState::Starting || worker.adopted;
        let away: Vec<WorkerId> = self.workers.iter().filter(|(_, w)| is_away(w)).map(|(id, _)| *id).collect();
        away.into_iter().for_each(|worker| self.order_to_leave(worker, now));
    }
}
