//! A request as all threads have it, from when it is submitted until it is over.

use std::fmt;
use std::time::{Duration, Instant};

use http::Method;
use wire::control::WorkerId;

use super::spool::LateClose;
use base::printable;

/// Characters of a request in a table.
const SHOWN: usize = 200;

/// See the module.
pub struct Submitted {
    /// The thread that has it.
    pub thread: u8,
    /// The encoded request. It is kept until the end: a worker that has not begun may give it back.
    pub frame: Vec<u8>,
    /// The request's body when it is in a file.
    pub body: Option<LateClose>,
    /// For logs and status.
    pub label: Label,
    /// When it was submitted.
    pub at: Instant,
    /// Since a worker has it.
    pub begun: Option<Begun>,
}

/// How a request came to its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    /// How long it waited for that.
    pub waited: Duration,
    /// When it came there.
    pub since: Instant,
    /// Which worker has or had it.
    pub worker: WorkerId,
    /// Its process.
    pub pid: i32,
}

/// How logs and tables name a request: `GET /path`.
pub struct Label {
    /// Its host, by the place that it has in the configuration.
    pub host: u16,
    /// Its method.
    pub method: Method,
    /// What it asks for.
    pub target: Box<[u8]>,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, String::from_utf8_lossy(&self.target))
    }
}

impl Label {
    /// For a table: what a client sends may be long, and made for whoever looks.
    pub fn shown(&self) -> String {
        let mut text = self.to_string();
        if let Some((end, _)) = text.char_indices().nth(SHOWN) {
            text.truncate(end);
            text.push('…');
        }
        printable::line(&text)
    }
}
