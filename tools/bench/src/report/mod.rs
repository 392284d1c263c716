//! What a run has come to, for persons and programs: one `Report`, several ways to write it.

mod html;
mod markdown;
mod notes;
mod text;
pub mod units;
mod versus;

use std::collections::BTreeMap;

use serde::Serialize;

use super::Outcome;
use super::plan::{Pace, Plan};

pub use html::{Axis, Plot, page, page_of_two};
pub use markdown::markdown;
pub use text::text;
pub use versus::Comparison;

/// The quantiles that are printed.
const QUANTILES: [f64; 5] = [0.5, 0.75, 0.9, 0.99, 0.999];

/// All numbers of a run; times are seconds.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// What was asked, or the first of it.
    pub url: String,
    /// How many different requests there were.
    pub urls: usize,
    /// `HTTP/1.1` or `HTTP/2`.
    pub protocol: &'static str,
    /// `closed` or `open`.
    #[serde(rename = "loop")]
    pub kind: &'static str,
    /// Of an open loop, how many a second were due; a log has no one rate.
    pub rate: Option<f64>,
    /// NC: how many connections asked at the same time.
    pub connections: usize,
    /// HTTP/2: how many requests each of them had at the same time.
    pub streams: usize,
    /// How many threads asked.
    pub threads: usize,
    /// Whether each connection had one request only.
    pub close: bool,
    /// NR: how many requests ended.
    pub requests: u64,
    /// Of those, answered as expected.
    pub completed: u64,
    /// The others.
    pub failed: u64,
    /// Why they failed.
    pub failures: Vec<FailureCount>,
    /// Answers of each status.
    pub statuses: BTreeMap<u16, u64>,
    /// How long it took, without warm-up.
    pub seconds: f64,
    /// RPS: completed requests a second.
    pub requests_per_second: f64,
    /// How long answers took.
    pub latency: Latency,
    /// Where that time went, as ab tells it.
    pub connection_times: ConnectionTimes,
    /// Bytes of answers.
    pub received_bytes: u64,
    /// Bytes of requests.
    pub sent_bytes: u64,
    /// How many connections were opened.
    pub connections_opened: u64,
    /// Requests before anything counted.
    pub warm_up_requests: u64,
    /// Of an open loop: requests that had to wait for a connection, and those that never got one.
    pub waited: u64,
    /// The latter.
    pub unsent: u64,
    /// Of an open loop: how late this program itself was.
    pub lateness: Option<Latency>,
    /// How many processors this program took.
    pub cpu: f64,
    /// Whether somebody ended it early.
    pub interrupted: bool,
    /// What a reader of these numbers must know.
    pub notes: Vec<String>,
    /// Latencies by the number of nines of their quantile: (2, …) is that of 99 %.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
    /// How it went over time.
    pub intervals: Vec<Interval>,
}

/// How often something went wrong.
#[derive(Debug, Clone, Serialize)]
pub struct FailureCount {
    /// By its short name.
    pub cause: &'static str,
    /// So often.
    pub count: u64,
    /// What was said of the first.
    pub first: String,
}

/// Times of many requests, in seconds.
#[derive(Debug, Clone, Serialize)]
pub struct Latency {
    /// avtime
    pub mean: f64,
    /// How far from it they are.
    pub standard_deviation: f64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
    /// (0.5, the median) and others.
    pub quantiles: Vec<(f64, f64)>,
}

/// Where the time of answers went that were as expected.
#[derive(Debug, Clone, Serialize)]
pub struct ConnectionTimes {
    /// Until there was a connection, with TLS; nothing where one was kept.
    pub connect: Latency,
    /// From then to the last byte.
    pub processing: Latency,
    /// From the last byte of the request to the first of the answer.
    pub waiting: Latency,
    /// Both of the first.
    pub total: Latency,
}

/// A piece of the run.
#[derive(Debug, Clone, Serialize)]
pub struct Interval {
    /// Its end, from the end of the warm-up.
    pub end: f64,
    /// Requests that ended in it.
    pub requests: u64,
    /// Of those.
    pub failed: u64,
    /// Latencies of those that ended in it.
    pub median: f64,
    /// 99 of 100 took no longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Report {
    /// Of a run of `plan`.
    pub fn new(plan: &Plan, outcome: &Outcome) -> Report {
        let tally = &outcome.tally;
        let rate = match plan.pace {
            Pace::Closed | Pace::Times(_) => None,
            Pace::Constant(rate) | Pace::Poisson(rate) => Some(rate),
        };
        let is_open = !matches!(plan.pace, Pace::Closed);
        let seconds = outcome.elapsed.as_secs_f64();
        let failure = |(cause, (count, first)): (&super::Cause, &(u64, String))| FailureCount {
            cause: cause.name(),
            count: *count,
            first: first.clone(),
        };
        let mut report = Report {
            url: plan.requests.first().map(|request| request.target.url()).unwrap_or_default(),
            urls: plan.requests.len(),
            protocol: if plan.transport.http2 { "HTTP/2" } else { "HTTP/1.1" },
            kind: if is_open { "open" } else { "closed" },
            rate,
            connections: plan.connections,
            streams: plan.streams,
            threads: plan.threads.min(plan.connections),
            close: plan.transport.close,
            requests: tally.requests(),
            completed: tally.completed,
            failed: tally.failed(),
            failures: tally.failures.iter().map(failure).collect(),
            statuses: tally.statuses.clone(),
            seconds,
            requests_per_second: if seconds > 0.0 { tally.in_time as f64 / seconds } else { 0.0 },
            latency: Latency::new(&tally.latency),
            connection_times: ConnectionTimes::new(&tally.times),
            received_bytes: tally.received,
            sent_bytes: tally.sent,
            connections_opened: tally.opened,
            warm_up_requests: tally.warm_up,
            waited: tally.waited,
            unsent: outcome.unsent,
            lateness: is_open.then(|| Latency::new(&tally.lateness)),
            cpu: outcome.cpu,
            interrupted: outcome.interrupted,
            notes: Vec::new(),
            curve: curve(&tally.latency),
            intervals: tally.intervals.iter().map(Interval::new).collect(),
        };
        report.notes = plan.notes.iter().cloned().chain(notes::notes(&report)).collect();
        report
    }

    /// For programs.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

impl Latency {
    /// Of nanoseconds.
    fn new(histogram: &hdrhistogram::Histogram<u64>) -> Latency {
        let quantile = |q| (q, seconds(histogram.value_at_quantile(q)));
        let is_empty = histogram.is_empty();
        Latency {
            mean: histogram.mean() / 1e9,
            standard_deviation: if is_empty { 0.0 } else { histogram.stdev() / 1e9 },
            min: if is_empty { 0.0 } else { seconds(histogram.min()) },
            max: seconds(histogram.max()),
            quantiles: QUANTILES.map(quantile).to_vec(),
        }
    }

    /// One of those that are printed.
    pub fn quantile(&self, wanted: f64) -> f64 {
        self.quantiles.iter().find(|(q, _)| *q == wanted).map_or(0.0, |(_, seconds)| *seconds)
    }
}

impl ConnectionTimes {
    fn new(times: &super::times::Times) -> ConnectionTimes {
        ConnectionTimes {
            connect: Latency::new(&times.connect),
            processing: Latency::new(&times.processing),
            waiting: Latency::new(&times.waiting),
            total: Latency::new(&times.total),
        }
    }
}

impl Interval {
    fn new(interval: &super::tally::Interval) -> Interval {
        Interval {
            end: interval.end.as_secs_f64(),
            requests: interval.requests,
            failed: interval.failed,
            median: seconds(interval.median),
            p99: seconds(interval.p99),
            max: seconds(interval.max),
        }
    }
}

/// As far as there are answers to tell one quantile from the next.
fn curve(latency: &hdrhistogram::Histogram<u64>) -> Vec<(f64, f64)> {
    const STEPS: f64 = 20.0;
    if latency.is_empty() {
        return Vec::new();
    }
    let last = ((latency.len() as f64).log10() * STEPS).ceil() as u32;
    let at = |nines: f64| (nines, seconds(latency.value_at_quantile(1.0 - 10f64.powf(-nines))));
    (0..=last).map(|step| at(f64::from(step) / STEPS)).collect()
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}
