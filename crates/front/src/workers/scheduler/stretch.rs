//! Stretches of a request's time in a worker; each may take up to `RequestTimeout`.

use std::time::Instant;

/// Part of a worker's time that has its own RequestTimeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    /// From the first handler to the end of the response.
    Response,
    /// Cleanups, after the response.
    Cleanups,
    /// Code that runs after the end of the request, for example destructors.
    Rest,
}

impl Stretch {
    /// Log reason for killing a worker that did not finish this stretch.
    pub(super) fn why_killed(self) -> &'static str {
        match self {
            Stretch::Response => "has worked on one request for too long",
            Stretch::Cleanups => "has cleaned up after one request for too long",
            Stretch::Rest => "has run destructors for too long after a request",
        }
    }
}

/// A stretch under way.
#[derive(Debug, Clone, Copy)]
pub struct TimedStretch {
    pub stretch: Stretch,
    /// Begin of the stretch, plus the time that a slow client held it up.
    pub since: Instant,
    /// Number of interrupts sent because of the timeout.
    pub interrupts: u8,
}

impl TimedStretch {
    pub fn begin(stretch: Stretch, now: Instant) -> TimedStretch {
        TimedStretch { stretch, since: now, interrupts: 0 }
    }
}
