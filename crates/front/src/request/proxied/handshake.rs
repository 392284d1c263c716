//! The opening handshake of WebSockets: what is checked before a worker or a backend gets it, and its response.

use http::header::{
    HOST, HeaderMap, HeaderValue, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
};
use http::{StatusCode, Version};

use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use crate::routing::Route;
use websocket::WebSocketHandshake;

/// Refuses a handshake from a page that `WebSocketOrigin` does not allow, if `protocol` is that of WebSockets. Clients
/// other than browsers send no origin.
pub fn check_origin(context: &RequestContext, route: &Route, protocol: &HeaderValue) -> Result<(), Refusal> {
    let (sent, allowed) = (&context.head.headers, &route.settings.websocket_origin);
    let Some(origin) = sent.get(ORIGIN).filter(|_| is_websocket(protocol) && !allowed.is_any()) else { return Ok(()) };
    let host = sent.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let is_alone = sent.get_all(ORIGIN).iter().count() == 1;
    if is_alone && origin.to_str().is_ok_and(|origin| allowed.contain(origin, host)) {
        return Ok(());
    }
    let shown = String::from_utf8_lossy(origin.as_bytes());
    context.log_error(route, &format_args!("WebSocketOrigin does not allow the origin \"{shown}\""));
    Err(Refusal::new(StatusCode::FORBIDDEN))
}

/// The client's handshake, if it asks for a WebSocket. An invalid one does not reach the worker.
pub fn read(
    context: &RequestContext,
    route: &Route,
    protocol: Option<&HeaderValue>,
) -> Result<Option<WebSocketHandshake>, Refusal> {
    let sent = &context.head;
    if !protocol.is_some_and(is_websocket) {
        return Ok(None);
    }
    let version = if context.is_websocket_stream() { Version::HTTP_11 } else { sent.version };
    WebSocketHandshake::check(&sent.method, version, &sent.headers).map(Some).map_err(|error| {
        context.log_error(route, &error);
        match error.field() {
            Some((name, value)) => Refusal::with(error.status(), name, value),
            None => Refusal::new(error.status()),
        }
    })
}

/// Completes the response to a handshake. A subprotocol that the client does not offer would make it fail.
pub fn complete(context: &RequestContext, route: &Route, handshake: &WebSocketHandshake, headers: &mut HeaderMap) {
    let chosen = headers.get(SEC_WEBSOCKET_PROTOCOL).and_then(|protocol| protocol.to_str().ok());
    if let Some(protocol) = chosen.filter(|protocol| !handshake.offers(protocol)) {
        context.log_error(route, &format_args!("the client does not offer the subprotocol \"{protocol}\""));
        headers.remove(SEC_WEBSOCKET_PROTOCOL);
    }
    handshake.answer(headers);
}

/// Refuses a response 101 that does not prove that the handshake was read. Clients of HTTP/2 send no key, so this
/// server checks the response to its own.
pub fn check_proof(context: &RequestContext, route: &Route, headers: &HeaderMap) -> Result<(), Refusal> {
    if !context.is_websocket_stream() {
        return Ok(());
    }
    let key = context.head.headers.get(SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes).unwrap_or_default();
    if headers.get(SEC_WEBSOCKET_ACCEPT).is_some_and(|accept| *accept == websocket::accept(key)) {
        return Ok(());
    }
    context.end_at_backend();
    context.log_error(route, &"the response 101 has not the Sec-WebSocket-Accept of its request");
    Err(Refusal::new(StatusCode::BAD_GATEWAY))
}

/// Whether the protocols of `Upgrade` include WebSocket.
fn is_websocket(upgrade: &HeaderValue) -> bool {
    upgrade.as_bytes().split(|byte| *byte == b',').any(|name| name.trim_ascii().eq_ignore_ascii_case(b"websocket"))
}
