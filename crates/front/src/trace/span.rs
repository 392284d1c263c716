//! A finished request, as its trace has it.

use std::time::Duration;

use http::Version;

use super::context::TraceContext;

/// A finished request.
#[derive(Debug, Clone)]
pub struct RequestSpan {
    pub trace: TraceContext,
    /// When the head was whole, in µs since 1970.
    pub received_us: u64,
    /// From then to the last byte.
    pub took: Duration,
    pub method: String,
    pub path: String,
    pub host: String,
    pub client: String,
    pub user_agent: Option<String>,
    pub is_secure: bool,
    pub version: Version,
    pub status: u16,
    /// Its name in logs.
    pub name: String,
    pub worker: Option<WorkerSpan>,
}

/// A worker's part.
#[derive(Debug, Clone)]
pub struct WorkerSpan {
    pub slot: u32,
    pub pid: i32,
    pub generation: u32,
    /// From when it was submitted, with its body, until a worker had it.
    pub waited: Duration,
    /// From when the head was whole until then.
    pub began: Duration,
    /// From then until the worker had said everything.
    pub served: Duration,
    /// What the worker tells of it, see `wire::reply::LogKind::Span`.
    pub parts: Vec<(Vec<u8>, Vec<u8>)>,
}
