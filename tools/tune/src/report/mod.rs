//! The report for users and programs: one `TuneReport`, several formats.

pub mod file;
pub mod picture;
pub mod text;

use serde::Serialize;

use super::bed::{Alone, Served};
use super::changes::DirectiveChange;
use super::compare::{Burst, DirectiveComparison};
use machine::capacity::{TimeShare, WorkKind};

/// The whole report; times are in seconds, sizes in bytes.
#[derive(Debug, Serialize)]
pub struct TuneReport {
    /// Name of the configuration.
    pub site: String,
    /// The first URL requested.
    pub url: String,
    /// Number of different requests.
    pub urls: usize,
    /// Number of concurrent visitors.
    pub visitors: u32,
    /// Number of processors, shared with the load tester and the front.
    pub cores: f64,
    /// Duration of the run.
    pub seconds: f64,
    /// Measurement with one worker and one visitor.
    pub alone: SingleMeasurement,
    /// The main cost of requests: computing or waiting.
    pub kind: WorkKind,
    /// Number of workers that keep the processors busy, calculated from `alone`.
    pub by_law: Option<f64>,
    /// Results of the sweep.
    pub points: Vec<PointReport>,
    /// The number of workers with the highest rate.
    pub best: u32,
    /// The smallest number that answers nearly as many requests as the best; the command chooses it.
    pub chosen: u32,
    /// Reason for the choice, as a sentence.
    pub reason: String,
    /// Result of all visitors with the present number of workers.
    pub now: Option<LoadMeasurement>,
    /// Result of all visitors with the chosen number of workers.
    pub then: Option<LoadMeasurement>,
    /// Memory use and limit.
    pub memory: MemoryReport,
    /// Result of all visitors arriving at once.
    pub burst: Option<Burst>,
    /// Results for other values of directives.
    pub compared: Vec<DirectiveComparison>,
    pub changes: Vec<DirectiveChange>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// A request measured with one worker and one visitor.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SingleMeasurement {
    /// Mean response time of a visitor.
    pub latency: f64,
    /// CPU and waiting time.
    #[serde(flatten)]
    pub share: TimeShare,
}

impl From<Alone> for SingleMeasurement {
    fn from(alone: Alone) -> SingleMeasurement {
        SingleMeasurement { latency: alone.latency, share: alone.share }
    }
}

/// Result for a number of workers.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PointReport {
    pub workers: u32,
    /// Completed requests, per second of the measurement.
    pub requests_per_second: f64,
    /// Half of the 95 % confidence interval; `None`: a single measurement.
    pub margin: Option<f64>,
    /// Number of slices measured.
    pub slices: usize,
    /// Mean response time including the queue: visitors / rate.
    pub latency: f64,
    pub per_request: TimeShare,
}

/// Measurement of all visitors over some seconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LoadMeasurement {
    pub workers: u32,
    /// Completed requests, per second of the measurement.
    pub requests_per_second: f64,
    /// Median response time.
    pub median: f64,
    /// 99th percentile of the response time; `None`: too few responses.
    pub p99: Option<f64>,
}

impl LoadMeasurement {
    /// Converts the measurement of `workers` workers.
    pub fn of(workers: u32, served: Served) -> LoadMeasurement {
        LoadMeasurement { workers, requests_per_second: served.rate, median: served.median, p99: served.p99 }
    }
}

/// Memory use and limit, in bytes.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct MemoryReport {
    /// Memory independent of the number of workers.
    pub base: u64,
    pub one_more: u64,
    /// Bytes that all workers together may use.
    pub allowed: u64,
    /// Number of workers that fit into the limit.
    pub fit: u32,
    /// Growth of a worker per 1,000 requests.
    pub growth_per_1000: Option<i64>,
}

impl MemoryReport {
    /// Total memory with `workers` workers.
    pub fn of(&self, workers: u32) -> u64 {
        self.base + self.one_more * u64::from(workers)
    }
}
