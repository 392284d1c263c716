//! Causes of failed requests.

use std::io;

use super::answer::Answer;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Cause {
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

impl Cause {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The cause, by which failures are counted.
    pub cause: Cause,
    /// Details; a report shows those of the first failure of each cause.
    pub text: String,
    /// The response, if it was complete but not as expected.
    pub answer: Option<Answer>,
}

impl Failure {
    /// A failure without a response.
    pub fn new(cause: Cause, text: impl Into<String>) -> Failure {
        Failure { cause, text: text.into(), answer: None }
    }

    /// A complete response that is not as expected.
    pub fn wrong(cause: Cause, text: impl Into<String>, answer: Answer) -> Failure {
        Failure { cause, text: text.into(), answer: Some(answer) }
    }

    /// A broken connection; `began`: a part of the response had arrived.
    pub fn broken(began: bool, error: &io::Error) -> Failure {
        let cause = if began { Cause::Truncated } else { Cause::Reset };
        Failure::new(cause, error.to_string())
    }
}
