//! Responses that programs leave with the front (`Cameleer-Hold`): their workers are free, and the front sends
//! published messages.
//!
//! ```text
//!   program ── output ──▶ client            worker free
//!                         client ◀── messages of Cameleer-Channel, until it leaves
//! ```

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use http::{Method, Response, StatusCode};
use tokio::time::timeout;

use super::body::{BodySource, HeldBody};
use crate::base::broadcast::held::{Held, NotHeld};
use crate::base::broadcast::hold::{HoldKind, HoldRequest, HoldTerms};
use crate::base::refusal::Refusal;
use crate::client::Pending;
use crate::request::context::RequestContext;
use crate::routing::Route;

/// Longest output of a program in a long poll, in bytes: it waits in memory.
const MAX_RESPONSE: usize = 64 * 1024;

/// Whether the program has asked for a hold.
pub fn is_asked(response: &Response<BodySource>) -> bool {
    response.extensions().get::<HoldRequest>().is_some()
}

/// Whether the response is one of server-sent events.
pub fn is_events(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
}

/// Holds a response whose program has asked for it. Errors and responses without content are sent as they are.
pub async fn begin(
    context: &RequestContext,
    mut response: Response<BodySource>,
) -> Result<Response<BodySource>, Refusal> {
    let Some(request) = response.extensions_mut().remove::<HoldRequest>() else { return Ok(response) };
    let route = context.route().clone();
    let Some(route) =
        route.filter(|_| context.head.method != Method::HEAD && may_wait(response.status(), request.kind))
    else {
        return Ok(response);
    };
    let is_events = is_events(response.headers());
    let most = context.generation.config.hold_connections;
    let as_events = is_events && request.kind == HoldKind::Stream;
    let terms = HoldTerms { as_events, most, generation: context.generation.number };
    let held = match context.services.shared.broadcasts.hold(&request, terms) {
        Ok(held) => held,
        // Without messages, the response ends as those that are held.
        Err(NotHeld::Stopping) => return Ok(response),
        Err(NotHeld::Full) => {
            context.log_error(&route, &format_args!("not held: {most} responses are (HoldConnections)"));
            context.end_at_backend();
            // The program has run: a load balancer must not repeat the request, as it may after a 503.
            return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
        }
    };
    // The request ends when its client leaves, as one that a backend answers.
    if !context.is_at_backend() {
        context.begin_at_backend(false);
    }
    response.headers_mut().remove(CONTENT_LENGTH);
    if request.kind == HoldKind::Response {
        return first_message(context, &route, response, held).await;
    }
    let quiet = Some(route.settings.hold_keep_alive).filter(|time| is_events && !time.is_zero());
    Ok(response.map(|first| BodySource::Held(Box::new(HeldBody::new(first, held, quiet)))))
}

/// Whether a message may follow a response with this status.
fn may_wait(status: StatusCode, kind: HoldKind) -> bool {
    let is_bodyless = matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT);
    status.is_success() && (kind == HoldKind::Response || !is_bodyless)
}

/// The response with the first message, or that of the program after `HoldTimeout` and at a stop.
async fn first_message(
    context: &RequestContext,
    route: &Route,
    response: Response<BodySource>,
    held: Held,
) -> Result<Response<BodySource>, Refusal> {
    let (mut head, output) = response.into_parts();
    let output = whole(output).await.ok_or_else(|| {
        let why = format!("a program's output in a long poll is broken or longer than {MAX_RESPONSE} bytes");
        context.log_error(route, &why);
        context.end_at_backend();
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
    })?;
    let message = timeout(limit(route), std::future::poll_fn(|cx| held.poll(cx))).await;
    context.end_at_backend();
    let Ok(Ok(message)) = message else { return Ok(Response::from_parts(head, BodySource::whole(output))) };
    head.status = StatusCode::OK;
    Ok(Response::from_parts(head, BodySource::whole(message)))
}

fn limit(route: &Route) -> Duration {
    route.settings.hold_timeout
}

/// The whole body, which frees its worker. `None`: it is too long, or broken.
async fn whole(mut body: BodySource) -> Option<Bytes> {
    let mut all = Vec::new();
    while let Some(piece) = std::future::poll_fn(|cx| body.poll(cx)).await {
        all.extend_from_slice(&piece.ok()?);
        if all.len() > MAX_RESPONSE {
            return None;
        }
    }
    Some(all.into())
}
