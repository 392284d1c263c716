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
    ProtocolViolation,
}

/// The response body is incomplete.
#[derive(Debug, thiserror::Error)]
#[error("the response ended early")]
pub struct Truncated;
