//! Workers that do not take what they are given, because they are stopped or stuck in the kernel.

use std::rc::Rc;
use std::time::{Duration, Instant};

use wire::control::WorkerState;

use super::pool::Pool;
use super::worker::Worker;
use crate::sys::is_stopped;

/// An idle worker takes a request within microseconds. After so long, and so often, we look whether it is stopped.
pub const LOOK: Duration = Duration::from_secs(1);
/// On a machine that is short of memory a worker that is well may need seconds to wake: to kill it would make things worse.
const STUCK: Duration = Duration::from_secs(10);

impl Pool {
    /// Takes back what a worker was given and has not taken, for another one, and has that worker killed.
    pub(super) fn give_up_stuck(&self, now: Instant) {
        let is_due = |worker: &&Rc<Worker>| {
            let due = worker.look_at.get().is_some_and(|at| at <= now);
            due && worker.state() == WorkerState::Busy && worker.can_take_back()
        };
        for worker in self.workers().iter().filter(is_due) {
            let waits = now.duration_since(worker.since());
            if waits < STUCK && !is_stopped(worker.pid.get()) {
                worker.look_at.set(Some(now + LOOK));
                continue;
            }
            // What is still there has not been begun; when it is not, the worker has it.
            self.recover(worker);
            if worker.exchange.borrow().is_some() {
                worker.look_at.set(None);
            } else {
                self.discard(worker, &format!("is stuck: it has not taken its request for {waits:.1?}"));
            }
        }
    }
}
