//! The stretches of a request, each of which may take its `RequestTimeout`.

use std::time::Instant;

/// What a worker is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    /// The answer.
    Answer,
    /// Cleanups, behind the answer.
    Cleanups,
    /// What runs behind the end.
    Rest,
}

impl Stretch {
    /// Why a worker was killed that did not come to the end of it.
    pub(super) fn why_killed(self) -> &'static str {
        match self {
            Stretch::Answer => "has worked on one request for too long",
            Stretch::Cleanups => "has cleaned up after one request for too long",
            Stretch::Rest => "has not come to rest for too long after a request",
        }
    }
}

/// One that is under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimedStretch {
    /// Which one.
    pub stretch: Stretch,
    /// When it began, moved on by the time that a slow client held it up.
    pub since: Instant,
    /// How often the worker was told that it takes too long.
    pub interrupts: u8,
}

impl TimedStretch {
    pub fn begin(stretch: Stretch, now: Instant) -> TimedStretch {
        TimedStretch { stretch, since: now, interrupts: 0 }
    }
}
