//! The results of a run: one `Report`, and several formats.

mod html;
mod markdown;
mod notes;
mod text;
pub mod units;
mod versus;

use std::collections::BTreeMap;

use serde::Serialize;

use super::RunOutcome;
use super::plan::{RequestPace, RunPlan};

pub use html::{Axis, Plot, page, page_of_two};
pub use markdown::markdown;
pub use text::text;
pub use versus::Comparison;

/// The printed quantiles.
const QUANTILES: [f64; 5] = [0.5, 0.75, 0.9, 0.99, 0.999];

/// All numbers of a run; times are in seconds.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The URL, or the first of several.
    pub url: String,
    /// Number of distinct requests.
    pub urls: usize,
    /// `HTTP/1.1` or `HTTP/2`.
    pub protocol: &'static str,
    /// `closed` or `open`.
    #[serde(rename = "loop")]
    pub kind: &'static str,
    /// Open loop: requests due per second; `None` for the times of a log.
    pub rate: Option<f64>,
    /// NC: number of concurrent connections.
    pub connections: usize,
    /// HTTP/2: concurrent requests on each connection.
    pub streams: usize,
    /// Threads of this program, not of the server.
    pub threads: usize,
    /// Whether each connection had only one request.
    pub close: bool,
    /// NR: number of finished requests.
    pub requests: u64,
    /// Requests answered as expected.
    pub completed: u64,
    /// No response, or not the expected one.
    pub failed: u64,
    /// One entry per cause.
    pub failures: Vec<FailureCount>,
    /// Number of responses of each status.
    pub statuses: BTreeMap<u16, u64>,
    /// Duration without the warm-up.
    pub seconds: f64,
    /// RPS: completed requests per second.
    pub requests_per_second: f64,
    /// Response times.
    pub latency: Latency,
    /// Parts of the response times, as in ab's report.
    pub connection_times: ConnectionTimes,
    /// In HTTP/2 only bodies.
    pub received_bytes: u64,
    /// Counted as `received_bytes` are.
    pub sent_bytes: u64,
    /// More than `connections` if the server closed some.
    pub connections_opened: u64,
    /// In no other number of the report.
    pub warm_up_requests: u64,
    /// Open loop: requests that had to wait for a free connection, `unsent` ones included.
    pub waited: u64,
    /// Open loop: requests that never got a connection.
    pub unsent: u64,
    /// Open loop: delays caused by this program.
    pub lateness: Option<Latency>,
    /// Processors used by this program.
    pub cpu: f64,
    /// Whether Ctrl-C ended the run before its planned end.
    pub interrupted: bool,
    /// Sentences about doubtful results, and from the plan.
    pub notes: Vec<String>,
    /// Latencies by the number of nines of their quantile: (2, …) is the 99 % quantile.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
    /// Oldest first.
    pub intervals: Vec<Interval>,
}

/// A line of the report's list of failures.
#[derive(Debug, Clone, Serialize)]
pub struct FailureCount {
    /// Name of the cause in the report, such as `connect`.
    pub cause: &'static str,
    /// At least 1.
    pub count: u64,
    /// Details of the first failure.
    pub first: String,
}

/// Times of many requests, in seconds.
#[derive(Debug, Clone, Serialize)]
pub struct Latency {
    /// Mean (avtime).
    pub mean: f64,
    /// Square root of the mean squared distance from `mean`.
    pub standard_deviation: f64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
    /// Pairs of quantile and value: (0.5, the median) and others.
    pub quantiles: Vec<(f64, f64)>,
}

/// Parts of the response times of requests answered as expected.
#[derive(Debug, Clone, Serialize)]
pub struct ConnectionTimes {
    /// Time until the connection was open, including TLS; 0 on a reused one.
    pub connect: Latency,
    /// Time from the open connection to the last byte.
    pub processing: Latency,
    /// Time from the last byte of the request to the first byte of the response.
    pub waiting: Latency,
    /// Connection time plus processing time.
    pub total: Latency,
}

/// An interval of the run.
#[derive(Debug, Clone, Serialize)]
pub struct Interval {
    /// End of the interval, from the end of the warm-up.
    pub end: f64,
    /// Requests that ended in the interval.
    pub requests: u64,
    /// Number of failed requests of the interval.
    pub failed: u64,
    /// Median of the interval's latencies.
    pub median: f64,
    /// 99th percentile of the interval's latencies.
    pub p99: f64,
    /// Maximum of the interval's latencies.
    pub max: f64,
}

impl Report {
    /// The report on a run of `plan`.
    pub fn new(plan: &RunPlan, outcome: &RunOutcome) -> Report {
        let tally = &outcome.tally;
        let rate = match plan.pace {
            RequestPace::Closed | RequestPace::Times(_) => None,
            RequestPace::Constant(rate) | RequestPace::Poisson(rate) => Some(rate),
        };
        let is_open = !matches!(plan.pace, RequestPace::Closed);
        let seconds = outcome.elapsed.as_secs_f64();
        let failure = |(cause, (count, first)): (&super::FailureCause, &(u64, String))| FailureCount {
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

    /// Pretty-printed, with a newline at the end.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

impl Latency {
    /// Converts a histogram of nanoseconds.
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

    /// The quantile `wanted` in seconds; 0 if it is not printed.
    pub fn quantile(&self, wanted: f64) -> f64 {
        self.quantiles.iter().find(|(q, _)| *q == wanted).map_or(0.0, |(_, seconds)| *seconds)
    }
}

impl ConnectionTimes {
    fn new(times: &super::times::TimeParts) -> ConnectionTimes {
        ConnectionTimes {
            connect: Latency::new(&times.connect),
            processing: Latency::new(&times.processing),
            waiting: Latency::new(&times.waiting),
            total: Latency::new(&times.total),
        }
    }
}

impl Interval {
    fn new(interval: &super::tally::TallyInterval) -> Interval {
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

/// The latency curve, up to the quantile that the number of responses can distinguish.
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
