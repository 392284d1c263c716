//! Workers that do not take what they are given, because they are stopped or stuck in the kernel.

use std::rc::Rc;
use std::time::{Duration, Instant};

use wire::control::WorkerState;

use super::pool::Pool;
use super::worker::Worker;

/// An idle worker takes a request within microseconds; on a machine that is busy beyond reason, within milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);

impl Pool {
    /// Takes back what a worker was given and has not taken, for another one, and has that worker killed.
    pub(super) fn give_up_stuck(&self, now: Instant) {
        let in_doubt = |worker: &&Rc<Worker>| {
            let waits = worker.state() == WorkerState::Busy && !worker.begun.get();
            waits && worker.can_take_back() && now.duration_since(worker.since()) >= PATIENCE
        };
        for worker in self.workers().iter().filter(in_doubt) {
            // What is still there has not been begun; when it is not, the worker has it.
            self.recover(worker);
            if worker.exchange.borrow().is_some() {
                worker.begun.set(true);
            } else {
                self.discard(worker, &format!("is stuck: it has not taken its request for {PATIENCE:?}"));
            }
        }
    }
}
