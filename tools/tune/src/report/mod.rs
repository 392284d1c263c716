//! What was found, for persons and programs: one `Report`, several ways to write it.

pub mod file;
pub mod picture;
pub mod text;

use serde::Serialize;

use super::bed::{Alone, Served};
use super::changes::Change;
use super::compare::{Burst, Compared};
use machine::capacity::{Kind, Share};

/// All of it; times are seconds, sizes bytes.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The configuration.
    pub site: String,
    /// The first URL that was asked.
    pub url: String,
    /// How many different requests were.
    pub urls: usize,
    /// How many asked at the same time.
    pub visitors: u32,
    /// Processors, which the visitors and the front had their parts of.
    pub cores: f64,
    /// How long all of it took.
    pub seconds: f64,
    /// One worker and one visitor.
    pub alone: Seen,
    /// What requests mostly do.
    pub kind: Kind,
    /// How many workers the processors have work for, by that.
    pub by_law: Option<f64>,
    /// The sweep.
    pub points: Vec<PointReport>,
    /// The number of workers that answered most.
    pub best: u32,
    /// The smallest that answers nearly as much, and is chosen.
    pub chosen: u32,
    /// In a sentence.
    pub reason: String,
    /// All visitors, as the site is now: with so many workers.
    pub now: Option<Verified>,
    /// The same with the chosen number.
    pub then: Option<Verified>,
    /// What it takes of the memory.
    pub memory: MemoryReport,
    /// All visitors at once.
    pub burst: Option<Burst>,
    /// Other directives.
    pub compared: Vec<Compared>,
    /// What should change.
    pub changes: Vec<Change>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// A request when it is alone.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Seen {
    /// How long it takes.
    pub latency: f64,
    /// What it does in that time.
    #[serde(flatten)]
    pub share: Share,
}

impl From<Alone> for Seen {
    fn from(alone: Alone) -> Seen {
        Seen { latency: alone.latency, share: alone.share }
    }
}

/// A number of workers.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PointReport {
    /// So many.
    pub workers: u32,
    /// Requests a second.
    pub requests_per_second: f64,
    /// On both sides of it, with 95 % confidence; nothing where it was measured once.
    pub margin: Option<f64>,
    /// How often it was measured.
    pub slices: usize,
    /// How long an answer takes on average, waiting for a worker included: visitors / rate.
    pub latency: f64,
    /// What a request did with the time for which it had a worker.
    pub per_request: Share,
}

/// All visitors, served by a number of workers for some seconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Verified {
    /// So many.
    pub workers: u32,
    /// Requests a second.
    pub requests_per_second: f64,
    /// Half of the answers came within this.
    pub median: f64,
    /// 99 of 100, where there were enough to tell.
    pub p99: Option<f64>,
}

impl Verified {
    /// What was seen of so many workers.
    pub fn of(workers: u32, served: Served) -> Verified {
        Verified { workers, requests_per_second: served.rate, median: served.median, p99: served.p99 }
    }
}

/// Memory, in bytes.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct MemoryReport {
    /// What is there whatever the number of workers.
    pub base: u64,
    /// What one more worker costs.
    pub one_more: u64,
    /// What the server may have.
    pub allowed: u64,
    /// How many workers fit into that.
    pub fit: u32,
    /// By how much a thousand requests make a worker grow.
    pub growth_per_1000: Option<i64>,
}

impl MemoryReport {
    /// What so many workers take, with all else.
    pub fn of(&self, workers: u32) -> u64 {
        self.base + self.one_more * u64::from(workers)
    }
}
