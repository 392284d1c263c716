//! Requests that are passed to a backend: `ProxyPass`.
//!
//! ```text
//!   proxied::answer ── fields for the backend, upload::Upload ──▶ proxy::Backends ──▶ backend
//!                   ◀─ fields for the client, BodySource::Backend ─┘
//! ```

mod download;
mod reversed;
mod upload;

pub use download::Download;

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use http::header::{FORWARDED, HOST, HeaderMap, HeaderName, HeaderValue, SERVER, VIA, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{Method, Response, StatusCode, Uri, Version};

use super::body::RequestBody;
use super::context::RequestContext;
use super::respond::body::BodySource;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::proxy::{Passed, Via};
use proxy::{BackendFailure, Waits, fields};
use upload::ProxiedUpload;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_SERVER: HeaderName = HeaderName::from_static("x-forwarded-server");

/// Marks a response whose `Server` field is the backend's.
#[derive(Debug, Clone, Copy)]
pub struct OfBackend;

/// The response of the backend that `route` leads to.
pub async fn answer(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    to: &Passed,
    body: &mut RequestBody,
) -> Result<Response<BodySource>, Refusal> {
    if route.settings.has_perl_phases() {
        context.log_error(route, &"ProxyPass passes this path to a backend, where its Perl handlers and filters would not run: remove the handlers, or exclude the path from ProxyPass");
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
    }
    let proxy = &route.settings.proxy;
    let usual = proxy.timeout.unwrap_or(context.generation.config.timeouts.client);
    let piece = to.parameters.timeout.unwrap_or(usual);
    let waits = Waits { piece, connect: to.parameters.connection_timeout.unwrap_or(piece) };
    let onward = onward(context, head, route, to)?;
    let refused = Rc::new(Cell::new(None));
    let upload = ProxiedUpload::of(context, route, body, refused.clone())?;
    match context.services.backends.send(to, waits, onward, upload).await {
        Ok(response) if response.status().is_informational() => {
            Err(unasked_upgrade(context, route, to, response.status()))
        }
        Ok(response) if proxy.overrides(response.status().as_u16()) => Err(overridden(&response)),
        Ok(response) => Ok(deliver(context, head, route, response)),
        Err(failure) => Err(log_error(context, route, to, &failure, refused.get())),
    }
}

/// This server's page in place of the backend's. A 401 retains the challenge, without which no browser opens a password
/// dialog.
fn overridden(response: &Response<proxy::BackendBody>) -> Refusal {
    match response.headers().get(WWW_AUTHENTICATE) {
        Some(challenge) => Refusal::with(response.status(), WWW_AUTHENTICATE, challenge.clone()),
        None => Refusal::new(response.status()),
    }
}

/// The refusal for a backend that switches protocols without a request for an upgrade.
fn unasked_upgrade(context: &RequestContext, route: &Route, to: &Passed, status: StatusCode) -> Refusal {
    context.log_error(route, &format_args!("backend {}: unexpected status {status}", to.url.origin()));
    Refusal::new(StatusCode::BAD_GATEWAY)
}

/// The request's head for the backend.
fn onward(context: &RequestContext, head: &Parts, route: &Route, to: &Passed) -> Result<Parts, Refusal> {
    let mut onward = head.clone();
    onward.version = Version::HTTP_11;
    onward.uri = target(head, to)?;
    let headers = &mut onward.headers;
    fields::of_request(headers);
    let proxy = &route.settings.proxy;
    if proxy.preserve_host != Some(true) {
        headers.insert(HOST, value(&to.url.authority));
    } else if !headers.contains_key(HOST) {
        headers.insert(HOST, value(own_name(context, route)));
    }
    if proxy.add_headers != Some(false) {
        let asked = head.headers.get(HOST).and_then(|host| host.to_str().ok());
        fields::append(headers, FORWARDED_FOR, &context.remote().ip);
        if let Some(host) = asked {
            fields::append(headers, FORWARDED_HOST, host);
        }
        fields::append(headers, FORWARDED_SERVER, own_name(context, route));
        // `Forwarded` describes only the proxies in front of this server, and would contradict the fields above.
        headers.remove(FORWARDED);
    }
    add_via(headers, context, route, head.version);
    Ok(onward)
}

/// The path and query for the backend.
fn target(head: &Parts, to: &Passed) -> Result<Uri, Refusal> {
    let query = head.uri.query().filter(|_| !to.parameters.noquery);
    let path = if to.url.path.is_empty() { "/" } else { &to.url.path };
    let target = match query {
        Some(query) => Cow::Owned(format!("{path}?{query}")),
        None => Cow::Borrowed(path),
    };
    Uri::try_from(&*target).map_err(|_| Refusal::new(StatusCode::BAD_REQUEST))
}

fn own_name<'a>(context: &'a RequestContext, route: &'a Route) -> &'a str {
    let host = context.generation.config.hosts.get(usize::from(route.host));
    host.and_then(|host| host.server_name.as_deref()).unwrap_or(&route.server_name)
}

fn add_via(headers: &mut HeaderMap, context: &RequestContext, route: &Route, version: Version) {
    let software = match route.settings.proxy.via.unwrap_or(Via::Off) {
        Via::Off => return,
        Via::Block => return drop(headers.remove(VIA)),
        Via::On => String::new(),
        Via::Full => format!(" ({})", context.generation.software),
    };
    let version = match version {
        Version::HTTP_2 => "2.0",
        Version::HTTP_10 => "1.0",
        _ => "1.1",
    };
    fields::append(headers, VIA, &format!("{version} {}{software}", own_name(context, route)));
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("localhost"))
}

/// The backend's response, for the client.
fn deliver(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    response: Response<proxy::BackendBody>,
) -> Response<BodySource> {
    let version = response.version();
    let mut response = response.map(|body| match head.method == Method::HEAD || body.is_over() {
        true => BodySource::Empty,
        false => BodySource::Backend(Box::new(Download::new(context, route, body))),
    });
    *response.version_mut() = Version::HTTP_11;
    if response.headers().contains_key(SERVER) {
        response.extensions_mut().insert(OfBackend);
    }
    let headers = response.headers_mut();
    fields::end_to_end(headers);
    if head.method != Method::HEAD {
        headers.remove(http::header::CONTENT_LENGTH);
    }
    reversed::rewrite(context, head, route, headers);
    add_via(headers, context, route, version);
    response
}

/// Logs a failure, and converts it to a refusal.
fn log_error(
    context: &RequestContext,
    route: &Route,
    to: &Passed,
    failure: &BackendFailure,
    refused: Option<StatusCode>,
) -> Refusal {
    if let Some(status) = refused {
        return Refusal::closing(status);
    }
    context.log_error(route, &format_args!("backend {}: {failure}", to.url.origin()));
    Refusal::closing(failure.status())
}
