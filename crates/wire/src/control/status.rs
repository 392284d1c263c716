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

/// How many times took how long, those that differ by less than a hundredth together, by their middle: for whoever computes quantiles of a part of them, or draws them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread(pub BTreeMap<u64, u64>);

/// The three of [`Times`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spreads {
    /// From the whole head to the last byte, in microseconds.
    pub request: Spread,
    /// Until a worker had it.
    pub queue: Spread,
    /// From then until the worker had said everything.
    pub service: Spread,
}

impl Spread {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// What has been added since `earlier`; where that has more, its front is another one, and all of this is new.
    pub fn since(&self, earlier: &Spread) -> Spread {
        let before = |time| earlier.0.get(time).copied().unwrap_or(0);
        if self.0.iter().any(|(time, count)| *count < before(time)) {
            return self.clone();
        }
        let more = self.0.iter().map(|(time, count)| (*time, count - before(time)));
        Spread(more.filter(|(_, count)| *count > 0).collect())
    }

    /// So many of a hundred took no longer; 0 where there are none.
    pub fn quantile(&self, percent: u64) -> u64 {
        let rank = (self.count() * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let found = self.0.iter().find(|(_, count)| {
            seen += *count;
            seen >= rank
        });
        found.map_or(0, |(time, _)| *time)
    }
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
    /// When it began to serve, in seconds since 1970.
    #[serde(default)]
    pub started_s: u64,
    /// What it says that it is (`Server`).
    #[serde(default)]
    pub software: String,
    /// The name of the main server.
    #[serde(default)]
    pub name: String,
    /// Bytes of answers' bodies.
    #[serde(default)]
    pub bytes: u64,
    /// What requests took, all together, in milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
    /// Requests answered since the start.
    pub requests: u64,
    /// Requests answered by workers.
    pub worker_requests: u64,
    /// Connections that were handed over to workers, for PerlProcessConnectionHandler.
    #[serde(default)]
    pub handed_over: u64,
    /// For how long the workers of the generation that serves have had requests, all together, in microseconds.
    #[serde(default)]
    pub worked_us: u64,
    /// Requests refused because they had waited too long.
    pub queue_timeouts: u64,
    /// Requests refused because the queue was full, or because of an overload.
    pub turned_away: u64,
    /// Answers that were ended because their clients were too slow while requests waited for the worker.
    #[serde(default)]
    pub slow_readers: u64,
    /// HTTP/2 connections that were closed because of what their clients did.
    #[serde(default)]
    pub http2_closed: u64,
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
    /// One entry a pool, where there is more than one.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub pools: Vec<PoolStatus>,
    /// Finished requests by the status of their answers; 499: the client left before there was one.
    #[serde(default)]
    pub codes: BTreeMap<u16, u64>,
    /// What they took.
    #[serde(default)]
    pub times: Times,
    /// The same, all of it; left out where a person reads.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spreads: Option<Spreads>,
    /// The requests of the last minutes that took workers longest, the slowest first.
    #[serde(default)]
    pub slowest: Vec<SlowRequest>,
    /// One entry a worker.
    pub workers: Vec<WorkerStatus>,
}

/// A request that took long.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowRequest {
    /// `GET /path`, for a reader as [`WorkerStatus::request`].
    pub request: String,
    /// Its virtual host, where that has a name.
    pub host: String,
    /// Of the answer.
    pub status: u16,
    /// When it ended, in seconds since 1970.
    pub ended_s: u64,
    /// How long it waited for a worker, in microseconds.
    pub waited_us: u64,
    /// How long the worker had it.
    pub served_us: u64,
    /// Which worker that was.
    pub worker: Slot,
}

impl SlowRequest {
    /// In all.
    pub fn took_us(&self) -> u64 {
        self.waited_us.saturating_add(self.served_us)
    }
}

/// A pool of the generation that serves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolStatus {
    /// Of its `WorkerPool`, or `default`.
    pub name: String,
    /// Which of mod_perl's APIs it speaks.
    pub perl_generation: u8,
    /// Workers that wait for a request.
    pub idle: u32,
    /// Workers that have one.
    pub busy: u32,
    /// Requests that wait for a worker.
    pub queued: u32,
    /// Its `MaxClients`.
    pub most: u32,
    /// More requests come than are answered.
    pub overloaded: bool,
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Its place in the pool.
    pub slot: Slot,
    /// The generation that it was forked for.
    pub generation: GenerationNumber,
    /// Its pool, where there is more than one.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub pool: String,
    /// Its process, 0 while it is being forked.
    pub pid: i32,
    /// See [`WorkerState`].
    pub state: WorkerState,
    /// The same as httpd's scoreboard has it.
    #[serde(default)]
    pub activity: Activity,
    /// Requests it has answered.
    pub requests: u64,
    /// `GET /path` that it works on, or empty: for a reader, so it is cut, and what a terminal would obey is escaped.
    pub request: String,
    /// The one that it has ended last, in the same manner.
    #[serde(default)]
    pub last_request: String,
    /// The virtual host of `request`, or else of `last_request`, where it has a name.
    #[serde(default)]
    pub host: String,
    /// How long that request waited for this worker, in microseconds.
    #[serde(default)]
    pub queue_wait_us: Option<u64>,
    /// How long it has been in this state, in milliseconds.
    pub since_ms: u64,
    /// Memory that no other process has. The front does not know it; whoever shows the status asks the kernel.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub private_bytes: Option<u64>,
    /// CPU time that it has used, in milliseconds; found out in the same manner.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_ms: Option<u64>,
}

/// What a worker does, with httpd's sign for it. Those that httpd has besides (`R`, `K`, `D`, `C`) never are: who reads requests, keeps
/// connections, asks for names and closes is the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Activity {
    /// Nobody is there.
    #[default]
    #[serde(rename = ".")]
    Gone,
    /// It begins.
    #[serde(rename = "S")]
    Starting,
    /// It waits for a request.
    #[serde(rename = "_")]
    Waiting,
    /// It works on one.
    #[serde(rename = "W")]
    Working,
    /// Its client has the answer; it logs and cleans up.
    #[serde(rename = "L")]
    Logging,
    /// It leaves after the request that it has.
    #[serde(rename = "G")]
    Finishing,
    /// It has none any more, and leaves.
    #[serde(rename = "I")]
    Leaving,
}

impl Activity {
    /// httpd's sign.
    pub fn sign(self) -> char {
        match self {
            Activity::Gone => '.',
            Activity::Starting => 'S',
            Activity::Waiting => '_',
            Activity::Working => 'W',
            Activity::Logging => 'L',
            Activity::Finishing => 'G',
            Activity::Leaving => 'I',
        }
    }

    /// As a person says it.
    pub fn word(self) -> &'static str {
        match self {
            Activity::Gone => "gone",
            Activity::Starting => "starting",
            Activity::Waiting => "idle",
            Activity::Working => "busy",
            Activity::Logging => "logging",
            Activity::Finishing => "finishing",
            Activity::Leaving => "leaving",
        }
    }
}

/// The life of a worker. Drawn in docs/architecture.md.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    #[default]
    Gone,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_what_came_since() {
        let spread = |of: &[(u64, u64)]| Spread(of.iter().copied().collect());
        let (before, after) = (spread(&[(100, 50), (200, 1)]), spread(&[(100, 149), (200, 1), (9000, 1)]));
        let since = after.since(&before);
        assert_eq!(since, spread(&[(100, 99), (9000, 1)]));
        assert_eq!([50, 99, 100].map(|percent| since.quantile(percent)), [100, 100, 9000]);
        assert_eq!(before.since(&after), before, "another front has begun anew");
        assert_eq!(Spread::default().quantile(99), 0);
    }
}
