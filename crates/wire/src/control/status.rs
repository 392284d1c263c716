//! Status of the front and of its clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Slot;
use super::hosts::{CertificateStatus, HostStatus};
use super::times::{ResponseTimes, Spreads};
use super::worker::WorkerStatus;

/// The front's part of the status.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FrontStatus {
    /// Number of open client connections.
    pub connections: u64,
    /// Connections that wait for a further request.
    pub kept: u64,
    /// A sample of the keep-alive connections.
    pub kept_clients: Vec<ClientStatus>,
    /// When the front began to serve, in seconds since 1970.
    #[serde(default)]
    pub started_s: u64,
    /// The value of the `Server` header.
    #[serde(default)]
    pub software: String,
    /// The name of the main server.
    #[serde(default)]
    pub name: String,
    /// Bytes of response bodies.
    #[serde(default)]
    pub bytes: u64,
    /// Sum of all requests' durations, in milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
    /// Requests answered since the start.
    pub requests: u64,
    /// Requests answered by workers.
    pub worker_requests: u64,
    /// Connections handed over to workers, for PerlProcessConnectionHandler.
    #[serde(default)]
    pub handed_over: u64,
    /// Sum of the times during which workers of the serving generation had a request, in microseconds.
    #[serde(default)]
    pub worked_us: u64,
    /// Requests that were refused rather than served.
    #[serde(default)]
    pub shed: Shed,
    /// Responses cut off because their clients read too slowly while requests waited for the worker.
    #[serde(default)]
    pub slow_readers: u64,
    /// HTTP/2 connections closed because the client exceeded a limit or broke the protocol.
    #[serde(default)]
    pub http2_closed: u64,
    /// Messages between workers.
    #[serde(default)]
    pub broadcast: BroadcastStatus,
    /// The way of messages to other servers; `None` without `BroadcastTransport`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub broadcast_transport: Option<BroadcastTransportStatus>,
    /// The stores of `LimitStore` and `CacheStore`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub stores: Vec<SharedStoreStatus>,
    /// The pool or one of its shares gets more requests than it can answer.
    pub overloaded: bool,
    /// One entry per PoolShare.
    pub shares: Vec<ShareStatus>,
    /// Members of the balancers of the serving configuration.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub members: Vec<MemberStatusReport>,
    /// Requests that wait for a worker now.
    pub queued: u32,
    /// One entry per pool, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub pools: Vec<PoolStatus>,
    /// Requests by virtual host, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub hosts: Vec<HostStatus>,
    /// Certificates of the serving configuration.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub certificates: Vec<CertificateStatus>,
    /// Finished requests by status; 499: the client left before the response began.
    #[serde(default)]
    pub codes: BTreeMap<u16, u64>,
    /// Percentiles of the response times.
    #[serde(default)]
    pub times: ResponseTimes,
    /// Histograms of their durations; left out of the output for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spreads: Option<Spreads>,
    /// The slowest request of each path of the last minutes, slowest first.
    #[serde(default)]
    pub slowest: Vec<SlowRequest>,
    /// One entry per worker.
    pub workers: Vec<WorkerStatus>,
}

/// Messages between workers (`Cameleer::Broadcast`), since the front's start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BroadcastStatus {
    /// Number of messages that workers have published.
    pub published: u64,
    /// Number of messages for workers with subscribers, counted for each worker.
    pub sent: u64,
    /// Messages that were dropped because the worker did not read, counted for each worker.
    pub dropped: u64,
    /// Number of channels with subscriptions.
    pub channels: u64,
    /// Sum of the subscriptions of all workers.
    pub subscriptions: u64,
    /// Number of streams that the front holds for programs.
    #[serde(default)]
    pub held_streams: u64,
    /// Number of long polls that the front holds for programs.
    #[serde(default)]
    pub held_responses: u64,
    /// Number of held streams that were closed because too many messages waited for them.
    #[serde(default)]
    pub held_slow: u64,
}

impl BroadcastStatus {
    /// Number of responses that the front holds for programs.
    pub fn held(&self) -> u64 {
        self.held_streams + self.held_responses
    }

    /// The same by the kinds of `Cameleer-Hold`.
    pub fn held_by_kind(&self) -> [(&'static str, u64); 2] {
        [("stream", self.held_streams), ("response", self.held_responses)]
    }
}

/// The way of messages to other servers (`BroadcastTransport`), since the front's start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BroadcastTransportStatus {
    /// The store's URL, without account and password.
    pub store: String,
    /// Whether there is a connection.
    pub connected: bool,
    /// Why there is no connection; empty before the first failure.
    pub error: String,
    /// Number of other servers that have reported within 30 s.
    pub nodes: u64,
    /// Number of messages that the store has accepted.
    pub sent: u64,
    /// Number of messages of other servers.
    pub received: u64,
    /// Number of messages that were dropped because the store was away or too slow.
    pub dropped: u64,
    /// Number of messages from the store that were malformed or of another version.
    pub unusable: u64,
    /// Number of connections after the first.
    pub reconnects: u64,
    /// Size of the messages that wait for the store.
    pub waiting_bytes: u64,
}

/// A store that several servers share (`LimitStore`, `CacheStore`), since the last reload.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedStoreStatus {
    /// `LimitStore`, `CacheStore`
    pub directive: String,
    /// The store's URL, without account and password.
    pub store: String,
    /// Whether the store answers in time.
    pub connected: bool,
    /// Why the store is not used; empty before the first failure.
    pub error: String,
    /// Number of requests for which the store has answered in time.
    pub answered: u64,
    /// Number of requests that have waited for `StoreTimeout`.
    pub late: u64,
    /// Number of requests that were decided without the store.
    pub alone: u64,
    /// Number of connections after the first of a thread.
    pub reconnects: u64,
}

/// A member of a balancer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberStatusReport {
    /// The balancer's name.
    pub balancer: String,
    /// The backend's URL.
    pub url: String,
    /// The route in sessions; empty without one.
    pub route: String,
    /// `ok`, `error`, `failing`, `disabled`, `stopped`, `draining`, `standby` or `spare`.
    pub state: String,
    /// Requests for which the member was chosen.
    pub elected: u64,
    /// Requests that are running.
    pub busy: u32,
    /// Bytes of requests' bodies.
    pub to_member: u64,
    /// Bytes of responses' bodies.
    pub from_member: u64,
}

/// Requests that were refused, by reason. The names are those of the label `reason` of `cameleer_shed_total`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shed {
    /// Requests refused after QueueTimeout.
    pub queue_timeout: u64,
    /// Found the queue full, or came during an overload.
    pub queue_full: u64,
    /// Requests above a SpeedLimit.
    pub speed_limit: u64,
    /// Requests above a MaxConcurrentReqs.
    pub max_concurrent: u64,
}

impl Shed {
    /// Each reason with the number of refused requests.
    pub fn by_reason(&self) -> [(&'static str, u64); 4] {
        [
            ("queue_timeout", self.queue_timeout),
            ("queue_full", self.queue_full),
            ("speed_limit", self.speed_limit),
            ("max_concurrent", self.max_concurrent),
        ]
    }

    /// Number of refused requests for all reasons.
    pub fn total(&self) -> u64 {
        self.by_reason().iter().map(|(_, count)| count).sum()
    }
}

/// A request that was among the slowest of the last minutes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowRequest {
    /// `GET /path`, shortened and escaped as [`WorkerStatus::request`].
    pub request: String,
    /// Name of the virtual host, if it has one.
    pub host: String,
    /// Address of the client.
    #[serde(default)]
    pub client: String,
    /// HTTP status.
    pub status: u16,
    /// When the request ended, in seconds since 1970.
    pub ended_s: u64,
    /// Wait for a worker, in microseconds.
    pub waited_us: u64,
    /// Service time, in microseconds.
    pub served_us: u64,
    /// The worker that served the request.
    pub worker: Slot,
}

impl SlowRequest {
    /// Waiting time plus service time, in µs.
    pub fn took_us(&self) -> u64 {
        self.waited_us.saturating_add(self.served_us)
    }
}

/// A pool of the serving generation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolStatus {
    /// Name of the `WorkerPool`, or `default`.
    pub name: String,
    /// The version of mod_perl's API that the pool speaks: 1 or 2; 0 without Perl.
    pub perl_generation: u8,
    /// Workers that wait for a request.
    pub idle: u32,
    /// Number of workers that have a request.
    pub busy: u32,
    /// Requests that wait for a worker.
    pub queued: u32,
    /// `MaxClients` of the pool.
    pub most: u32,
    /// The pool gets more requests than it can answer.
    pub overloaded: bool,
}

/// State of one `PoolShare`: its limit and current use of the pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareStatus {
    /// The section that contains the directive.
    pub place: String,
    /// Maximum number of workers for requests of the share.
    pub most: u32,
    /// Workers that have a request of the share.
    pub busy: u32,
    /// Requests of the share that wait.
    pub queued: u32,
    /// The share gets more requests than it can answer.
    pub overloaded: bool,
    /// Requests that were refused because the queue was full or the share overloaded.
    pub shed: u64,
}

/// A connection that waits for a further request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStatus {
    /// `192.0.2.1:40000`
    pub client: String,
    /// Number of requests on this connection.
    pub served: u32,
    /// Time since the last request of the connection, in ms.
    pub since_ms: u64,
}
