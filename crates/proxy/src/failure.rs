//! Why a backend gave no response.

use std::fmt::{self, Display};
use std::io;
use std::time::Duration;

use http::StatusCode;

/// Why a backend gave no response.
#[derive(Debug)]
pub enum BackendFailure {
    /// No connection could be made.
    Unreachable(io::Error),
    /// The handshake of TLS failed, or the certificate is not one that the site accepts.
    Handshake(io::Error),
    /// No connection could be made a short time ago; `retry` says for how long none is tried.
    Down(Duration),
    /// It took none of the request, or sent none of its response, for this time.
    Slow(Duration),
    /// It closed the connection, or what it sent is no HTTP.
    Broken(hyper::Error),
}

impl BackendFailure {
    /// Whether the backend has got none of the request, so that another one may get it.
    pub fn is_before_the_request(&self) -> bool {
        matches!(self, BackendFailure::Unreachable(_) | BackendFailure::Handshake(_) | BackendFailure::Down(_))
    }

    /// The status for the client, as httpd's.
    pub fn status(&self) -> StatusCode {
        match self {
            BackendFailure::Unreachable(_) | BackendFailure::Down(_) => StatusCode::SERVICE_UNAVAILABLE,
            BackendFailure::Handshake(_) => StatusCode::INTERNAL_SERVER_ERROR,
            BackendFailure::Slow(_) => StatusCode::GATEWAY_TIMEOUT,
            BackendFailure::Broken(_) => StatusCode::BAD_GATEWAY,
        }
    }
}

impl Display for BackendFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackendFailure::Unreachable(error) => write!(f, "cannot connect to it: {error}"),
            BackendFailure::Handshake(error) => write!(f, "TLS handshake: {error}"),
            BackendFailure::Down(left) => write!(
                f,
                "it could not be reached before; it is tried again in {} s (parameter retry of ProxyPass)",
                left.as_secs_f32().ceil()
            ),
            BackendFailure::Slow(time) => {
                write!(f, "it neither took nor sent a byte for {} s (ProxyTimeout)", time.as_secs_f32())
            }
            BackendFailure::Broken(error) => {
                write!(f, "it sent no complete response: {error}")?;
                match std::error::Error::source(error) {
                    Some(cause) => write!(f, ": {cause}"),
                    None => Ok(()),
                }
            }
        }
    }
}
