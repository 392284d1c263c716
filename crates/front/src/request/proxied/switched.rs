//! Connections that switch protocols: WebSocket, and what `upgrade=` allows.

use http::header::{CONNECTION, HeaderMap, HeaderValue, UPGRADE};
use http::{Method, Response, StatusCode, Version};

use super::Sending;
use crate::base::refusal::Refusal;
use crate::client::tunnel::Tunnel;
use crate::request::context::RequestContext;
use crate::request::respond::body::BodySource;
use crate::routing::Route;
use config::proxy::Passed;
use proxy::fields;

/// The protocol to which the client asks to switch, if it may with this backend. The body of such a request is empty.
pub fn requested(sending: &Sending<'_>, to: &Passed, has_body: bool) -> Option<HeaderValue> {
    let head = sending.head;
    if to.url.scheme.is_http2()
        || has_body
        || head.version != Version::HTTP_11
        || sending.context.stream.is_some()
        || head.method == Method::HEAD
    {
        return None;
    }
    // The connection belongs to the page, and not to the response that the page includes.
    if sending.context.is_part() {
        return None;
    }
    // The fields of the connection are those that the client sent.
    let sent = &sending.context.head.headers;
    let protocol = sent.get(UPGRADE).filter(|_| lists_upgrade(sent))?;
    to.may_become(protocol.to_str().ok()?.trim()).then(|| protocol.clone())
}

/// Whether `Connection` names `Upgrade`.
pub fn lists_upgrade(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|word| word.trim().eq_ignore_ascii_case("upgrade"))
}

/// Adds the fields with which a backend is asked to switch.
pub fn ask(headers: &mut HeaderMap, protocol: HeaderValue) {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, protocol);
}

/// The response that switches the client's connection. Its bytes flow after the response was sent.
pub fn deliver(
    context: &RequestContext,
    route: &Route,
    response: Response<()>,
    tunnel: Tunnel,
) -> Result<Response<BodySource>, Refusal> {
    let (mut head, ()) = response.into_parts();
    let Some(protocol) = head.headers.get(UPGRADE).cloned() else {
        context.end_at_backend();
        let why = "the backend switched protocols without naming one (Upgrade)";
        context.log_error(route, &why);
        return Err(Refusal::new(StatusCode::BAD_GATEWAY));
    };
    fields::end_to_end(&mut head.headers);
    ask(&mut head.headers, protocol);
    head.extensions.clear();
    head.version = Version::HTTP_11;
    context.client.will_tunnel(tunnel);
    Ok(Response::from_parts(head, BodySource::Empty))
}
