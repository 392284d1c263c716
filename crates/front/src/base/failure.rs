//! Failures of an exchange with a worker.

/// Why a request has no complete response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// No worker is available; contains Retry-After in seconds.
    Busy(u32),
    /// The worker exceeded `RequestTimeout`.
    RequestTimeout,
    /// The worker ended during the request.
    WorkerGone,
    /// The worker has violated the protocol.
    WorkerLied,
}

/// The response body is incomplete.
#[derive(Debug)]
pub struct Truncated;

impl std::fmt::Display for Truncated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the response ended early")
    }
}

impl std::error::Error for Truncated {}
