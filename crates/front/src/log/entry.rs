//! A request as the access logs see it, after the last byte of its response.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderMap;
use http::request::Parts;
use wire::control::Slot;
use wire::frame::name_in_logs;
use wire::reply::{LogKind, RequestEnd};

use crate::base::address::Address;
use crate::base::changed_headers::ChangedHeaders;
use config::Host;

/// State of the connection after the response: `%X`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The client left, or was cut off, before the response was complete.
    Aborted,
    /// The connection may carry another request.
    Kept,
    /// The connection was closed gracefully.
    Closed,
}

/// The status logged for a client that left before the response, as in nginx.
const CLIENT_LEFT: u16 = 499;

/// Figures of a response, as far as it was sent.
#[derive(Debug, Clone, Copy)]
pub struct ResponseTally {
    pub status: u16,
    /// Time from the complete head to the last byte.
    pub took: Duration,
    /// Body bytes sent, without chunk headers.
    pub body_bytes: u64,
    /// All bytes received for the request; for HTTP/2, those of its stream.
    pub received_bytes: u64,
    /// All bytes sent for the request.
    pub sent_bytes: u64,
    pub ending: Ending,
}

impl Default for ResponseTally {
    fn default() -> ResponseTally {
        let (status, took, ending) = (CLIENT_LEFT, Duration::ZERO, Ending::Aborted);
        ResponseTally { status, took, body_bytes: 0, received_bytes: 0, sent_bytes: 0, ending }
    }
}

/// Marks the head of an unreadable request; contains its first line as far as known.
#[derive(Debug, Clone)]
pub struct Unreadable(pub Vec<u8>);

pub struct Entry<'a> {
    pub host: &'a Host,
    /// The request's head.
    pub head: &'a Parts,
    /// Headers that the server has changed for everything behind it.
    pub changed: Option<&'a ChangedHeaders>,
    /// Address of the client: as reported by a trusted proxy, or else the peer.
    pub client: &'a Address,
    /// Host name of the client, if it was looked up.
    pub client_name: Option<&'a str>,
    /// The user that the front has authenticated.
    pub user: Option<&'a str>,
    /// Remote address of the connection.
    pub peer: &'a Address,
    pub local: &'a Address,
    /// Number of earlier requests on the connection.
    pub earlier: u32,
    /// Whether the client uses TLS, with the front or with a proxy.
    pub is_secure: bool,
    /// Looks up variables of mod_ssl.
    pub tls: &'a dyn Fn(&str) -> Option<String>,
    /// Variables set by the configuration and the cache.
    pub variables: &'a dyn Fn(&str) -> Option<String>,
    /// Notes of `Header note`.
    pub notes: &'a BTreeMap<String, String>,
    /// Result of the routing, once known.
    pub place: Option<RoutedPath<'a>>,
    pub tally: ResponseTally,
    /// Name of the handler, if it is not that of files.
    pub handler: Option<&'a str>,
    /// Headers of the response; stored only if a format uses one.
    pub response: Option<&'a HeaderMap>,
    /// Number of the request in logs.
    pub number: u64,
    /// Id of the request's trace.
    pub trace_id: Option<String>,
    /// The request's id in the header of `RequestIDHeader`.
    pub forwarded_id: Option<&'a str>,
    /// When the head was complete.
    pub received: SystemTime,
    /// Part of the worker, if the request was submitted to one.
    pub worker: Option<LoggedWorker<'a>>,
}

/// Result of routing a request.
#[derive(Debug, Clone, Copy)]
pub struct RoutedPath<'a> {
    /// Decoded and normalised path.
    pub path: &'a [u8],
    /// Absolute path of the file to which the path leads.
    pub file: &'a Path,
    pub host_asked: &'a str,
}

/// Part of a worker in a response.
#[derive(Debug, Clone, Copy)]
pub struct LoggedWorker<'a> {
    /// Time in the queue.
    pub waited: Duration,
    /// Time from the complete head to the start at the worker.
    pub began: Duration,
    /// Time from the start to the end at the worker.
    pub served: Duration,
    /// Slot and process id of the worker.
    pub served_by: Option<(Slot, i32)>,
    /// The worker's final message.
    pub end: Option<&'a RequestEnd>,
}

/// Converts a time to µs since 1970.
pub fn since_1970(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

impl<'a> Entry<'a> {
    /// Id of the request in logs.
    pub fn name(&self) -> String {
        name_in_logs(since_1970(self.received), self.number)
    }

    /// The worker's final message.
    pub fn end(&self) -> Option<&'a RequestEnd> {
        self.worker?.end
    }

    /// The value of this kind that the worker's program has set.
    pub fn reported(&self, kind: LogKind) -> Option<&'a [u8]> {
        let (_, _, value) = self.end()?.log.iter().find(|(of, ..)| *of == kind)?;
        Some(value)
    }

    /// First line of an unreadable request, as far as known.
    pub fn unreadable(&self) -> Option<&'a [u8]> {
        self.head.extensions.get().map(|Unreadable(line)| &line[..])
    }
}
