//! Workers that do not take their requests, because their process is stopped or stuck in the kernel.

use std::time::{Duration, Instant};

use wire::control::{WorkerId, WorkerState};

use super::{Action, Scheduler};

/// An idle worker takes a request within microseconds. This is the interval of checks whether it is stopped.
pub(super) const LOOK: Duration = Duration::from_secs(1);
/// On a machine short of memory, a healthy worker may need seconds to wake, and killing it would make matters worse.
const STUCK: Duration = Duration::from_secs(10);

impl Scheduler {
    /// Checks busy workers that may not have taken their request; suspects those that are silent for too long.
    pub(super) fn look_at_silent(&mut self, now: Instant) {
        let due: Vec<WorkerId> = self
            .workers
            .iter()
            .filter(|(_, worker)| worker.look_at.is_some_and(|at| at <= now) && worker.state == WorkerState::Busy)
            .map(|(id, _)| *id)
            .collect();
        for worker in due {
            match self.silent_for(worker, now) >= STUCK {
                true => self.suspect(worker, now),
                false => self.act(Action::Look(worker)),
            }
        }
    }

    /// Handles the result of [`Action::Look`]: whether the process of `worker` is stopped.
    pub fn looked(&mut self, worker: WorkerId, is_stopped: bool, now: Instant) {
        if is_stopped {
            self.suspect(worker, now);
        } else if let Some(well) = self.workers.get_mut(&worker) {
            well.look_at = Some(now + LOOK);
        }
    }

    /// Has the worker's requests taken back. If none comes back, the worker has begun its request.
    fn suspect(&mut self, worker: WorkerId, now: Instant) {
        let silent = self.silent_for(worker, now);
        if let Some(suspect) = self.workers.get_mut(&worker).filter(|worker| worker.lost.is_none()) {
            suspect.suspected = Some(silent);
            self.act(Action::TakeBack(worker));
        }
    }

    fn silent_for(&self, worker: WorkerId, now: Instant) -> Duration {
        self.workers.get(&worker).map(|worker| now.duration_since(worker.since)).unwrap_or_default()
    }
}
