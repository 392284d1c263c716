//! How an exchange with a worker can fail.

/// Why there is no, or no whole, answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// There is no worker for it: the client may come again after so many seconds.
    Busy(u32),
    /// The worker did not end within `RequestTimeout`.
    RequestTimeout,
    /// The worker ended in the middle.
    WorkerGone,
    /// The worker broke the protocol.
    WorkerLied,
}

/// The body will not be whole.
#[derive(Debug)]
pub struct Truncated;

impl std::fmt::Display for Truncated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the response ended early")
    }
}

impl std::error::Error for Truncated {}
