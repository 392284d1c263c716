//! Parts of response times, as in ab's report, and histograms of times.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

/// Longest time in histograms, in nanoseconds: an hour; DIGITS is their precision.
const MAX_NANOSECONDS: u64 = 3_600_000_000_000;
pub const DIGITS: u8 = 3;

/// Moments of a complete response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    /// The request has been sent.
    pub sent: Instant,
    /// The first byte of the response has arrived.
    pub first: Instant,
}

/// Parts of the response times of requests answered as expected.
#[derive(Debug)]
pub struct TimeParts {
    /// Time until the connection was open, including TLS; 0 on a reused one.
    pub connect: Histogram<u64>,
    /// Time from the open connection to the last byte.
    pub processing: Histogram<u64>,
    /// Time from the last byte of the request to the first byte of the response.
    pub waiting: Histogram<u64>,
    /// `connect` and `processing` together; in an open loop without the wait for a free connection.
    pub total: Histogram<u64>,
}

impl TimeParts {
    pub fn new() -> TimeParts {
        let [connect, processing, waiting, total] = std::array::from_fn(|_| histogram(DIGITS));
        TimeParts { connect, processing, waiting, total }
    }

    /// Adds a response: time until the connection was open, total time, and moments.
    pub fn record(&mut self, connect: Duration, total: Duration, moments: Moments) {
        self.connect.saturating_record(nanoseconds(connect));
        self.processing.saturating_record(nanoseconds(total.saturating_sub(connect)));
        self.waiting.saturating_record(nanoseconds(moments.first.saturating_duration_since(moments.sent)));
        self.total.saturating_record(nanoseconds(total));
    }

    /// Adds the times of another run.
    pub fn add(&mut self, other: &TimeParts) {
        self.connect += &other.connect;
        self.processing += &other.processing;
        self.waiting += &other.waiting;
        self.total += &other.total;
    }
}

/// A histogram of times in nanoseconds.
pub fn histogram(digits: u8) -> Histogram<u64> {
    Histogram::new_with_bounds(1, MAX_NANOSECONDS, digits).expect("bounds that are in order, and at most five digits")
}

/// The time in nanoseconds, at most u64::MAX (584 years).
pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
