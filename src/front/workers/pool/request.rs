//! A request as the pool knows it: where it is, and how long it may be there.

use std::time::{Duration, Instant};

use wire::control::WorkerId;

/// Names a request; grows with the order of arrival.
pub type RequestId = u64;

/// How long a request may wait and run.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// `QueueTimeout`
    pub queue: Duration,
    /// `RequestTimeout`; zero is unlimited.
    pub run: Duration,
    /// `RequestTimeoutGrace`
    pub grace: Duration,
}

/// Where a request is. One that is over is nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// In the queue.
    Queued,
    /// In the socket of a busy worker, which may not have begun it.
    Ahead(WorkerId),
    /// A worker has it.
    Running(WorkerId),
}

/// See the module's text.
#[derive(Debug)]
pub(super) struct Request {
    pub stage: Stage,
    /// Its lane of the queue.
    pub lane: usize,
    pub limits: Limits,
    /// It fits into a packet, so that it can be taken back unharmed.
    pub small: bool,
    pub queued_at: Instant,
    /// When a worker got it, moved on by the time that a slow client held it up.
    pub started_at: Instant,
    /// How often its worker was told that it takes too long.
    pub interrupts: u8,
    /// Nobody waits for its answer.
    pub abandoned: bool,
}

impl Request {
    pub fn new(lane: usize, limits: Limits, small: bool, now: Instant) -> Request {
        Request {
            stage: Stage::Queued,
            lane,
            limits,
            small,
            queued_at: now,
            started_at: now,
            interrupts: 0,
            abandoned: false,
        }
    }
}
