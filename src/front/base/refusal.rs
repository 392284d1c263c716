//! The answers that the front gives itself when something is wrong.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};

use super::failure::Failure;
use crate::front::request::respond::body::Kind;
use crate::path::BadPath;

/// After so many seconds there may be room for what was refused.
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
    /// Only a status; the connection can go on.
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

    /// What has gone wrong, for a reader.
    pub fn explanation(&self) -> &'static str {
        self.why.unwrap_or_else(|| explanation(self.status))
    }

    /// With a reason of its own.
    pub fn because(self, why: &'static str) -> Refusal {
        Refusal { why: Some(why), ..self }
    }

    /// There is no place for it now; the client should ask again soon.
    pub fn busy() -> Refusal {
        Refusal::later(StatusCode::SERVICE_UNAVAILABLE, SOON)
    }

    /// The client should ask again after so many seconds.
    pub fn later(status: StatusCode, seconds: u32) -> Refusal {
        Refusal::with(status, http::header::RETRY_AFTER, seconds.into())
    }

    /// The page, with `foot` below.
    pub fn response(self, foot: &str) -> Response<Kind> {
        let page = page(self.status, self.explanation(), foot);
        self.saying(page)
    }

    /// With another text for its page.
    pub fn saying(self, text: Bytes) -> Response<Kind> {
        let mut response = Response::new(Kind::whole(text));
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        response.headers_mut().extend(self.header);
        response
    }
}

impl From<BadPath> for Refusal {
    fn from(bad: BadPath) -> Refusal {
        Refusal::new(match bad {
            BadPath::Malformed => StatusCode::BAD_REQUEST,
            BadPath::Impossible => StatusCode::NOT_FOUND,
            BadPath::TooDeep => StatusCode::URI_TOO_LONG,
        })
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

/// Nothing that a client sent is on it, so there is nothing to escape.
fn page(status: StatusCode, why: &str, foot: &str) -> Bytes {
    let reason = status.canonical_reason().unwrap_or("Error");
    let code = status.as_u16();
    Bytes::from(format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><title>{code} {reason}</title></head>\n\
         <body><h1>{reason}</h1>\n<p>{why}</p>\n{foot}</body></html>\n"
    ))
}

fn explanation(status: StatusCode) -> &'static str {
    match status.as_u16() {
        301 | 302 | 303 | 307 | 308 => "This page has another address.",
        400 => "The server cannot understand this request.",
        401 => "This page asks for a name and a password.",
        403 => "You have no permission to see this page.",
        404 => "There is no page at this address.",
        410 => "There was a page at this address; it is gone for good.",
        405 => "This page does not allow this method.",
        408 => "The request took too long to arrive.",
        413 => "The request is larger than this server accepts.",
        414 => "The address is longer than this server accepts.",
        421 => "This connection was made for another host.",
        416 => "The page has no such part.",
        417 => "The server cannot do what the request expects of it.",
        429 => "You ask for more than this server gives to one visitor. Please slow down.",
        431 => "The request has more headers than this server accepts.",
        501 => "The server does not know this method or this coding.",
        502 => "The program that makes this page has failed.",
        503 => "The server is busy. Please try again soon.",
        504 => "The program that makes this page took too long.",
        505 => "The server does not speak this version of HTTP.",
        _ => "The server cannot answer this request.",
    }
}
