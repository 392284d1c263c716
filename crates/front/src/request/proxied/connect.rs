//! `CONNECT` of the forward proxy: bytes of any protocol between a client and the server that it names (RFC 9110,
//! section 9.3.6). `AllowCONNECT` bounds the ports.

use http::header::{HOST, HeaderMap, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION};
use http::request::Parts;
use http::{Response, StatusCode, Uri, Version};
use hyper::ext::ReasonPhrase;

use super::forward::guarded;
use super::shared::waits;
use super::{hops, passes_credentials, tunnel, value};
use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use crate::request::respond::body::BodySource;
use crate::routing::Route;
use config::proxy::Passed;
use config::proxy::forward::Forwarding;
use proxy::{BackendFailure, BackendRequest, BackendResponse, TunnelStream};

const ESTABLISHED: ReasonPhrase = ReasonPhrase::from_static(b"Connection Established");

/// Connects to the server that the client has named. The response begins the tunnel.
pub async fn answer(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    to: &Passed,
) -> Result<Response<BodySource>, Refusal> {
    let name = &to.url.authority;
    let port = name.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    if !port.is_some_and(|port| route.settings.proxy.forward.may_connect(port)) {
        context.log_error(route, &format_args!("CONNECT {name}: AllowCONNECT does not list the port"));
        return Err(Refusal::new(StatusCode::FORBIDDEN));
    }
    let to = &*guarded(context, route, to)?;
    context.begin_at_backend(false);
    let backend = match to.parameters.forwarding {
        Some(Forwarding::ByProxy) => by_proxy(context, head, route, to).await?,
        _ => context.services.backends.open(to, waits(context, route, to)).await.map_err(failed(context, route, to))?,
    };
    let mut response = Response::new(BodySource::Empty);
    response.extensions_mut().insert(ESTABLISHED);
    context.will_tunnel(tunnel(context, backend, waits(context, route, to).piece, Box::new(())));
    Ok(response)
}

/// The connection that another proxy makes.
async fn by_proxy(context: &RequestContext, head: &Parts, route: &Route, to: &Passed) -> Result<TunnelStream, Refusal> {
    let mut onward = head.clone();
    onward.version = Version::HTTP_11;
    // The checked form, and not the client's spelling.
    onward.uri = Uri::try_from(&to.url.authority).map_err(|_| Refusal::new(StatusCode::BAD_REQUEST))?;
    onward.headers = HeaderMap::from_iter([(HOST, value(&to.url.authority))]);
    hops::pass_marks(&head.headers, &mut onward.headers);
    if let Some(credentials) =
        head.headers.get(PROXY_AUTHORIZATION).filter(|_| passes_credentials(context, Forwarding::ByProxy))
    {
        onward.headers.insert(PROXY_AUTHORIZATION, credentials.clone());
    }
    let mut outgoing =
        BackendRequest { head: onward, body: None, tls: None, once: true, upgrades: true, expects: false };
    match context.services.backends.send(to, waits(context, route, to), &mut outgoing).await {
        Ok(BackendResponse::Switched(_, backend)) => Ok(backend),
        Ok(BackendResponse::Response(response)) => {
            context.end_at_backend();
            context.log_error(
                route,
                &format_args!("CONNECT {}: the other proxy answers {}", to.url.authority, response.status()),
            );
            Err(refused(response.status(), response.headers()))
        }
        Err(failure) => Err(failed(context, route, to)(failure)),
    }
}

/// The refusal for a status of the other proxy. A 407 retains the challenge.
fn refused(status: StatusCode, headers: &HeaderMap) -> Refusal {
    match headers.get(PROXY_AUTHENTICATE) {
        Some(challenge) => Refusal::with(status, PROXY_AUTHENTICATE, challenge.clone()),
        None => Refusal::new(status),
    }
}

/// Logs a failure, and makes the refusal of it.
fn failed<'a>(
    context: &'a RequestContext,
    route: &'a Route,
    to: &'a Passed,
) -> impl FnOnce(BackendFailure) -> Refusal + 'a {
    move |failure| {
        context.end_at_backend();
        context.log_error(route, &format_args!("CONNECT {}: {failure}", to.url.authority));
        Refusal::closing(failure.status())
    }
}
