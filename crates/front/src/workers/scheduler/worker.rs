//! A worker as the scheduler knows it.
//!
//! ```text
//!   Starting ──Ready──▶ Idle ──request──▶ Busy ──End──▶ Idle
//!       └─────────────────┴──── Leave, or leaving End ───┴──▶ Retiring ──end of file──▶ Gone
//! ```
//!
//! An adopted worker, which served an earlier front, begins as Busy: see [`takeover`](crate::workers::takeover).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use wire::control::WorkerState;

use super::RequestId;
use super::request::Remains;
use crate::base::failure::Failure;

#[derive(Debug)]
pub struct PoolWorker {
    pub state: WorkerState,
    /// When the state began.
    pub since: Instant,
    /// Number of requests that have ended.
    pub requests: u64,
    /// Time with requests that have ended.
    pub(super) worked: Duration,
    pub current: Option<RequestId>,
    /// Earlier requests whose end has not been read yet.
    pub(super) ending: VecDeque<RequestId>,
    /// Part of the last request that the worker may still run, until the worker was seen waiting.
    pub(super) remains: Option<Remains>,
    /// Requests sent ahead. They count as queued, and can be taken back.
    pub(super) ahead: VecDeque<RequestId>,
    /// The response is complete; the worker runs cleanups and logging.
    pub logging: bool,
    /// The worker shall leave as soon as it has no request.
    pub(super) dismissed: bool,
    /// The worker has sent `Ready`.
    pub(super) booted: bool,
    /// The worker's replies may be for a front that has died, until it has replied to `Greet`.
    pub(super) adopted: bool,
    /// A slow client holds up the worker: its timeout stands still.
    pub(super) held: bool,
    /// The response for that client cannot be stored.
    pub(super) stuck: bool,
    /// When to check whether the worker has begun its current request; `None` when that is known.
    pub(super) look_at: Option<Instant>,
    /// How long the worker was silent when it was asked to give its requests back.
    pub(super) suspected: Option<Duration>,
    /// Why the worker is lost; the requests that it does not give back fail with this.
    pub(super) lost: Option<Failure>,
}

impl PoolWorker {
    pub(super) fn new(adopted: bool, now: Instant) -> PoolWorker {
        PoolWorker {
            state: if adopted { WorkerState::Busy } else { WorkerState::Starting },
            since: now,
            requests: 0,
            worked: Duration::ZERO,
            current: None,
            ending: VecDeque::new(),
            remains: None,
            ahead: VecDeque::new(),
            logging: false,
            dismissed: false,
            booted: false,
            adopted,
            held: false,
            stuck: false,
            look_at: None,
            suspected: None,
            lost: None,
        }
    }

    /// Time with requests, including the current one.
    pub fn worked(&self, now: Instant) -> Duration {
        let current = self.current.map_or(Duration::ZERO, |_| now.saturating_duration_since(self.since));
        self.worked + current
    }

    pub(super) fn enter(&mut self, state: WorkerState, now: Instant) {
        self.state = state;
        self.since = now;
    }
}
