//! One request as the access logs say it: what is known of it when the last byte has gone out.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderMap;
use http::request::Parts;
use wire::control::Slot;
use wire::frame::name_in_logs;
use wire::reply::{End, LogKind};

use crate::base::address::Address;
use crate::base::changed_headers::ChangedHeaders;
use config::Host;
use config::response::variables::Variables;

/// How the connection was left after the answer: `%X`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The client left, or was cut off, before it had everything.
    Aborted,
    /// It may send a further request.
    Kept,
    /// It was closed in order.
    Closed,
}

/// Marks the head of a request that could not be read; what is known of its first line.
#[derive(Debug, Clone)]
pub struct Unreadable(pub Vec<u8>);

pub struct Entry<'a> {
    /// The virtual host.
    pub host: &'a Host,
    /// The request's head.
    pub head: &'a Parts,
    /// Headers that are different for everybody but the client.
    pub changed: Option<&'a ChangedHeaders>,
    /// Who asked: by the word of a trusted proxy, or else the peer.
    pub client: &'a Address,
    /// Its name, if that was looked up and it has one.
    pub client_name: Option<&'a str>,
    /// The user that the front knows.
    pub user: Option<&'a str>,
    /// The other end of the connection.
    pub peer: &'a Address,
    /// Our end of it.
    pub local: &'a Address,
    /// Requests on this connection before this one.
    pub earlier: u32,
    /// Whether the client speaks TLS, with us or with a proxy.
    pub is_secure: bool,
    /// mod_ssl's variables.
    pub tls: &'a dyn Fn(&str) -> Option<String>,
    /// What the configuration and the cache have set.
    pub variables: &'a Variables,
    /// Where it led, once known.
    pub place: Option<Place<'a>>,
    pub status: u16,
    /// The answer's headers, kept only when a format names one.
    pub answer: Option<&'a HeaderMap>,
    /// Its number in logs.
    pub number: u64,
    /// The trace that it belongs to.
    pub trace_id: Option<String>,
    /// When the head was whole.
    pub received: SystemTime,
    /// From then to the last byte.
    pub took: Duration,
    /// Body bytes sent, without chunk sizes.
    pub body_bytes: u64,
    /// All bytes received for it.
    pub received_bytes: u64,
    /// All bytes sent for it.
    pub sent_bytes: u64,
    pub ending: Ending,
    /// The worker's part, if a worker was asked.
    pub worker: Option<Worker<'a>>,
}

/// Where a request led.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Decoded and normalised.
    pub path: &'a [u8],
    /// What the path stands for.
    pub file: &'a Path,
    /// The host that was asked for.
    pub host_asked: &'a str,
}

/// A worker's part in an answer.
#[derive(Debug, Clone, Copy)]
pub struct Worker<'a> {
    /// How long the request waited for it.
    pub waited: Duration,
    /// From when the head was whole until the worker had it.
    pub began: Duration,
    /// From then until it had said everything.
    pub served: Duration,
    /// Its place in the pool, and its process.
    pub served_by: Option<(Slot, i32)>,
    /// What it said when it had done.
    pub end: Option<&'a End>,
}

/// In µs.
pub fn since_1970(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

impl<'a> Entry<'a> {
    /// Its name in logs.
    pub fn name(&self) -> String {
        name_in_logs(since_1970(self.received), self.number)
    }

    /// What the worker said when it had done.
    pub fn end(&self) -> Option<&'a End> {
        self.worker?.end
    }

    /// What the worker's program told of this kind.
    pub fn told(&self, kind: LogKind) -> Option<&'a [u8]> {
        let (_, _, value) = self.end()?.log.iter().find(|(of, ..)| *of == kind)?;
        Some(value)
    }

    /// What is known of the first line of a request that could not be read.
    pub fn unreadable(&self) -> Option<&'a [u8]> {
        self.head.extensions.get().map(|Unreadable(line)| &line[..])
    }
}
