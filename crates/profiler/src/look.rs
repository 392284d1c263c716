//! A single look at a worker.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use wire::control::Slot;

use super::profile::StackFrame;
use super::watched::WatchedWorker;

/// Maximum number of reads of a stack that changes during the read.
const TRIES: usize = 50;

/// Current activity of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservedWorker {
    /// Slot of the worker, counted from 0.
    pub worker: Slot,
    /// Process id of the worker.
    pub pid: i32,
    /// The request; `None`: the worker has none.
    pub request: Option<ObservedRequest>,
}

/// A request under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservedRequest {
    /// `GET`
    pub method: String,
    /// From the request, not from `ServerName`.
    pub host: String,
    /// Path and query.
    pub target: String,
    /// Time since the worker began the request.
    pub took_ms: u64,
    /// The stack, innermost frame first; `None`: it changed during each read.
    pub frames: Option<Vec<StackFrame>>,
}

impl ObservedWorker {
    /// Reads the request and stack of a worker.
    pub fn at(worker: &mut WatchedWorker) -> ObservedWorker {
        let request = worker.activity().map(|activity| {
            let frames = (0..TRIES).find_map(|_| worker.stack(&activity));
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let took = now.as_micros().saturating_sub(u128::from(activity.begun_us)) / 1000;
            let (method, host, target) = (activity.method, activity.host, activity.target);
            ObservedRequest { method, host, target, took_ms: u64::try_from(took).unwrap_or(u64::MAX), frames }
        });
        ObservedWorker { worker: worker.slot, pid: worker.pid, request }
    }
}
