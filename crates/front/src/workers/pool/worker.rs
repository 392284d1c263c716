//! A worker as the pool knows it.
//!
//! ```text
//!   Starting ──Ready──▶ Idle ──request──▶ Busy ──End──▶ Idle
//!       └─────────────────┴──── Leave, or End says so ───┴──▶ Retiring ──end of file──▶ Gone
//! ```
//!
//! One that had another front begins as Busy: see [`takeover`](crate::workers::takeover).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use wire::control::WorkerState;

use super::RequestId;
use super::request::Remains;
use crate::base::failure::Failure;

#[derive(Debug)]
pub struct Worker {
    /// Where it is in its life.
    pub state: WorkerState,
    /// Since when it is at that.
    pub since: Instant,
    /// Requests that it has ended.
    pub requests: u64,
    /// The request that it has.
    pub current: Option<RequestId>,
    /// Requests before that one whose end was not heard yet.
    pub(super) ending: VecDeque<RequestId>,
    /// What it may still be at, behind the end of the last one, until it was seen to wait.
    pub(super) remains: Option<Remains>,
    /// Requests that lie in its socket behind that one. They count as queued, and can be taken back.
    pub(super) ahead: VecDeque<RequestId>,
    /// The client of the request that it has needs nothing more of it.
    pub logging: bool,
    /// It is to leave as soon as it has no request.
    pub(super) dismissed: bool,
    /// It has said `Ready`.
    pub(super) booted: bool,
    /// What it says may be for a front that has died, until it has answered our greeting.
    pub(super) adopted: bool,
    /// A slow client holds it up: its time limit stands still.
    pub(super) held: bool,
    /// That client's answer can be stored nowhere.
    pub(super) stuck: bool,
    /// When to look whether it has begun with the request that it has, unless that is known.
    pub(super) look_at: Option<Instant>,
    /// It is asked for what it has not begun because it has done nothing for so long.
    pub(super) suspected: Option<Duration>,
    /// It is lost, and is asked for what it had not begun; the rest fails like this.
    pub(super) lost: Option<Failure>,
}

impl Worker {
    pub(super) fn new(adopted: bool, now: Instant) -> Worker {
        Worker {
            state: if adopted { WorkerState::Busy } else { WorkerState::Starting },
            since: now,
            requests: 0,
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

    pub(super) fn enter(&mut self, state: WorkerState, now: Instant) {
        self.state = state;
        self.since = now;
    }
}
