//! Timeouts, response fields and error pages of requests to backends and to FastCGI applications.

use http::header::{CONTENT_LENGTH, HeaderMap, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{Method, StatusCode};

use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use crate::routing::Route;
use config::proxy::Passed;
use proxy::{Waits, fields};

/// The timeouts of a request to `to`.
pub fn waits(context: &RequestContext, route: &Route, to: &Passed) -> Waits {
    let of_host = || context.generation.config.timeout_of(route.host);
    let usual = route.settings.proxy.timeout.unwrap_or_else(of_host);
    let piece = to.parameters.timeout.unwrap_or(usual);
    Waits { piece, body: piece, connect: to.parameters.connection_timeout.unwrap_or(piece) }
}

/// This server's page in place of the backend's. A 401 retains the challenge, without which no browser opens a password
/// dialog.
pub fn overridden(status: StatusCode, headers: &HeaderMap) -> Refusal {
    match headers.get(WWW_AUTHENTICATE) {
        Some(challenge) => Refusal::with(status, WWW_AUTHENTICATE, challenge.clone()),
        None => Refusal::new(status),
    }
}

/// Removes fields of the backend's connection, and the length, which follows from the body.
pub fn clean(headers: &mut HeaderMap, head: &Parts) {
    fields::end_to_end(headers);
    if head.method != Method::HEAD {
        headers.remove(CONTENT_LENGTH);
    }
}
