//! Connections that switch protocols: WebSocket, and what `upgrade=` allows.

use http::header::{CONNECTION, HeaderMap, HeaderValue, UPGRADE};
use http::{Response, StatusCode, Version};

use crate::base::refusal::Refusal;
use crate::client::tunnel::Tunnel;
use crate::request::context::RequestContext;
use crate::request::respond::body::BodySource;
use crate::routing::Route;
use proxy::fields;

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
    context.will_tunnel(tunnel);
    Ok(Response::from_parts(head, BodySource::Empty))
}
