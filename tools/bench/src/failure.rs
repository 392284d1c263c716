//! What can go wrong with one request, each with its own name.

use std::io;

use super::answer::Answer;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// No connection.
    Connect,
    /// A connection, but no TLS on it.
    Tls,
    /// It ended before the first byte of an answer.
    Reset,
    /// It ended in the middle of an answer.
    Truncated,
    /// No whole answer in time.
    Timeout,
    /// What came is not HTTP.
    Malformed,
    /// Another status than was expected.
    Status,
    /// Another body than was expected.
    Body,
}

impl Cause {
    /// As reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Connect => "connect",
            Cause::Tls => "tls",
            Cause::Reset => "reset",
            Cause::Truncated => "truncated",
            Cause::Timeout => "timeout",
            Cause::Malformed => "malformed",
            Cause::Status => "status",
            Cause::Body => "body",
        }
    }
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// By which it is counted.
    pub cause: Cause,
    /// What a person wants to know of the first of its kind.
    pub text: String,
    /// What came all the same, whole but wrong.
    pub answer: Option<Answer>,
}

impl Failure {
    /// One of these.
    pub fn new(cause: Cause, text: impl Into<String>) -> Failure {
        Failure { cause, text: text.into(), answer: None }
    }

    /// A whole answer, but not the right one.
    pub fn wrong(cause: Cause, text: impl Into<String>, answer: Answer) -> Failure {
        Failure { cause, text: text.into(), answer: Some(answer) }
    }

    /// A connection that broke: in the answer, or before it.
    pub fn broken(began: bool, error: &io::Error) -> Failure {
        let cause = if began { Cause::Truncated } else { Cause::Reset };
        Failure::new(cause, error.to_string())
    }
}
