//! A CGI response, for the client (RFC 3875, section 6.2).

use std::rc::Rc;

use http::header::LOCATION;
use http::request::Parts;
use http::{Method, Response};
use tokio::task::spawn_local;

use crate::base::refusal::Refusal;
use crate::base::response_facts::AlwaysHeaders;
use crate::request::Dispatched;
use crate::request::context::RequestContext;
use crate::request::proxied::download::{Download, DownloadBody};
use crate::request::proxied::shared::{clean, overridden};
use crate::request::respond::body::BodySource;
use crate::routing::Route;
use fastcgi::CgiHead;
use proxy::FastcgiBody;

/// Maximum number of bytes of a body without a reader that are read for the sake of the connection.
const DISCARDED: usize = 1 << 20;

/// The client's response, or the internal redirect that the application asks for.
pub fn deliver(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    answered: CgiHead,
    body: FastcgiBody,
) -> Result<Dispatched, Refusal> {
    if let Some(path) = local_redirect(&answered) {
        context.end_at_backend();
        spawn_local(body.discard(DISCARDED));
        return Ok(Dispatched::InternalRedirect(path));
    }
    let CgiHead { status, mut fields, .. } = answered;
    if route.settings.proxy.overrides(status.as_u16()) {
        context.end_at_backend();
        spawn_local(body.discard(DISCARDED));
        return Err(overridden(status, &fields));
    }
    let source = match head.method == Method::HEAD || body.is_over() {
        true => {
            context.end_at_backend();
            spawn_local(body.discard(DISCARDED));
            BodySource::Empty
        }
        false => BodySource::Backend(Box::new(Download::new(context, route, DownloadBody::Fastcgi(body), None))),
    };
    clean(&mut fields, head);
    let mut response = Response::new(source);
    *response.status_mut() = status;
    response.extensions_mut().insert(AlwaysHeaders::of_script(&fields));
    *response.headers_mut() = fields;
    Ok(Dispatched::Response(response))
}

/// The path of a local redirect: a `Location` that begins with one slash, without a `Status` (section 6.2.2).
fn local_redirect(answered: &CgiHead) -> Option<Vec<u8>> {
    let location = answered.fields.get(LOCATION).filter(|_| !answered.has_status)?.as_bytes();
    (location.starts_with(b"/") && !location.starts_with(b"//")).then(|| location.to_vec())
}
