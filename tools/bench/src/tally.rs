//! Counts and times of a run's requests.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::failure::{FailedRequest, FailureCause};
use super::response::CompleteResponse;
use super::times::{DIGITS, TimeParts, histogram, nanoseconds};

/// Precision of quantiles in intervals, in digits.
const DIGITS_OF_AN_INTERVAL: u8 = 2;
/// A last interval shorter than a normal one divided by this number is omitted: its rate would be meaningless.
const SLIVER: u32 = 5;

/// Counts and times; warm-up requests are excluded unless stated otherwise.
#[derive(Debug)]
pub struct Tally {
    /// Time from when a request was due (in a closed loop: sent) to the last byte of its response, or to its timeout.
    pub latency: Histogram<u64>,
    /// Delay of requests although a connection was free, caused by this program.
    pub lateness: Histogram<u64>,
    /// Parts of the response times of requests answered as expected.
    pub times: TimeParts,
    /// Requests that were due while all connections were busy.
    pub waited: u64,
    /// Number of responses as expected.
    pub completed: u64,
    /// Responses as expected that arrived before `window_end`.
    pub in_time: u64,
    /// Responses that arrived during the counted time, to requests of the warm-up, too: the server's
    /// throughput.
    pub came: u64,
    /// Start of the counted time.
    counted_from: Instant,
    /// End of the time for which rates are computed; later responses are still awaited.
    pub window_end: Option<Instant>,
    /// Number of responses of each status.
    pub statuses: BTreeMap<u16, u64>,
    /// Number of failures by cause, with details of the first.
    pub failures: BTreeMap<FailureCause, (u64, String)>,
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received; in HTTP/2 only bodies.
    pub received: u64,
    pub opened: u64,
    /// Number of requests of the warm-up.
    pub warm_up: u64,
    /// Oldest first; the running interval is not among them.
    pub intervals: Vec<TallyInterval>,
    running: Running,
}

/// Counts and latencies of the requests that ended in an equal part of the counted time.
#[derive(Debug, Clone)]
pub struct TallyInterval {
    /// End of the interval, from the start of the counted time.
    pub end: Duration,
    /// Requests that ended in the interval.
    pub requests: u64,
    /// Number of failed requests of the interval.
    pub failed: u64,
    /// Median of the interval's latencies, in nanoseconds.
    pub median: u64,
    /// 99th percentile of the latencies, in nanoseconds.
    pub p99: u64,
    /// Maximum of the latencies, in nanoseconds.
    pub max: u64,
    /// All latencies as (latency, count), needed to merge intervals of several threads.
    latencies: Vec<(u64, u64)>,
}

#[derive(Debug)]
struct Running {
    begun: Instant,
    length: Duration,
    end: Instant,
    latency: Histogram<u64>,
    requests: u64,
    failed: u64,
    /// Whether intervals store all their latencies.
    keeps: bool,
}

pub struct TimedRequest {
    /// A response with an unexpected status is a failure.
    pub result: Result<CompleteResponse, FailedRequest>,
    /// When the request was due: the start of its latency.
    pub since: Instant,
    /// When a user began to send the request.
    pub begun: Instant,
    /// Time until the connection was open.
    pub connect: Duration,
    pub at: Instant,
    pub sent: u64,
}

impl Tally {
    /// A tally that counts from `begun`, with intervals of this length. `keeps`: the intervals store all latencies,
    /// because those of other threads are merged into them.
    pub fn new(begun: Instant, interval: Duration, keeps: bool) -> Tally {
        Tally {
            latency: histogram(DIGITS),
            lateness: histogram(DIGITS),
            times: TimeParts::new(),
            waited: 0,
            completed: 0,
            in_time: 0,
            came: 0,
            counted_from: begun,
            window_end: None,
            statuses: BTreeMap::new(),
            failures: BTreeMap::new(),
            sent: 0,
            received: 0,
            opened: 0,
            warm_up: 0,
            intervals: Vec::new(),
            running: Running::new(begun, interval, keeps),
        }
    }

    /// Counts a request that is not in the warm-up.
    pub fn record(&mut self, done: TimedRequest) {
        let latency = nanoseconds(done.at.saturating_duration_since(done.since));
        self.close_intervals(done.at);
        self.sent += done.sent;
        self.running.requests += 1;
        let has_latency = match done.result {
            Ok(response) => {
                self.completed += 1;
                self.in_time += u64::from(self.window_end.is_none_or(|end| done.at <= end));
                let total = done.at.saturating_duration_since(done.begun);
                self.times.record(done.connect, total, response.moments);
                self.count_response(response);
                true
            }
            Err(failure) => self.count_failure(failure),
        };
        if has_latency {
            self.latency.saturating_record(latency);
            self.running.latency.saturating_record(latency);
        }
    }

    /// Counts a request of the warm-up or after it for the throughput.
    pub fn note(&mut self, done: &TimedRequest) {
        let is_in_time = done.at >= self.counted_from && self.window_end.is_none_or(|end| done.at <= end);
        self.came += u64::from(done.result.is_ok() && is_in_time);
    }

    fn count_failure(&mut self, failure: FailedRequest) -> bool {
        self.running.failed += 1;
        let FailedRequest { cause, text, response } = failure;
        self.failures.entry(cause).or_insert((0, text)).0 += 1;
        if let Some(response) = response {
            self.count_response(response);
        }
        response.is_some() || cause == FailureCause::Timeout
    }

    fn count_response(&mut self, response: CompleteResponse) {
        *self.statuses.entry(response.status).or_default() += 1;
        self.received += response.received;
    }

    /// Number of failed requests.
    pub fn failed(&self) -> u64 {
        self.failures.values().map(|(count, _)| count).sum()
    }

    /// Number of finished requests.
    pub fn requests(&self) -> u64 {
        self.completed + self.failed()
    }

    /// Whether the server is unreachable: `enough` connections failed and none succeeded.
    pub fn is_unreachable(&self, enough: u64) -> bool {
        let count = |cause| self.failures.get(&cause).map_or(0, |(count, _)| *count);
        self.opened == 0 && count(FailureCause::Connect) + count(FailureCause::Tls) >= enough
    }

    /// Closes all intervals that end by `now`.
    pub fn close_intervals(&mut self, now: Instant) {
        while now >= self.running.end {
            let interval = self.running.close();
            self.intervals.push(interval);
        }
    }

    /// Adds another run, whose intervals begin at `since`.
    pub fn add(&mut self, other: &Tally, since: Duration) {
        self.count(other);
        let later = other.intervals.iter().cloned();
        self.intervals.extend(later.map(|interval| TallyInterval { end: interval.end + since, ..interval }));
    }

    /// Adds the tally of another thread.
    pub fn add_concurrent(&mut self, other: &Tally) {
        self.count(other);
        for (own, others) in self.intervals.iter_mut().zip(&other.intervals) {
            own.add_concurrent(others);
        }
        self.intervals.extend(other.intervals.iter().skip(self.intervals.len()).cloned());
    }

    fn count(&mut self, other: &Tally) {
        self.latency += &other.latency;
        self.lateness += &other.lateness;
        self.times.add(&other.times);
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        for (cause, (count, first)) in &other.failures {
            self.failures.entry(*cause).or_insert((0, first.clone())).0 += count;
        }
        self.waited += other.waited;
        self.completed += other.completed;
        self.in_time += other.in_time;
        self.came += other.came;
        self.sent += other.sent;
        self.received += other.received;
        self.opened += other.opened;
        self.warm_up += other.warm_up;
    }

    /// Closes the last, shorter interval, and computes the final numbers.
    pub fn finish(&mut self, now: Instant) {
        self.close_intervals(now);
        let begun = self.running.end.checked_sub(self.running.length).unwrap_or(now);
        let is_sliver = now.saturating_duration_since(begun) < self.running.length / SLIVER;
        if self.running.requests > 0 && (self.intervals.is_empty() || !is_sliver) {
            self.running.end = now;
            let interval = self.running.close();
            self.intervals.push(interval);
        }
    }
}

impl TallyInterval {
    fn add_concurrent(&mut self, other: &TallyInterval) {
        let mut latency = histogram(DIGITS_OF_AN_INTERVAL);
        for (value, count) in self.latencies.iter().chain(&other.latencies) {
            latency.saturating_record_n(*value, *count);
        }
        self.end = self.end.max(other.end);
        self.requests += other.requests;
        self.failed += other.failed;
        self.median = latency.value_at_quantile(0.5);
        self.p99 = latency.value_at_quantile(0.99);
        self.max = latency.max();
        self.latencies = recorded(&latency);
    }
}

fn recorded(latency: &Histogram<u64>) -> Vec<(u64, u64)> {
    latency.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
}

impl Running {
    fn new(begun: Instant, length: Duration, keeps: bool) -> Running {
        let latency = histogram(DIGITS_OF_AN_INTERVAL);
        Running { begun, length, end: begun + length, latency, requests: 0, failed: 0, keeps }
    }

    fn close(&mut self) -> TallyInterval {
        let interval = TallyInterval {
            end: self.end.saturating_duration_since(self.begun),
            requests: std::mem::take(&mut self.requests),
            failed: std::mem::take(&mut self.failed),
            median: self.latency.value_at_quantile(0.5),
            p99: self.latency.value_at_quantile(0.99),
            max: self.latency.max(),
            latencies: if self.keeps { recorded(&self.latency) } else { Vec::new() },
        };
        self.latency.reset();
        self.end += self.length;
        interval
    }
}
