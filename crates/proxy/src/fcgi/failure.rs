//! Why a FastCGI application gave no response.

use std::fmt::{self, Display};
use std::io;
use std::time::Duration;

use fastcgi::{HeadError, ProtocolError};
use http::StatusCode;

/// Why a FastCGI application gave no response, or not all of one.
#[derive(Debug)]
pub enum FastcgiFailure {
    /// No connection could be made.
    Unreachable(io::Error),
    /// No connection could be made a short time ago; `retry` sets how long no other is tried.
    Down(Duration),
    /// The application took none of the request, or sent none of its response, for this time.
    Slow(Duration),
    /// The connection failed.
    Lost(io::Error),
    /// The application closed the connection before the end of its response.
    Closed {
        /// Whether the application had sent no byte.
        silent: bool,
    },
    /// The bytes of the application are no FastCGI.
    Protocol(ProtocolError),
    /// The output is no CGI response.
    Head(HeadError),
    /// The body ended before its announced length; the number of missing bytes.
    Short(u64),
}

impl FastcgiFailure {
    /// The status for the client, as httpd's for its backends.
    pub fn status(&self) -> StatusCode {
        match self {
            FastcgiFailure::Unreachable(_) | FastcgiFailure::Down(_) => StatusCode::SERVICE_UNAVAILABLE,
            FastcgiFailure::Protocol(ProtocolError::Rejected(_)) => StatusCode::SERVICE_UNAVAILABLE,
            FastcgiFailure::Slow(_) => StatusCode::GATEWAY_TIMEOUT,
            FastcgiFailure::Head(_) => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_GATEWAY,
        }
    }
}

impl Display for FastcgiFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FastcgiFailure::Unreachable(error) => write!(f, "cannot connect: {error}"),
            FastcgiFailure::Down(left) => write!(
                f,
                "not tried, because the last connection failed; the next try is in {} s (retry= of ProxyPass)",
                left.as_secs_f32().ceil()
            ),
            FastcgiFailure::Slow(time) => {
                write!(f, "no byte was sent or received for {} s (ProxyTimeout)", time.as_secs_f32())
            }
            FastcgiFailure::Lost(error) => write!(f, "the connection failed: {error}"),
            FastcgiFailure::Closed { silent: true } => {
                f.write_str("the application closed the connection before it sent a byte; see its own log")
            }
            FastcgiFailure::Closed { silent: false } => {
                f.write_str("the application closed the connection before the end of its response")
            }
            FastcgiFailure::Protocol(error) => error.fmt(f),
            FastcgiFailure::Head(error) => error.fmt(f),
            FastcgiFailure::Short(left) => write!(f, "the response is {left} bytes shorter than its Content-Length"),
        }
    }
}

impl std::error::Error for FastcgiFailure {}
