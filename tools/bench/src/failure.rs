//! Causes of failed requests.

use std::io;

use super::response::CompleteResponse;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum FailureCause {
    /// The connection could not be opened.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The connection ended before the first byte of a response.
    Reset,
    /// The connection ended in the middle of a response.
    Truncated,
    /// The response was not complete within the timeout.
    Timeout,
    /// The response is not HTTP.
    Malformed,
    /// The status is not an expected one.
    Status,
    /// The body lacks the expected text.
    Body,
}

impl FailureCause {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Failures do not end a run; they are counted by cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRequest {
    /// The cause, by which failures are counted.
    pub cause: FailureCause,
    /// Details; a report shows those of the first failure of each cause.
    pub text: String,
    /// The response, if it was complete but not as expected.
    pub response: Option<CompleteResponse>,
}

impl FailedRequest {
    /// A failure without a response.
    pub fn new(cause: FailureCause, text: impl Into<String>) -> FailedRequest {
        FailedRequest { cause, text: text.into(), response: None }
    }

    /// A complete response that is not as expected.
    pub fn wrong(cause: FailureCause, text: impl Into<String>, response: CompleteResponse) -> FailedRequest {
        FailedRequest { cause, text: text.into(), response: Some(response) }
    }

    /// A broken connection; `began`: a part of the response had arrived.
    pub fn broken(began: bool, error: &io::Error) -> FailedRequest {
        let cause = if began { FailureCause::Truncated } else { FailureCause::Reset };
        FailedRequest::new(cause, error.to_string())
    }
}
