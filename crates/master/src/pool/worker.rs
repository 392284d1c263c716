//! A worker as the master knows it: its mold, size and age.

use std::time::{Duration, Instant};

use wire::control::{ExitReason, WorkerState};

use crate::children::MoldId;
use machine::memory::Sizes;

/// A worker.
#[derive(Debug)]
pub struct Worker {
    /// Distinguishes this worker from others that had or will have its slot.
    pub(super) serial: u64,
    /// The mold that was asked to fork it.
    pub mold: MoldId,
    /// It was asked to leave, and serves until it has no request.
    pub is_dismissed: bool,
    /// Requests that it has answered, as the front reported last.
    pub requests: u64,
    /// For how long it has been idle, as the front reported last.
    pub idle: Option<Duration>,
    /// Its memory, as measured last.
    pub sizes: Option<Sizes>,
    /// Its private memory at some number of requests: growth is counted from there.
    mark: Option<Mark>,
    /// `Starting` until the front has received `Ready`; then `Idle`, which the front knows better; `Retiring` once no front uses it.
    pub state: WorkerState,
    /// When the mold was asked for it.
    pub asked: Instant,
    /// Its process, from the moment the mold has reported it.
    pub pid: Option<i32>,
    /// The front reported `Ready` before the mold reported the process.
    pub ready_us: Option<u32>,
    /// Why the master killed it.
    pub killed: Option<String>,
    /// Why it leaves or was killed, for the count. The first reason counts.
    pub why: Option<ExitReason>,
    /// It serves no more, or lost its front: it must have ended by then.
    pub(super) leave_by: Option<Instant>,
}

/// Fewer requests do not make a trend.
const TREND: u64 = 1000;

/// How large a worker was after a number of requests.
#[derive(Debug, Clone, Copy)]
struct Mark {
    requests: u64,
    private: u64,
}

impl Worker {
    /// A worker for which a mold was asked at `now`.
    pub(super) fn new(serial: u64, mold: MoldId, now: Instant) -> Worker {
        Worker {
            serial,
            mold,
            is_dismissed: false,
            requests: 0,
            idle: None,
            sizes: None,
            mark: None,
            state: WorkerState::Starting,
            asked: now,
            pid: None,
            ready_us: None,
            killed: None,
            why: None,
            leave_by: None,
        }
    }

    /// See the field.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Notes a measurement. Memory that the first requests load is no trend.
    pub fn measured(&mut self, sizes: Sizes) {
        self.sizes = Some(sizes);
        if self.requests >= TREND && self.mark.is_none() {
            self.mark = Some(Mark { requests: self.requests, private: sizes.private });
        }
    }

    /// By how many bytes 1,000 requests make its private memory grow, once it has answered enough.
    pub fn growth_per_thousand(&self) -> Option<u64> {
        let (mark, sizes) = (self.mark?, self.sizes?);
        let requests = self.requests.checked_sub(mark.requests).filter(|requests| *requests >= TREND)?;
        Some(sizes.private.saturating_sub(mark.private).saturating_mul(1000) / requests)
    }

    /// `812`, or `?` while it is being forked.
    pub fn pid(&self) -> String {
        self.pid.map_or_else(|| "?".to_string(), |pid| pid.to_string())
    }

    /// Whether it serves and was not asked to leave.
    pub fn serves(&self) -> bool {
        self.state == WorkerState::Idle && !self.is_dismissed
    }
}
