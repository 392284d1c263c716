//! A request as the pool knows it: where it is, and how long it may be there.

use std::time::{Duration, Instant};

use wire::control::WorkerId;

use super::rate::ClientId;
use super::stretch::{Stretch, TimedStretch};

/// Names a request; grows with the order of arrival.
pub type RequestId = u64;

/// How long a request may wait and run.
#[derive(Debug, Clone, Copy)]
pub struct RequestTimeouts {
    /// `QueueTimeout`
    pub queue: Duration,
    /// `RequestTimeout`; zero is unlimited.
    pub run: Duration,
    /// `RequestTimeoutLimit`: what `run` may grow to; zero is unlimited.
    pub most: Duration,
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
    /// A worker has begun the next one, so this one has ended there; the word of it is on its way to another thread.
    Ending,
}

#[derive(Debug)]
pub(super) struct Request {
    pub stage: Stage,
    /// Its lane of the queue.
    pub lane: usize,
    pub timeouts: RequestTimeouts,
    /// It fits into a packet, so that it can be taken back unharmed.
    pub small: bool,
    /// Whom the time that it takes a worker is added to.
    pub charged_to: Option<ClientId>,
    /// When its worker got it, while that is counted.
    pub charged_since: Option<Instant>,
    pub queued_at: Instant,
    /// When a worker got it, moved on by the time that a slow client held it up.
    pub started_at: Instant,
    /// What its worker is at, and for how long: for `RequestTimeout`.
    pub timed: TimedStretch,
    /// Nobody waits for its answer.
    pub abandoned: bool,
}

/// What the pool is told of a request that has come.
#[derive(Debug, Clone, Copy)]
pub struct NewRequest {
    /// Larger than that of all before.
    pub id: RequestId,
    /// Its lane of the queue.
    pub lane: usize,
    /// How long it may take.
    pub timeouts: RequestTimeouts,
    /// It fits into a packet, so that it can be taken back unharmed.
    pub small: bool,
    /// Whom the time that it takes a worker is added to.
    pub charged_to: Option<ClientId>,
}

/// What a worker may still be at that has said the end of its last request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remains {
    /// The request that it has ended.
    pub request: RequestId,
    pub timeouts: RequestTimeouts,
    pub timed: TimedStretch,
}

impl Request {
    pub fn new(new: NewRequest, now: Instant) -> Request {
        Request {
            stage: Stage::Queued,
            lane: new.lane,
            timeouts: new.timeouts,
            small: new.small,
            charged_to: new.charged_to,
            charged_since: None,
            queued_at: now,
            started_at: now,
            timed: TimedStretch::begin(Stretch::Answer, now),
            abandoned: false,
        }
    }
}
