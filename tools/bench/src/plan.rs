//! What will be asked, when, and what counts as an answer.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::Request;

/// All that a run needs to know.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What is asked, each once.
    pub requests: Arc<[Request]>,
    /// In which order: places in `requests`, again from the beginning after the last.
    pub order: Arc<[u32]>,
    /// With which place of `order` it begins.
    pub first: u64,
    /// How many places it goes on each time.
    pub stride: u64,
    /// How many connections ask at the same time.
    pub connections: usize,
    /// HTTP/2: how many requests each connection has at the same time.
    pub streams: usize,
    /// How many threads ask.
    pub threads: usize,
    /// When a request is due.
    pub pace: Pace,
    /// In an open loop, how long after the beginning the first is due.
    pub phase: Duration,
    /// When it is over.
    pub end: End,
    /// At the end of the time, what is under way is given up: the answers that came until then are what is wanted.
    pub cuts: bool,
    /// For how long it runs before anything counts.
    pub warm_up: Duration,
    /// How connections are made and used.
    pub transport: Transport,
    /// What an answer must be.
    pub expected: Expected,
    /// How long one answer may take.
    pub timeout: Duration,
    /// What a reader of the report must know of it.
    pub notes: Vec<String>,
    /// Whether standard error is told each second how it goes.
    pub progress: bool,
}

/// When a request is due.
#[derive(Debug, Clone)]
pub enum Pace {
    /// When its connection has had the answer before (closed loop).
    Closed,
    /// So many a second, at even distances, whatever the server does (open loop).
    Constant(f64),
    /// So many a second on average, each independent of the others, as visitors come (open loop).
    Poisson(f64),
    /// At these times from the beginning, as an access log has them; over with the last (open loop).
    Times(Arc<[Duration]>),
}

/// It is over with what comes first.
#[derive(Debug, Clone, Copy, Default)]
pub struct End {
    /// After so many requests.
    pub requests: Option<u64>,
    /// After so long.
    pub after: Option<Duration>,
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// At an address.
    Tcp(SocketAddr),
    /// At a file.
    Unix(PathBuf),
}

/// How connections are made and used.
#[derive(Debug, Clone, Default)]
pub struct Transport {
    /// Where connections lead, unless it is where the URL says.
    pub to: Option<Endpoint>,
    /// A connection for each request.
    pub close: bool,
    /// HTTP/2.
    pub http2: bool,
    /// Any certificate will do.
    pub insecure: bool,
    /// Certificates that are trusted beside the system's.
    pub authorities: Option<PathBuf>,
    /// Answers are read at so many bits a second.
    pub throttle: Option<f64>,
}

/// What an answer must be.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// One of these; when there is none, anything below 400.
    pub statuses: Vec<u16>,
    /// Stands somewhere in the body.
    pub body: Option<Vec<u8>>,
}

impl Expected {
    /// Whether an answer may have this status.
    pub fn allows(&self, status: u16) -> bool {
        if self.statuses.is_empty() { status < 400 } else { self.statuses.contains(&status) }
    }
}

impl Plan {
    /// The request with this number, counted from 0.
    pub fn request(&self, number: u64) -> Option<&Request> {
        let place = self.place(number).checked_rem(self.order.len() as u64)?;
        let index = self.order.get(usize::try_from(place).ok()?)?;
        self.requests.get(*index as usize)
    }

    /// Its place in the order, before that begins again.
    pub fn place(&self, number: u64) -> u64 {
        number.wrapping_mul(self.stride).wrapping_add(self.first)
    }
}
