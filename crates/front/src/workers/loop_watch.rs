//! Watches the event loops of workers. Code that computes, or waits without the loop, stops all requests of its
//! worker. A loop that has not read its orders for longer than `RequestTimeout` is interrupted as a request of a
//! blocking worker is; see [`due`].
//!
//! ```text
//!   front ── bell ──▶ orders()      the worker counts a turn in the shared memory
//!         reads the number of turns: the same for RequestTimeout ──▶ Interrupt, Interrupt, Kill
//! ```
//!
//! Only requests without a response are waited for, so an idle worker gets no bells.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;
use wire::control::{FromFront, WorkerId};

use super::scheduler::{RequestTimeouts, Stretch, TimedStretch, TimeoutAction, due};
use super::shared_pool::SharedPool;
use super::streams::{AwaitedRequests, NamedRequests, run};
use super::submitted::Label;
use super::worker::Worker;
use crate::base::failure::Failure;
use crate::base::lock::lock;
use base::log;

/// Longest time between two bells.
const LONGEST_STEP: Duration = Duration::from_secs(1);
/// Part of `RequestTimeout` between two bells.
const STEPS: u32 = 4;

/// The turn of a loop that has not ended so far.
struct Turn {
    number: u64,
    timed: TimedStretch,
    /// The longest timeouts of the requests that were waiting in this turn.
    timeouts: RequestTimeouts,
    requests: NamedRequests,
}

impl Turn {
    fn begin(number: u64, unanswered: &AwaitedRequests, now: Instant) -> Option<Turn> {
        let timed = TimedStretch::begin(Stretch::Response, now);
        let mut turn = Turn { number, timed, timeouts: unanswered.timeouts()?, requests: NamedRequests::default() };
        turn.requests.add(unanswered);
        Some(turn)
    }

    /// Notes that requests have come. Those that have given up still waited for this turn.
    fn wait_also_for(&mut self, unanswered: &AwaitedRequests) {
        if let Some(timeouts) = unanswered.timeouts() {
            self.timeouts = if run(&timeouts) > run(&self.timeouts) { timeouts } else { self.timeouts };
        }
        self.requests.add(unanswered);
    }

    fn step(&self) -> Duration {
        (run(&self.timeouts) / STEPS).min(LONGEST_STEP)
    }
}

impl SharedPool {
    /// Notes a request whose response the worker now begins to make. Returns its number.
    pub(super) fn wait_for_response(
        self: &Arc<Self>,
        worker: WorkerId,
        label: Label,
        timeouts: RequestTimeouts,
    ) -> Option<u64> {
        let mut register = lock(&self.streams.register);
        let unanswered = register.unanswered(worker)?;
        let number = unanswered.add(label, timeouts);
        if !timeouts.run.is_zero() && !std::mem::replace(&mut unanswered.is_watched, true) {
            drop(register);
            let pool = self.clone();
            tokio::task::spawn_local(async move { pool.watch_loop(worker).await });
        }
        Some(number)
    }

    /// Notes that the response has begun, or is not waited for any more.
    pub(super) fn is_answered(&self, worker: WorkerId, number: u64) {
        if let Some(unanswered) = lock(&self.streams.register).unanswered(worker) {
            unanswered.remove(number);
        }
    }

    /// Watches the loop of a worker until it has read its orders and no request waits for a response.
    async fn watch_loop(self: Arc<Self>, id: WorkerId) {
        let mut turn: Option<Turn> = None;
        loop {
            let Some(worker) = self.look(|state| state.workers.get(&id).cloned()) else { return };
            let Some(step) = self.look_at_loop(&worker, &mut turn) else { return };
            drop(worker);
            sleep(step).await;
        }
    }

    /// Returns the time until the next look. `None`: nobody waits, or the worker is killed.
    fn look_at_loop(&self, worker: &Worker, turn: &mut Option<Turn>) -> Option<Duration> {
        let (now, number) = (Instant::now(), worker.memory().turns());
        let mut register = lock(&self.streams.register);
        let unanswered = register.unanswered(worker.id)?;
        let current = match turn {
            Some(current) if current.number == number => {
                current.wait_also_for(unanswered);
                current
            }
            _ => {
                let Some(next) = Turn::begin(number, unanswered, now) else {
                    unanswered.is_watched = false;
                    return None;
                };
                worker.socket().wake();
                turn.insert(next)
            }
        };
        drop(register);
        let step = current.step();
        match due(&current.timeouts, &current.timed, now) {
            TimeoutAction::Nothing => Some(step),
            TimeoutAction::Interrupt => {
                self.log_blocked(worker, current);
                current.timed.interrupts += 1;
                self.send_to_master(FromFront::Interrupt { worker: worker.id, request: number });
                Some(step.min((current.timeouts.grace / STEPS).max(Duration::from_millis(1))))
            }
            TimeoutAction::Kill => {
                self.log_blocked(worker, current);
                let why = "has not come back to its event loop for too long";
                self.discard(worker.id, why, Failure::RequestTimeout);
                None
            }
        }
    }

    fn log_blocked(&self, worker: &Worker, turn: &Turn) {
        if turn.timed.interrupts == 0 {
            let name = self.look(|state| state.name(worker.id));
            let requests = &turn.requests;
            log::warn(
                "front",
                format_args!(
                    "{name} RequestTimeout has passed: its event loop is blocked; waiting requests: {requests}"
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeouts(run: u64) -> RequestTimeouts {
        let (run, other) = (Duration::from_secs(run), Duration::from_secs(1));
        RequestTimeouts { queue: other, run, most: other, grace: other }
    }

    fn label(target: &str) -> Label {
        let client = std::net::Ipv4Addr::LOCALHOST.into();
        Label { host: 0, method: http::Method::GET, target: target.as_bytes().into(), client }
    }

    fn unanswered(requests: &[(&str, u64)]) -> AwaitedRequests {
        let mut unanswered = AwaitedRequests::default();
        for (target, run) in requests {
            unanswered.add(label(target), timeouts(*run));
        }
        unanswered
    }

    #[test]
    fn the_longest_timeout_of_the_requests_counts() {
        let now = Instant::now();
        let mut turn = Turn::begin(1, &unanswered(&[("/a", 2), ("/b", 30)]), now).expect("requests");
        assert_eq!(turn.timeouts.run, Duration::from_secs(30));
        turn.wait_also_for(&unanswered(&[("/c", 60)]));
        assert_eq!(turn.timeouts.run, Duration::from_secs(60));
        turn.wait_also_for(&unanswered(&[]));
        assert_eq!(turn.timeouts.run, Duration::from_secs(60), "those that have given up waited for this turn");
        assert_eq!(turn.requests.to_string(), "GET /a, GET /b");
        turn.wait_also_for(&unanswered(&[("/a", 2), ("/b", 30), ("/c", 2)]));
        assert_eq!(turn.requests.to_string(), "GET /a, GET /b, GET /c");
        assert!(Turn::begin(1, &unanswered(&[]), now).is_none());
    }
}
