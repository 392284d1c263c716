//! A request that is submitted to a pool, and what all threads see of it until it is over.

use std::fmt;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use http::Method;
use wire::control::WorkerId;

use super::scheduler::{ClientId, RequestId, RequestTimeouts};
use super::spool::LateClose;
use base::printable;
use config::scheduling::PoolShare;

/// Maximum number of characters of a request in a table.
const SHOWN: usize = 200;

/// A request to submit to a pool.
pub struct Job<'a> {
    /// Unique; larger than the id of every earlier job.
    pub id: RequestId,
    /// The encoded request.
    pub frame: Vec<u8>,
    /// The request's body, if it is in a file.
    pub body: Option<LateClose>,
    /// Name of the request in logs and on the status page.
    pub label: Label,
    /// Limits on queueing and running.
    pub timeouts: RequestTimeouts,
    /// The `PoolShare` that counts this request.
    pub share: Option<&'a PoolShare>,
    /// The client whose `SpeedLimit` is charged with the worker's time.
    pub charged_to: Option<ClientId>,
}

/// A request from its submission until it is over.
pub struct Submitted {
    /// Index of the thread that owns the request.
    pub thread: u8,
    /// The encoded request. Stored until the end, because a worker that has not begun may give it back.
    pub frame: Vec<u8>,
    /// The request's body when it is in a file.
    pub body: Option<LateClose>,
    /// Name of the request in logs and on the status page.
    pub label: Label,
    /// Time of submission.
    pub at: Instant,
    /// When and where a worker began the request.
    pub begun: Option<RequestStart>,
}

/// When and where a request began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestStart {
    /// Time in the queue.
    pub waited: Duration,
    pub since: Instant,
    /// The worker that serves or served the request.
    pub worker: WorkerId,
    /// Process id of that worker.
    pub pid: i32,
}

/// Name of a request in logs and tables: `GET /path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Index of the request's host in the configuration.
    pub host: u16,
    pub method: Method,
    pub target: Box<[u8]>,
    /// The client, by RemoteIP if that applies.
    pub client: IpAddr,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, String::from_utf8_lossy(&self.target))
    }
}

impl Label {
    /// Shortened and printable, because a client may send anything to whoever reads the table.
    pub fn shown(&self) -> String {
        let mut text = self.to_string();
        if let Some((end, _)) = text.char_indices().nth(SHOWN) {
            text.truncate(end);
            text.push('…');
        }
        printable::line(&text)
    }
}
