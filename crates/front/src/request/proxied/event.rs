//! Requests to workers with an event loop (`PsgiMode event`). Such a worker is an HTTP/1.1 server on the streams that it
//! gets, so the front is its client as it is a backend's. What the client's connection is, the worker reads in fields
//! whose names begin with `Cameleer-`; those of clients are removed.

use std::rc::Rc;
use std::time::Duration;

use http::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, UPGRADE};
use http::request::Parts;
use http::{Method, Response, StatusCode, Version};

use super::download::{Download, DownloadBody};
use super::running::Running;
use super::shared::clean;
use super::upload::{ProxiedUpload, UploadState};
use super::{own_name, switched, value};
use crate::base::field_names::WrittenNames;
use crate::base::refusal::Refusal;
use crate::client::tunnel::Tunnel;
use crate::request::access::keep_pace;
use crate::request::body::RequestBody;
use crate::request::context::RequestContext;
use crate::request::respond::body::BodySource;
use crate::routing::Route;
use crate::workers::{StreamKind, StreamTurn};
use proxy::{BackendFailure, BackendRequest, BackendResponse, TunnelStream, Waits, fields};

/// Beginning of the names of fields that only the front may send.
const OWN: &str = "cameleer-";
/// Number of workers that are asked in turn, if those before took no request.
const ATTEMPTS: usize = 3;
/// No limit: longer than any connection lives.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);
/// Time that a worker has to close its WebSockets with a status, after `GracefulShutdownTimeout`.
const FAREWELL: Duration = Duration::from_secs(2);

/// Whether the workers for this route run an event loop.
pub fn is_for(context: &RequestContext, route: &Route) -> bool {
    let generation = &context.generation;
    generation.pools.of(generation.config.pool_for(&route.settings)).is_event()
}

/// The response of an event worker.
pub async fn answer(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    body: &mut RequestBody,
) -> Result<Response<BodySource>, Refusal> {
    keep_pace(context, route)?;
    let upload = Rc::new(UploadState::default());
    let source = ProxiedUpload::of(context, route, body, upload.clone())?;
    let protocol = requested(context, head, source.is_some());
    let has_body = source.is_some();
    let mut outgoing = BackendRequest {
        head: onward(context, head, route, protocol.as_ref()),
        body: source,
        tls: None,
        once: false,
        upgrades: protocol.is_some(),
        expects: false,
    };
    let pool = context.generation.pools.of(context.generation.config.pool_for(&route.settings)).clone();
    let waits = waits(route);
    let mut left = ATTEMPTS;
    loop {
        let turn = pool.stream_turn(route.settings.queue_timeout).await?;
        left -= 1;
        context.begin_at_backend(has_body);
        match context.services.backends.send_to_worker(&turn, waits, &mut outgoing).await {
            Ok(response) => return deliver(context, head, route, (response, turn)),
            Err(failure) => {
                context.end_at_backend();
                if failure.is_before_the_request() && left > 0 && upload.refused.get().is_none() {
                    continue;
                }
                return Err(refuse(context, route, (&failure, &turn), upload.refused.get()));
            }
        }
    }
}

/// The timeouts of a request: `RequestTimeout` until the response begins, then `EventIdleTimeout`.
fn waits(route: &Route) -> Waits {
    let limited = |time: Duration| if time.is_zero() { FOREVER } else { time };
    let piece = limited(route.settings.request_timeout);
    Waits { connect: piece, piece, body: limited(route.settings.event_idle_timeout) }
}

/// The protocol to which the client asks to switch. The body of such a request is empty.
fn requested(context: &RequestContext, head: &Parts, has_body: bool) -> Option<HeaderValue> {
    let is_possible =
        !has_body && head.version == Version::HTTP_11 && context.stream.is_none() && head.method != Method::HEAD;
    // The connection belongs to the page, and not to the response that the page includes.
    if !is_possible || context.is_part() {
        return None;
    }
    let sent = &context.head.headers;
    sent.get(UPGRADE).filter(|_| switched::lists_upgrade(sent)).cloned()
}

/// The request's head for the worker.
fn onward(context: &RequestContext, head: &Parts, route: &Route, protocol: Option<&HeaderValue>) -> Parts {
    let mut onward = head.clone();
    onward.version = Version::HTTP_11;
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    onward.uri = target.parse().unwrap_or_default();
    let headers = &mut onward.headers;
    let foreign: Vec<HeaderName> = headers.keys().filter(|name| name.as_str().starts_with(OWN)).cloned().collect();
    for name in foreign {
        headers.remove(name);
    }
    fields::of_request(headers);
    if !headers.contains_key(HOST) {
        headers.insert(HOST, value(own_name(context, route)));
    }
    if let Some(protocol) = protocol {
        switched::ask(headers, protocol.clone());
    }
    add_facts(context, head, route, headers);
    onward
}

/// Adds what the worker cannot see of the client's connection.
fn add_facts(context: &RequestContext, head: &Parts, route: &Route, headers: &mut HeaderMap) {
    let (client, server) = (context.remote(), &context.client.local);
    let mut add = |name: &'static str, text: &str| {
        if let Ok(value) = HeaderValue::from_str(text) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    add("cameleer-client", &format!("{} {}", client.ip, client.port));
    add("cameleer-server", &format!("{} {}", server.ip, server.port));
    add("cameleer-scheme", if context.is_secure() { "https" } else { "http" });
    let protocol = match head.version {
        Version::HTTP_2 => "2",
        Version::HTTP_10 => "1.0",
        _ => "1.1",
    };
    add("cameleer-protocol", protocol);
    add("cameleer-request-id", &context.unique_id());
    if let Some(user) = context.visitor().user() {
        add("cameleer-user", &user.name);
    }
    let mount = route.settings.mount.trim_end_matches('/');
    if !mount.is_empty() {
        add("cameleer-script-name", mount);
    }
}

/// The worker's response, for the client.
fn deliver(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    (response, turn): (BackendResponse, StreamTurn),
) -> Result<Response<BodySource>, Refusal> {
    match response {
        BackendResponse::Switched(response, stream) => switch(context, route, response, (stream, turn)),
        BackendResponse::Response(response) if response.status().is_informational() => {
            context.end_at_backend();
            context.log_error(route, &format_args!("an event worker answers with status {}", response.status()));
            Err(Refusal::new(StatusCode::BAD_GATEWAY))
        }
        BackendResponse::Response(response) => Ok(pass_on(context, head, route, (response, turn))),
    }
}

/// The response after which the client's bytes go to the worker, and its bytes to the client.
fn switch(
    context: &RequestContext,
    route: &Route,
    response: Response<()>,
    (stream, mut turn): (TunnelStream, StreamTurn),
) -> Result<Response<BodySource>, Refusal> {
    turn.be(StreamKind::WebSocket);
    let generation = context.generation.clone();
    let graceful = match generation.config.timeouts.graceful {
        Duration::ZERO => Duration::ZERO,
        graceful => graceful + FAREWELL,
    };
    let is_over = Box::new(move || generation.is_superseded());
    let tunnel = Tunnel { backend: stream, idle: waits(route).body, graceful, is_over, guard: Box::new(turn) };
    switched::deliver(context, route, response, tunnel)
}

fn pass_on(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    (response, mut turn): (Response<proxy::BackendBody>, StreamTurn),
) -> Response<BodySource> {
    if is_events(response.headers()) {
        turn.be(StreamKind::Events);
    }
    let mut response = response.map(|body| match head.method == Method::HEAD || body.is_over() {
        true => {
            context.end_at_backend();
            BodySource::Empty
        }
        false => {
            let running = Some(Running::Stream(turn));
            BodySource::Backend(Box::new(Download::new(context, route, DownloadBody::Http(body), running)))
        }
    });
    *response.version_mut() = Version::HTTP_11;
    response.extensions_mut().insert(WrittenNames::OfBackend);
    clean(response.headers_mut(), head);
    response
}

/// Whether the response is one of server-sent events.
fn is_events(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
}

/// Logs why a worker gave no response, and makes the refusal of it.
fn refuse(
    context: &RequestContext,
    route: &Route,
    (failure, turn): (&BackendFailure, &StreamTurn),
    refused: Option<StatusCode>,
) -> Refusal {
    if let Some(status) = refused {
        return Refusal::closing(status);
    }
    let worker = turn.worker().slot;
    match failure {
        BackendFailure::Slow(time) => context.log_error(
            route,
            &format_args!("worker={worker} has not begun its response after {} s (RequestTimeout)", time.as_secs_f32()),
        ),
        _ => context.log_error(route, &format_args!("worker={worker} lost the request: {failure}")),
    }
    Refusal::closing(failure.status())
}
