//! What came of the requests so far.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::answer::Answer;
use super::failure::{Cause, Failure};
use super::times::{DIGITS, Times, histogram, nanoseconds};

/// Quantiles over time need less.
const DIGITS_OF_AN_INTERVAL: u8 = 2;
/// The last interval is left out when it is shorter than that part of the others: a few requests in no time have no rate.
const SLIVER: u32 = 5;

/// Counts and times of those requests that count.
#[derive(Debug)]
pub struct Tally {
    /// From when a request was due, or sent in a closed loop, to the last byte of its answer; of those that timed out, to then.
    pub latency: Histogram<u64>,
    /// How long after its moment a request was sent although a connection was free: this program's own fault.
    pub lateness: Histogram<u64>,
    /// Where the time of answers went that were as expected.
    pub times: Times,
    /// Requests whose moment came while all connections waited for answers.
    pub waited: u64,
    /// Answers as they were expected.
    pub completed: u64,
    /// Those of them that came before `window_end`.
    pub in_time: u64,
    /// Answers that came while it counted, those included that were asked for in the warm-up: what the server has done in that time.
    pub came: u64,
    /// From when on it counts.
    counted_from: Instant,
    /// When the time is over for which rates are given; what was under way then is waited for.
    pub window_end: Option<Instant>,
    /// Answers of each status.
    pub statuses: BTreeMap<u16, u64>,
    /// How often each went wrong, and the first of its kind.
    pub failures: BTreeMap<Cause, (u64, String)>,
    /// Bytes of requests.
    pub sent: u64,
    /// Bytes of answers; in HTTP/2 those of bodies.
    pub received: u64,
    /// Connections that were opened.
    pub opened: u64,
    /// Requests of the warm-up.
    pub warm_up: u64,
    /// How it went over time.
    pub intervals: Vec<Interval>,
    running: Running,
}

/// A piece of the run.
#[derive(Debug, Clone)]
pub struct Interval {
    /// From the beginning of what counts to the end of this.
    pub end: Duration,
    /// Requests that ended in it, and those of them that failed.
    pub requests: u64,
    /// Of those.
    pub failed: u64,
    /// Latencies of those that ended in it, in nanoseconds.
    pub median: u64,
    /// 99 of 100 were no longer.
    pub p99: u64,
    /// The longest.
    pub max: u64,
    /// All of them, as (latency, how often), where those of other threads come beside them.
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
    /// Whether intervals keep all their latencies.
    keeps: bool,
}

/// One request that is over.
pub struct Done {
    /// What came of it.
    pub result: Result<Answer, Failure>,
    /// When its latency began: when it was due.
    pub since: Instant,
    /// When somebody began to ask for it.
    pub begun: Instant,
    /// How long that took until there was a connection.
    pub connect: Duration,
    /// When it was over.
    pub at: Instant,
    /// How many bytes it had.
    pub sent: u64,
}

impl Tally {
    /// Of a run whose requests count from `begun`; intervals have this length, and keep all their latencies when they are one of several
    /// threads'.
    pub fn new(begun: Instant, interval: Duration, keeps: bool) -> Tally {
        Tally {
            latency: histogram(DIGITS),
            lateness: histogram(DIGITS),
            times: Times::new(),
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

    /// Counts one that counts.
    pub fn record(&mut self, done: Done) {
        let latency = nanoseconds(done.at.saturating_duration_since(done.since));
        self.close_intervals(done.at);
        self.sent += done.sent;
        self.running.requests += 1;
        let has_latency = match done.result {
            Ok(answer) => {
                self.completed += 1;
                self.in_time += u64::from(self.window_end.is_none_or(|end| done.at <= end));
                let total = done.at.saturating_duration_since(done.begun);
                self.times.record(done.connect, total, answer.moments);
                self.count_answer(answer);
                true
            }
            Err(failure) => self.count_failure(failure),
        };
        if has_latency {
            self.latency.saturating_record(latency);
            self.running.latency.saturating_record(latency);
        }
    }

    /// Notes one, whether or not it counts.
    pub fn note(&mut self, done: &Done) {
        let is_in_time = done.at >= self.counted_from && self.window_end.is_none_or(|end| done.at <= end);
        self.came += u64::from(done.result.is_ok() && is_in_time);
    }

    fn count_failure(&mut self, failure: Failure) -> bool {
        self.running.failed += 1;
        let Failure { cause, text, answer } = failure;
        self.failures.entry(cause).or_insert((0, text)).0 += 1;
        if let Some(answer) = answer {
            self.count_answer(answer);
        }
        answer.is_some() || cause == Cause::Timeout
    }

    fn count_answer(&mut self, answer: Answer) {
        *self.statuses.entry(answer.status).or_default() += 1;
        self.received += answer.received;
    }

    /// All that failed.
    pub fn failed(&self) -> u64 {
        self.failures.values().map(|(count, _)| count).sum()
    }

    /// All that ended.
    pub fn requests(&self) -> u64 {
        self.completed + self.failed()
    }

    /// Whether nobody answers at all: as many failed to get a connection as `enough`, and none has got one.
    pub fn is_hopeless(&self, enough: u64) -> bool {
        let count = |cause| self.failures.get(&cause).map_or(0, |(count, _)| *count);
        self.opened == 0 && count(Cause::Connect) + count(Cause::Tls) >= enough
    }

    /// Notes that what comes after `now` belongs to later intervals.
    pub fn close_intervals(&mut self, now: Instant) {
        while now >= self.running.end {
            let interval = self.running.close();
            self.intervals.push(interval);
        }
    }

    /// Adds what came of another run, whose intervals begin at `since`.
    pub fn add(&mut self, other: &Tally, since: Duration) {
        self.count(other);
        let later = other.intervals.iter().cloned();
        self.intervals.extend(later.map(|interval| Interval { end: interval.end + since, ..interval }));
    }

    /// Adds what another thread did at the same time.
    pub fn add_beside(&mut self, other: &Tally) {
        self.count(other);
        for (own, others) in self.intervals.iter_mut().zip(&other.intervals) {
            own.add_beside(others);
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

    /// Notes the last interval, which is shorter, and what the run has come to.
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

impl Interval {
    fn add_beside(&mut self, other: &Interval) {
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

    fn close(&mut self) -> Interval {
        let interval = Interval {
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
