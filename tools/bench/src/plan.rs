//! The requests of a run, their times, and the expected responses.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::EncodedRequest;

/// All parameters of a run.
#[derive(Debug, Clone)]
pub struct RunPlan {
    /// Each different request once, encoded before the run.
    pub requests: Arc<[EncodedRequest]>,
    /// The order: indices into `requests`, repeated from the beginning.
    pub order: Arc<[u32]>,
    /// The first position in `order`.
    pub first: u64,
    /// Distance between positions in `order` that this plan uses.
    pub stride: u64,
    /// Number of connections used at the same time.
    pub connections: usize,
    /// HTTP/2: number of concurrent requests on each connection.
    pub streams: usize,
    /// Number of threads. The connections are divided among them.
    pub threads: usize,
    /// When requests are due.
    pub pace: RequestPace,
    /// In an open loop, when the first request is due, from the start.
    pub phase: Duration,
    /// Condition that ends the run.
    pub end: RunLimits,
    /// Whether requests under way are dropped at the end of the time; otherwise their responses are awaited.
    pub cuts: bool,
    /// Time at the beginning that is not counted.
    pub warm_up: Duration,
    /// How connections are made and used.
    pub transport: ConnectionPlan,
    /// Other responses are failures.
    pub expected: Expected,
    /// Timeout of a response.
    pub timeout: Duration,
    /// Notes for the report.
    pub notes: Vec<String>,
    /// Whether progress is written to standard error each second.
    pub progress: bool,
}

/// When requests are due.
#[derive(Debug, Clone)]
pub enum RequestPace {
    /// A request is due when the connection's last response has arrived (closed loop).
    Closed,
    /// Requests are due at this rate per second, at even distances (open loop).
    Constant(f64),
    /// Requests are due at this mean rate per second, with independent random gaps, like visitors (open loop).
    Poisson(f64),
    /// Requests are due at these times from the start, as in an access log. The run ends with the last one (open loop).
    Times(Arc<[Duration]>),
}

/// Limits of a run; the first one that is reached ends it.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunLimits {
    /// Number of requests after which the run ends.
    pub requests: Option<u64>,
    /// Duration after which the run ends.
    pub after: Option<Duration>,
}

/// Address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// An IP address and port.
    Tcp(SocketAddr),
    /// The path of a unix socket.
    Unix(PathBuf),
}

/// How connections are made and used.
#[derive(Debug, Clone, Default)]
pub struct ConnectionPlan {
    /// Address to connect to, if not that of the URL.
    pub to: Option<Endpoint>,
    /// Whether each request gets a new connection.
    pub close: bool,
    /// Whether HTTP/2 is used.
    pub http2: bool,
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// A file of trusted certificates, in addition to the system's.
    pub authorities: Option<PathBuf>,
    /// Read rate limit, in bits per second.
    pub throttle: Option<f64>,
}

/// The expected response.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// Allowed statuses; if empty, all below 400.
    pub statuses: Vec<u16>,
    /// A text in the body.
    pub body: Option<Vec<u8>>,
}

impl Expected {
    /// Whether a response may have this status.
    pub fn allows(&self, status: u16) -> bool {
        if self.statuses.is_empty() { status < 400 } else { self.statuses.contains(&status) }
    }
}

impl RunPlan {
    /// The request with this number, from 0.
    pub fn request(&self, number: u64) -> Option<&EncodedRequest> {
        let place = self.place(number).checked_rem(self.order.len() as u64)?;
        let index = self.order.get(usize::try_from(place).ok()?)?;
        self.requests.get(*index as usize)
    }

    /// The position in the order, before it is wrapped.
    pub fn place(&self, number: u64) -> u64 {
        number.wrapping_mul(self.stride).wrapping_add(self.first)
    }
}
