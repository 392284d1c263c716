//! Turns the output of a worker or the contents of a file into an HTTP response.

pub mod accept_encoding;
pub mod body;
pub mod compress;
pub mod from_worker;
mod header_rules;
mod header_tables;
pub mod headers;
pub mod held;
mod load_report;
pub mod packed_files;
pub mod page;
pub mod repeatable;
mod tracking;

use http::header::{CONNECTION, CONTENT_LENGTH, HeaderValue, SERVER, TRANSFER_ENCODING};
use http::response::Parts;
use http::{Method, Response, StatusCode, Version};

use super::context::{RequestContext, RequestGuard};
use super::proxied::OfBackend;
use crate::base::response_facts::AlwaysHeaders;
use body::{BodySource, ResponseBody};
use headers::CompletedResponse;

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// Details that [`finish`] needs besides the response.
#[derive(Debug, Clone, Copy)]
pub struct ResponseEnding {
    /// The page is the front's own.
    pub refused: bool,
    /// The connection must be closed.
    pub close: bool,
}

/// Adds the headers that every response has, and removes the body where method and status require it.
pub fn finish(context: RequestGuard, response: Response<BodySource>, ending: ResponseEnding) -> Response<ResponseBody> {
    let (mut head, mut kind) = response.into_parts();
    let keep_alive = context.keep_alive();
    // An HTTP/2 connection is closed by GOAWAY instead.
    let last = context.stream.is_none() && (!keep_alive.is_on() || keep_alive.is_enough(context.served + 1));
    let always = head.extensions.remove::<AlwaysHeaders>();
    let completed = CompletedResponse {
        status: head.status,
        length: kind.length(),
        always: always.as_ref(),
        refused: ending.refused,
    };
    if headers::complete(&context, completed, &mut head.headers).is_err() {
        // The rules that did not run may have been meant to remove confidential headers.
        head.headers.clear();
        head.status = StatusCode::INTERNAL_SERVER_ERROR;
        kind = BodySource::Empty;
    }
    if context.stream.is_none()
        && let Some(names) = headers::configured_names(&context, &head.headers)
    {
        head.extensions.insert(names);
    }
    let wants = |name| context.has_variable(name);
    let old = wants("downgrade-1.0") || wants("force-response-1.0");
    if old {
        head.version = Version::HTTP_10;
    }
    let is_head = context.head.method == Method::HEAD;
    if head.extensions.remove::<OfBackend>().is_none() {
        head.headers.insert(SERVER, context.generation.server_header.clone());
    }
    if head.status == StatusCode::RESET_CONTENT {
        // A 205 has no content, and sends a zero length (RFC 9110, section 15.3.6).
        head.headers.insert(CONTENT_LENGTH, 0.into());
        kind = BodySource::Empty;
    } else if matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        // 204 and 304 have no content, and a 204 must not have Content-Length (RFC 9110, section 8.6). hyper removes
        // it for GET, but not for HEAD.
        head.headers.remove(CONTENT_LENGTH);
        kind = BodySource::Empty;
    } else if is_head {
        if let Some(length) = kind.length() {
            head.headers.insert(CONTENT_LENGTH, length.into());
        }
        kind = BodySource::Empty;
    }
    if kind.is_of_unknown_length() {
        // hyper trusts these fields, and a rule of `Header` may have set them.
        head.headers.remove(CONTENT_LENGTH);
        head.headers.remove(TRANSFER_ENCODING);
    }
    kind.measure(context.record());
    let is_before_chunks = context.stream.is_none() && (old || context.head.version < Version::HTTP_11);
    let open_ended = is_before_chunks && kind.is_of_unknown_length();
    if open_ended {
        context.client.set_open_ended();
    }
    let shared = &context.services.shared;
    let leaving = context.client.must_close() || shared.is_stopping() || shared.is_draining();
    let is_held = context.stream.is_none() && matches!(kind, BodySource::Held(_));
    let may_leave = is_held || (context.stream.is_none() && is_quiet(&context, &head, &kind));
    let switches = proxy::tunnel::begins(&context.head.method, head.status);
    let close = !switches && (ending.close || last || old || open_ended || is_held || wants("nokeepalive") || leaving);
    if close {
        head.headers.insert(CONNECTION, CLOSE);
        // For an HTTP/1.0 client hyper adds a keep-alive header to an HTTP/1.1 response.
        head.version = if is_before_chunks { Version::HTTP_10 } else { head.version };
    }
    load_report::add(&context, &mut head.headers);
    context.set_status(head.status.as_u16());
    let is_bodyless = matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    context.set_headers(&head.headers, kind.length().filter(|_| !is_bodyless && !is_head));
    let kept = !close && context.wants_keep_alive();
    let body = ResponseBody::new(kind, context, kept);
    Response::from_parts(head, if may_leave { body.leaving() } else { body })
}

/// Whether a backend's or an event worker's response consists of events, between which hours may pass. A request with a
/// body does not count: hyper may still receive it.
fn is_quiet(context: &RequestContext, head: &Parts, kind: &BodySource) -> bool {
    let BodySource::Backend(body) = kind else { return false };
    let has_body = [CONTENT_LENGTH, TRANSFER_ENCODING].iter().any(|name| context.head.headers.contains_key(name));
    body.length().is_none() && !has_body && held::is_events(&head.headers)
}
