//! A request as the scheduler knows it: its stage and its timeouts.

use std::time::{Duration, Instant};

use wire::control::WorkerId;

use super::rate::ClientId;
use super::stretch::{Stretch, TimedStretch};
use config::Settings;

/// Identifies a request; increases in order of arrival.
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

impl RequestTimeouts {
    /// The timeouts of requests with these settings.
    pub fn of(settings: &Settings) -> RequestTimeouts {
        RequestTimeouts {
            queue: settings.queue_timeout,
            run: settings.request_timeout,
            most: settings.request_timeout_limit,
            grace: settings.request_timeout_grace,
        }
    }
}

/// RequestStage of a request. A request that is over is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestStage {
    Queued,
    /// The request was sent ahead to a busy worker, which may not have begun it.
    Ahead(WorkerId),
    /// The worker has begun the request, and has not ended it.
    Running(WorkerId),
    /// The worker has begun the next request, so this one has ended there; its end is still to be read by another
    /// thread.
    Ending,
}

#[derive(Debug)]
pub(super) struct Request {
    pub stage: RequestStage,
    /// Index of the lane in the queue.
    pub lane: usize,
    pub timeouts: RequestTimeouts,
    /// The request fits into a packet, so it can be taken back.
    pub small: bool,
    /// The client whose `SpeedLimit` is charged with the worker's time.
    pub charged_to: Option<ClientId>,
    /// When the worker got the request, while that time is charged.
    pub charged_since: Option<Instant>,
    pub queued_at: Instant,
    /// When a worker got the request, plus the time that a slow client held it up.
    pub started_at: Instant,
    /// Activity of the worker and its duration, for `RequestTimeout`.
    pub timed: TimedStretch,
    /// The client has left.
    pub abandoned: bool,
}

/// A request as submitted to the scheduler.
#[derive(Debug, Clone, Copy)]
pub struct NewRequest {
    /// Unique; larger than all earlier ids.
    pub id: RequestId,
    /// Id of the `PoolShare` that counts this request.
    pub share: Option<u32>,
    /// Limits on queueing and running.
    pub timeouts: RequestTimeouts,
    /// The request fits into a packet, so it can be taken back.
    pub small: bool,
    /// The client whose `SpeedLimit` is charged with the worker's time.
    pub charged_to: Option<ClientId>,
}

/// Work that a worker may still do after the end of a request, such as destructors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remains {
    pub request: RequestId,
    pub timeouts: RequestTimeouts,
    pub timed: TimedStretch,
}

impl Request {
    pub fn new(new: NewRequest, lane: usize, now: Instant) -> Request {
        Request {
            stage: RequestStage::Queued,
            lane,
            timeouts: new.timeouts,
            small: new.small,
            charged_to: new.charged_to,
            charged_since: None,
            queued_at: now,
            started_at: now,
            timed: TimedStretch::begin(Stretch::Response, now),
            abandoned: false,
        }
    }
}
