//! A worker's data in the master: mold, size, age.

use std::time::{Duration, Instant};

use wire::control::{ExitReason, WorkerState};

use crate::children::MoldId;
use machine::memory::MemorySizes;

#[derive(Debug)]
pub struct WorkerEntry {
    /// Distinguishes this worker from others that had or will have its slot.
    pub(super) serial: u64,
    pub mold: MoldId,
    /// The worker was asked to leave, and serves until it is idle.
    pub is_dismissed: bool,
    /// Requests that it has answered, as the front reported last.
    pub requests: u64,
    /// Idle time of the worker, as the front reported last.
    pub idle: Option<Duration>,
    /// Memory of the worker, as measured last.
    pub sizes: Option<MemorySizes>,
    /// Private memory at some number of requests, from which growth is computed.
    mark: Option<MeasuredSize>,
    /// `Starting` until the front has received `Ready`; then `Idle` (the front distinguishes idle and busy); `Retiring`
    /// once no front uses the worker.
    pub state: WorkerState,
    /// When the mold was asked to fork the worker.
    pub fork_requested: Instant,
    /// Process id of the worker; `None` until the mold has reported it.
    pub pid: Option<i32>,
    /// The front reported `Ready` before the mold reported the process.
    pub ready_us: Option<u32>,
    /// Why the master has killed the worker.
    pub killed: Option<String>,
    /// Why the worker leaves or was killed, for the counters. The first reason counts.
    pub why: Option<ExitReason>,
    /// Deadline for the exit of a worker that serves no more, or has lost its front.
    pub(super) leave_by: Option<Instant>,
}

/// Fewer requests do not make a trend.
const TREND: u64 = 1000;

/// Size of a worker after a number of requests.
#[derive(Debug, Clone, Copy)]
struct MeasuredSize {
    requests: u64,
    private: u64,
}

impl WorkerEntry {
    /// A worker that a mold was asked to fork at `now`.
    pub(super) fn new(serial: u64, mold: MoldId, now: Instant) -> WorkerEntry {
        WorkerEntry {
            serial,
            mold,
            is_dismissed: false,
            requests: 0,
            idle: None,
            sizes: None,
            mark: None,
            state: WorkerState::Starting,
            fork_requested: now,
            pid: None,
            ready_us: None,
            killed: None,
            why: None,
            leave_by: None,
        }
    }

    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Notes a measurement. Memory that the first requests load is no trend.
    pub fn measured(&mut self, sizes: MemorySizes) {
        self.sizes = Some(sizes);
        if self.requests >= TREND && self.mark.is_none() {
            self.mark = Some(MeasuredSize { requests: self.requests, private: sizes.private });
        }
    }

    /// Growth of private memory in bytes per 1,000 requests, once the worker has answered enough.
    pub fn growth_per_thousand(&self) -> Option<u64> {
        let (mark, sizes) = (self.mark?, self.sizes?);
        let requests = self.requests.checked_sub(mark.requests).filter(|requests| *requests >= TREND)?;
        Some(sizes.private.saturating_sub(mark.private).saturating_mul(1000) / requests)
    }

    /// `812`, or `?` while it is being forked.
    pub fn pid(&self) -> String {
        self.pid.map_or_else(|| "?".to_string(), |pid| pid.to_string())
    }

    /// Whether the worker serves and was not asked to leave.
    pub fn serves(&self) -> bool {
        self.state == WorkerState::Idle && !self.is_dismissed
    }
}
