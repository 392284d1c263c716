//! What the front tells of itself, of its clients and of its workers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{GenerationNumber, Slot};

/// What finished requests took, since the front began to serve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// From the whole head to the last byte.
    pub request: Quantiles,
    /// Until a worker had it, of those that asked for one.
    pub queue: Quantiles,
    /// From then until the worker had said everything.
    pub service: Quantiles,
}

/// Of many times, in microseconds; good to two digits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantiles {
    /// Of so many.
    pub count: u64,
    /// Half of them took no longer.
    pub p50_us: u64,
    /// Nine tenths.
    pub p90_us: u64,
    /// Ninety-nine hundredths.
    pub p99_us: u64,
    /// All.
    pub max_us: u64,
}

/// What only the front knows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FrontStatus {
    /// Client connections open.
    pub connections: u64,
    /// Those of them that wait for a further request.
    pub kept: u64,
    /// Some of these.
    pub kept_clients: Vec<ClientStatus>,
    /// Requests answered since the start.
    pub requests: u64,
    /// Requests answered by workers.
    pub worker_requests: u64,
    /// Requests refused because they had waited too long.
    pub queue_timeouts: u64,
    /// Requests refused because the queue was full, or because of an overload.
    pub turned_away: u64,
    /// Requests refused because of a SpeedLimit.
    pub too_fast: u64,
    /// Requests refused because of a MaxConcurrentReqs.
    pub throttled: u64,
    /// More requests come than are answered, for the pool or for a share.
    pub overloaded: bool,
    /// One entry a PoolShare.
    pub shares: Vec<ShareStatus>,
    /// Requests that wait now.
    pub queued: u32,
    /// Finished requests by the status of their answers; 499: the client left before there was one.
    #[serde(default)]
    pub codes: BTreeMap<u16, u64>,
    /// What they took.
    #[serde(default)]
    pub times: Times,
    /// One entry a worker.
    pub workers: Vec<WorkerStatus>,
}

/// What the requests of one `PoolShare` have of the pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareStatus {
    /// The section where it stands.
    pub place: String,
    /// How many workers they may have.
    pub most: u32,
    /// How many they have.
    pub busy: u32,
    /// How many wait.
    pub queued: u32,
    /// More come than are answered.
    pub overloaded: bool,
    /// Requests that found no place in the queue.
    pub turned_away: u64,
}

/// A connection that waits for a further request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStatus {
    /// `192.0.2.1:40000`
    pub client: String,
    /// Requests that it has sent.
    pub served: u32,
    /// For how long it has been idle, in milliseconds.
    pub since_ms: u64,
}

/// One worker as the front sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Its place in the pool.
    pub slot: Slot,
    /// The generation that it was forked for.
    pub generation: GenerationNumber,
    /// Its process, 0 while it is being forked.
    pub pid: i32,
    /// See [`WorkerState`].
    pub state: WorkerState,
    /// Requests it has answered.
    pub requests: u64,
    /// `GET /path` that it works on, or empty: for a reader, so it is cut, and what a terminal would obey is escaped.
    pub request: String,
    /// How long it has been in this state, in milliseconds.
    pub since_ms: u64,
    /// Memory that no other process has. The front does not know it; whoever shows the status asks the kernel.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub private_bytes: Option<u64>,
}

/// The life of a worker. Drawn in docs/architecture.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WorkerState {
    /// Asked of the mold, not yet `Ready`.
    Starting,
    /// Waits for a request.
    Idle,
    /// Has a request.
    Busy,
    /// Was asked to leave, or said that it will; gets no more requests.
    Retiring,
    /// Ended and reaped, or given up: its place is free.
    Gone,
}
