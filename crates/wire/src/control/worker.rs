//! Status of one worker.

use serde::{Deserialize, Serialize};

use super::{GenerationNumber, Slot, WorkerId};

/// A request whose response began late, in a worker that has several at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongWait {
    /// The worker that had the request.
    pub worker: WorkerId,
    /// When the front had the complete head, in µs since 1970.
    pub received_us: u64,
    /// `GET`
    pub method: String,
    /// The requested host.
    pub host: String,
    /// Address of the client.
    pub client: String,
    /// Path and query.
    pub target: String,
    /// Time that the request waited for a worker, in ms.
    pub queued_ms: u64,
    /// Time from there to the beginning of the response, or to its failure, in ms.
    pub took_ms: u64,
}

/// The front's data about a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Slot in the pool.
    pub slot: Slot,
    /// Generation of the code that the worker runs.
    pub generation: GenerationNumber,
    /// The pool, where there are several.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub pool: String,
    /// The process id; 0 while the mold forks the worker.
    pub pid: i32,
    /// The front derives it from the messages of the worker.
    pub state: WorkerState,
    /// Activity in the terms of httpd's scoreboard.
    #[serde(default)]
    pub activity: WorkerActivity,
    /// Number of requests answered.
    pub requests: u64,
    /// The current request (`GET /path`), or empty. Shortened, and control characters are escaped: terminals
    /// show this.
    pub request: String,
    /// The last request that has ended, in the same form.
    #[serde(default)]
    pub last_request: String,
    /// The virtual host of `request`, or else of `last_request`, where it has a name.
    #[serde(default)]
    pub host: String,
    /// Address of the client of `request`, or else of `last_request`.
    #[serde(default)]
    pub client: String,
    /// Time with requests that have ended, in µs.
    #[serde(default)]
    pub worked_us: u64,
    /// Time that `request` waited for this worker, in µs.
    #[serde(default)]
    pub queue_wait_us: Option<u64>,
    /// Time in this state, in ms.
    pub since_ms: u64,
    /// The requests and connections of a worker with an event loop; `None` in other pools. `request` shows them, too.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub streams: Option<OpenStreams>,
}

/// The open streams of a worker with an event loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenStreams {
    /// Requests and their responses.
    pub http: u32,
    /// Open WebSockets.
    pub websocket: u32,
    /// Responses of server-sent events.
    pub sse: u32,
}

impl OpenStreams {
    /// What counts against `EventConnections`.
    pub fn all(self) -> u32 {
        self.http + self.websocket + self.sse
    }

    /// The kinds and their numbers.
    pub fn kinds(self) -> [(&'static str, u32); 3] {
        [("http", self.http), ("websocket", self.websocket), ("sse", self.sse)]
    }
}

impl std::fmt::Display for OpenStreams {
    /// `open: 3 http, 2 websocket`, or nothing without streams.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut before = "open: ";
        for (kind, count) in self.kinds().into_iter().filter(|(_, count)| *count > 0) {
            write!(f, "{before}{count} {kind}")?;
            before = ", ";
        }
        Ok(())
    }
}

/// Activity of a worker, with httpd's sign for it. httpd's `R`, `K`, `D` and `C` never occur: the front, not a
/// worker, reads requests, keeps connections alive, looks up names and closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum WorkerActivity {
    /// No worker: the slot is empty.
    #[default]
    #[serde(rename = ".")]
    Gone,
    /// Forked, but `Ready` has not arrived.
    #[serde(rename = "S")]
    Starting,
    /// The worker waits for a request.
    #[serde(rename = "_")]
    Waiting,
    /// The worker has a request.
    #[serde(rename = "W")]
    Working,
    /// The client has the response; the worker logs and cleans up.
    #[serde(rename = "L")]
    Logging,
    /// The worker leaves after its current request.
    #[serde(rename = "G")]
    Finishing,
    /// The worker has no request, and leaves.
    #[serde(rename = "I")]
    Leaving,
}

impl WorkerActivity {
    /// The character in httpd's scoreboard.
    pub fn sign(self) -> char {
        match self {
            WorkerActivity::Gone => '.',
            WorkerActivity::Starting => 'S',
            WorkerActivity::Waiting => '_',
            WorkerActivity::Working => 'W',
            WorkerActivity::Logging => 'L',
            WorkerActivity::Finishing => 'G',
            WorkerActivity::Leaving => 'I',
        }
    }

    /// The name in terminal output.
    pub fn word(self) -> &'static str {
        match self {
            WorkerActivity::Gone => "gone",
            WorkerActivity::Starting => "starting",
            WorkerActivity::Waiting => "idle",
            WorkerActivity::Working => "busy",
            WorkerActivity::Logging => "logging",
            WorkerActivity::Finishing => "finishing",
            WorkerActivity::Leaving => "leaving",
        }
    }
}

/// The states of a worker. Drawn in docs/architecture.md.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WorkerState {
    /// Requested from the mold, not yet `Ready`.
    Starting,
    /// Waits for a request.
    Idle,
    /// Has a request.
    Busy,
    /// The worker was asked to leave, or has announced its exit; it gets no more requests.
    Retiring,
    /// Ended and reaped, or given up: the slot is free.
    #[default]
    Gone,
}
