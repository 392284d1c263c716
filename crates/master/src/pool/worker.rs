//! One worker as the master knows it: whose child, which process, how large, since when.

use std::io;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use wire::control::{ExitReason, WorkerState};

use super::process::Process;
use crate::children::MoldId;
use crate::children::peer::Fd;
use machine::memory::Sizes;

/// One worker.
#[derive(Debug)]
pub struct Worker {
    /// The number by which the front means this one and no other of its place.
    pub(super) serial: u64,
    /// Whose child it is, or was.
    pub mold: MoldId,
    /// It was asked to leave, and serves until it has no request.
    pub is_dismissed: bool,
    /// Requests that it has answered, as far as the front was asked.
    pub requests: u64,
    /// For how long it has been idle, if it is, as far as the front was asked.
    pub idle: Option<Duration>,
    /// Its memory, as last measured.
    pub sizes: Option<Sizes>,
    /// Its private memory at some number of requests: what it has grown by is told against that.
    mark: Option<Mark>,
    /// `Starting` until the front heard `Ready`; then `Idle`, which is the front's to refine; `Retiring` when no front
    /// knows it any more.
    pub state: WorkerState,
    /// When it was asked of the mold.
    pub asked: Instant,
    /// Known from the moment the mold forked it.
    pub process: Option<Process>,
    /// The front heard `Ready` before we heard that it was forked.
    pub ready_us: Option<u32>,
    /// Why we killed it.
    pub killed: Option<String>,
    /// Why it leaves, or was killed, for the count; who says so first is right.
    pub why: Option<ExitReason>,
    /// Its socket, for a front that may come after this one: while we hold it, the worker does not see the death of its
    /// front. `None` when it is to see it.
    pub socket: Option<Socket>,
    /// It serves no more, or its front has left it: it must have ended by then.
    pub(super) leave_by: Option<Instant>,
}

/// So many requests make a trend.
const TREND: u64 = 1000;

/// How large a worker was after so many requests.
#[derive(Debug, Clone, Copy)]
struct Mark {
    requests: u64,
    private: u64,
}

/// What a worker and the front have in common.
#[derive(Debug, Clone)]
pub struct Socket {
    /// The front's end.
    pub front: Fd,
    /// The worker's.
    pub worker: Fd,
    /// Their memory.
    pub memory: Fd,
}

impl Socket {
    /// A new one.
    pub fn new() -> io::Result<Socket> {
        let memory = wire::memory::create()?.into();
        let (front, worker) = wire::channel::pair()?;
        Ok(Socket { front: front.into(), worker: worker.into(), memory })
    }
}

impl Worker {
    /// One that was asked of a mold now.
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
            process: None,
            ready_us: None,
            killed: None,
            why: None,
            socket: None,
            leave_by: None,
        }
    }

    /// The number by which the front means it and no other of its place.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Its memory was measured. What its first requests load is no trend.
    pub fn measured(&mut self, sizes: Sizes) {
        self.sizes = Some(sizes);
        if self.requests >= TREND && self.mark.is_none() {
            self.mark = Some(Mark { requests: self.requests, private: sizes.private });
        }
    }

    /// By how much a thousand requests make its private memory grow, when it has answered enough to tell.
    pub fn growth_per_thousand(&self) -> Option<u64> {
        let (mark, sizes) = (self.mark?, self.sizes?);
        let requests = self.requests.checked_sub(mark.requests).filter(|requests| *requests >= TREND)?;
        Some(sizes.private.saturating_sub(mark.private).saturating_mul(1000) / requests)
    }

    /// Whether its process exists, be it as a zombie.
    pub(super) fn exists(&self) -> bool {
        self.process.as_ref().is_some_and(Process::exists)
    }

    /// Ends it at once, if it runs.
    pub fn kill(&mut self, reason: &str, exit: ExitReason) {
        let Some(process) = &self.process else { return };
        if process.signal(Signal::SIGKILL).is_ok() && self.killed.is_none() {
            (self.killed, self.why) = (Some(reason.to_string()), Some(exit));
        }
    }

    /// Makes it end this request, if it is still at it.
    pub fn interrupt(&self, request: u64) {
        if let Some(process) = &self.process {
            // One that has ended is reaped soon.
            let _ = process.queue(sys::deadline_signal(), request);
        }
    }

    /// `812`, or `?` while it is being forked.
    pub fn pid(&self) -> String {
        self.process.as_ref().map_or_else(|| "?".to_string(), |process| process.pid.to_string())
    }
}
