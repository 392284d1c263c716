//! A finished request, for its trace.

use std::time::Duration;

use http::Version;

use super::context::TraceContext;

/// A finished request, to be exported as spans.
#[derive(Debug, Clone)]
pub struct RequestSpan {
    pub trace: TraceContext,
    /// When the head was complete, in µs since 1970.
    pub received_us: u64,
    /// Time from `received_us` to the last byte.
    pub took: Duration,
    pub method: String,
    pub path: String,
    pub host: String,
    pub client: String,
    pub user_agent: Option<String>,
    pub is_secure: bool,
    pub version: Version,
    pub status: u16,
    /// Id of the request in logs.
    pub name: String,
    pub worker: Option<WorkerSpan>,
}

/// The time that a request spent in the queue and at its worker.
#[derive(Debug, Clone)]
pub struct WorkerSpan {
    pub slot: u32,
    pub pid: i32,
    pub generation: u32,
    /// Time from submission, after the body, to the start at a worker.
    pub waited: Duration,
    /// Time from the complete head to the start at a worker.
    pub began: Duration,
    /// Time from the start to the end at the worker.
    pub served: Duration,
    /// Spans of the program: names and values, see `wire::reply::LogKind::Span`.
    pub parts: Vec<(Vec<u8>, Vec<u8>)>,
}
