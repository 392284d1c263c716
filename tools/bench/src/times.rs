//! Where the time of answers went, as ab tells it, and how times are kept.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

/// Times are kept in nanoseconds, told apart to a thousandth of themselves, up to an hour.
const LONGEST: u64 = 3_600_000_000_000;
pub const DIGITS: u8 = 3;

/// The moments of one whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    /// The request has been sent.
    pub sent: Instant,
    /// The first of the answer has come.
    pub first: Instant,
}

/// Of all answers that were as expected.
#[derive(Debug)]
pub struct Times {
    /// Until there was a connection, with TLS; nothing where one was kept.
    pub connect: Histogram<u64>,
    /// From then to the last byte.
    pub processing: Histogram<u64>,
    /// From the last byte of the request to the first of the answer.
    pub waiting: Histogram<u64>,
    /// Both of the first: in an open loop without what a request waited for a connection.
    pub total: Histogram<u64>,
}

impl Times {
    pub fn new() -> Times {
        let [connect, processing, waiting, total] = std::array::from_fn(|_| histogram(DIGITS));
        Times { connect, processing, waiting, total }
    }

    /// Adds an answer whose connection took so long, and all of it so long.
    pub fn record(&mut self, connect: Duration, total: Duration, moments: Moments) {
        self.connect.saturating_record(nanoseconds(connect));
        self.processing.saturating_record(nanoseconds(total.saturating_sub(connect)));
        self.waiting.saturating_record(nanoseconds(moments.first.saturating_duration_since(moments.sent)));
        self.total.saturating_record(nanoseconds(total));
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: &Times) {
        self.connect += &other.connect;
        self.processing += &other.processing;
        self.waiting += &other.waiting;
        self.total += &other.total;
    }
}

/// For times in nanoseconds.
pub fn histogram(digits: u8) -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, digits).expect("bounds that are in order, and at most five digits")
}

/// At most what 64 bits hold, which is 584 years.
pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
