//! That a request is refused, and why. `request/respond/page.rs` draws the page that says so.

use http::StatusCode;
use http::header::{HeaderName, HeaderValue};

use super::failure::Failure;
use base::path::BadPath;

/// `Retry-After` of a 503, in seconds.
const SOON: u32 = 2;

/// A request that is answered with a page that says no.
#[derive(Debug)]
pub struct Refusal {
    /// What went wrong.
    pub status: StatusCode,
    /// `Allow`, `Retry-After`, `Content-Range` or `WWW-Authenticate`.
    pub header: Option<(HeaderName, HeaderValue)>,
    /// The rest of the request was not read, or makes no sense.
    pub close: bool,
    /// What a reader is told; `None`: what is usual for the status.
    pub why: Option<&'static str>,
}

impl Refusal {
    /// With nothing but a status; the connection can go on.
    pub fn new(status: StatusCode) -> Refusal {
        Refusal { status, header: None, close: false, why: None }
    }

    /// The same, after which the connection is closed.
    pub fn closing(status: StatusCode) -> Refusal {
        Refusal { status, header: None, close: true, why: None }
    }

    /// With a header that belongs to the status.
    pub fn with(status: StatusCode, name: HeaderName, value: HeaderValue) -> Refusal {
        Refusal { status, header: Some((name, value)), close: false, why: None }
    }

    /// With a reason of its own.
    pub fn because(self, why: &'static str) -> Refusal {
        Refusal { why: Some(why), ..self }
    }

    /// 503: there is no room for the request now, and the client should ask again soon.
    pub fn busy() -> Refusal {
        Refusal::later(StatusCode::SERVICE_UNAVAILABLE, SOON)
    }

    /// The client should ask again after so many seconds.
    pub fn later(status: StatusCode, seconds: u32) -> Refusal {
        Refusal::with(status, http::header::RETRY_AFTER, seconds.into())
    }
}

impl From<BadPath> for Refusal {
    fn from(bad: BadPath) -> Refusal {
        Refusal::new(bad.into())
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        match failure {
            Failure::Busy(seconds) => Refusal::later(StatusCode::SERVICE_UNAVAILABLE, seconds),
            Failure::RequestTimeout => Refusal::new(StatusCode::GATEWAY_TIMEOUT),
            Failure::WorkerGone | Failure::WorkerLied => Refusal::new(StatusCode::BAD_GATEWAY),
        }
    }
}
