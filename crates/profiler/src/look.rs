//! A single look at a worker.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use wire::control::Slot;

use super::profile::Frame;
use super::watched::Watched;

/// How often a stack is read that changes meanwhile.
const TRIES: usize = 50;

/// What a worker does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Looked {
    /// Its slot.
    pub worker: Slot,
    /// Its process.
    pub pid: i32,
    /// Its request; `None`: it has none.
    pub request: Option<LookedRequest>,
}

/// A request under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LookedRequest {
    /// `GET`
    pub method: String,
    /// The requested host.
    pub host: String,
    /// Path and query.
    pub target: String,
    /// How long the worker has had it.
    pub took_ms: u64,
    /// The stack, innermost frame first; `None`: it changed during each read.
    pub frames: Option<Vec<Frame>>,
}

impl Looked {
    /// Reads its request and stack.
    pub fn at(worker: &mut Watched) -> Looked {
        let request = worker.activity().map(|activity| {
            let frames = (0..TRIES).find_map(|_| worker.stack(&activity));
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let took = now.as_micros().saturating_sub(u128::from(activity.begun_us)) / 1000;
            let (method, host, target) = (activity.method, activity.host, activity.target);
            LookedRequest { method, host, target, took_ms: u64::try_from(took).unwrap_or(u64::MAX), frames }
        });
        Looked { worker: worker.slot, pid: worker.pid, request }
    }
}
