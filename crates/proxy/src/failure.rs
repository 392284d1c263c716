//! Why a backend gave no response.

use std::fmt::{self, Display};
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use http::StatusCode;

/// Why a backend gave no response.
#[derive(Debug)]
pub enum BackendFailure {
    /// No connection could be made.
    Unreachable(io::Error),
    /// `ProxyBlock` names an address to which the backend's name leads.
    Blocked(IpAddr),
    /// The handshake of TLS failed, or the certificate is not one that the site accepts.
    Handshake(io::Error),
    /// The last attempt to connect failed; no further one is made for the rest of `retry`, which is this long.
    Down(Duration),
    /// The backend accepted no byte of the request, or sent no byte of the response, for this time.
    Slow(Duration),
    /// The backend closed the connection, or sent invalid HTTP.
    Broken(hyper::Error),
    /// As `Broken`, for HTTP/2.
    BrokenHttp2(h2::Error),
}

impl BackendFailure {
    /// Whether the backend has got none of the request, so that another one may get it.
    pub fn is_before_the_request(&self) -> bool {
        matches!(
            self,
            BackendFailure::Unreachable(_)
                | BackendFailure::Blocked(_)
                | BackendFailure::Handshake(_)
                | BackendFailure::Down(_)
        )
    }

    /// The status for the client, as httpd's.
    pub fn status(&self) -> StatusCode {
        match self {
            BackendFailure::Unreachable(_) | BackendFailure::Down(_) => StatusCode::SERVICE_UNAVAILABLE,
            BackendFailure::Blocked(_) => StatusCode::FORBIDDEN,
            BackendFailure::Handshake(_) => StatusCode::INTERNAL_SERVER_ERROR,
            BackendFailure::Slow(_) => StatusCode::GATEWAY_TIMEOUT,
            BackendFailure::Broken(_) | BackendFailure::BrokenHttp2(_) => StatusCode::BAD_GATEWAY,
        }
    }
}

impl Display for BackendFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackendFailure::Unreachable(error) => write!(f, "cannot connect: {error}"),
            BackendFailure::Blocked(address) => write!(f, "its address {address} is blocked by ProxyBlock"),
            BackendFailure::Handshake(error) => write!(f, "TLS handshake: {error}"),
            BackendFailure::Down(left) => write!(
                f,
                "not tried, because the last connection failed; the next try is in {} s (retry= of ProxyPass)",
                left.as_secs_f32().ceil()
            ),
            BackendFailure::Slow(time) => {
                write!(f, "no byte was sent or received for {} s (ProxyTimeout)", time.as_secs_f32())
            }
            BackendFailure::BrokenHttp2(error) => write!(f, "the response was incomplete: {error}"),
            BackendFailure::Broken(error) => {
                write!(f, "the response was incomplete: {error}")?;
                match std::error::Error::source(error) {
                    Some(cause) => write!(f, ": {cause}"),
                    None => Ok(()),
                }
            }
        }
    }
}
