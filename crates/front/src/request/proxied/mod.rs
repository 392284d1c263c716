//! Requests that are passed to a backend: `ProxyPass`.
//!
//! ```text
//!   proxied::answer ── fields for the backend, upload::Upload ──▶ proxy::Backends ──▶ backend
//!                   ◀─ fields for the client, BodySource::Backend ─┘
//! ```

mod ahead;
mod balanced;
pub mod connect;
mod dialect;
pub mod download;
pub mod event;
mod facts;
pub mod forward;
mod handshake;
pub mod health;
pub mod hops;
mod reversed;
mod running;
pub mod shared;
mod switched;
mod tls;
pub mod upload;

use std::any::Any;
use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use http::header::{EXPECT, FORWARDED, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHORIZATION, SERVER, TE, VIA};
use http::request::Parts;
use http::{Method, Response, StatusCode, Uri, Version};
use http_body::Body as _;
use percent_encoding::percent_encode;

use super::body::RequestBody;
use super::context::RequestContext;
use super::respond::body::BodySource;
use crate::base::field_names::WrittenNames;
use crate::base::refusal::Refusal;
use crate::client::tunnel::Tunnel;
use crate::routing::Route;
use base::path::PATH;
use config::proxy::forward::Forwarding;
use config::proxy::{BackendAddress, Passed, Via};
use download::{Download, DownloadBody};
use proxy::{BackendFailure, BackendRequest, BackendResponse, TunnelStream, fields};
use running::{Running, RunningAtMember};
use shared::{clean, overridden, waits};
use upload::{ProxiedUpload, UploadState};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_SERVER: HeaderName = HeaderName::from_static("x-forwarded-server");

/// Marks a response whose `Server` field is the backend's.
#[derive(Debug, Clone, Copy)]
pub struct OfBackend;

/// A request on its way to a backend.
pub struct Sending<'a> {
    context: &'a RequestContext,
    head: &'a Parts,
    route: &'a Rc<Route>,
    /// The part of the request's body that outlives it.
    upload: Rc<UploadState>,
    has_body: bool,
}

/// The result of sending a request to a backend.
enum Attempt {
    Answered(Box<BackendResponse>),
    Failed(BackendFailure),
}

/// The response of the backend that `route` leads to.
pub async fn answer(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    to: &Passed,
    body: &mut RequestBody,
) -> Result<Response<BodySource>, Refusal> {
    if body.was_received() {
        context.log_error(route, &"is the index of a folder whose Perl handlers have received the request's body, which cannot be passed to a backend; use ProxyPass for the folder, or remove the handlers");
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
    }
    let upload = Rc::new(UploadState::default());
    let source = ProxiedUpload::of(context, route, body, upload.clone())?;
    // HTTP/1.0 has no chunks.
    let has_no_length = source.as_ref().is_some_and(|source| source.size_hint().exact().is_none());
    if has_no_length && context.has_variable("force-proxy-request-1.0") {
        return Err(Refusal::closing(StatusCode::LENGTH_REQUIRED));
    }
    let sending = Sending { context, head, route, upload, has_body: source.is_some() };
    let expects = source.is_some() && expects(context);
    let (head_again, tls) = (head.clone(), None);
    let mut outgoing = BackendRequest { head: head_again, body: source, tls, once: false, upgrades: false, expects };
    let to = &*interpolated(context, route, to);
    if let BackendAddress::Balancer(name) = &to.url.address {
        return balanced::answer(&sending, to, name, &mut outgoing).await;
    }
    match sending.attempt(to, &mut outgoing).await? {
        Attempt::Answered(response) => deliver(&sending, to, *response, None),
        Attempt::Failed(failure) => Err(log_error(&sending, to, &failure)),
    }
}

/// Whether the client waits for 100 before it sends the body. HTTP/1.0 has no such response.
fn expects(context: &RequestContext) -> bool {
    let expectation = context.head.headers.get(EXPECT);
    let is_asked = expectation.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    is_asked && context.head.version >= Version::HTTP_11 && !context.has_variable("force-proxy-request-1.0")
}

impl Sending<'_> {
    async fn attempt(&self, to: &Passed, outgoing: &mut BackendRequest) -> Result<Attempt, Refusal> {
        let to = &*forward::guarded(self.context, self.route, to)?;
        outgoing.head = onward(self.context, self.head, self.route, to)?;
        outgoing.tls = tls::handshake(self, to)?;
        // Clients choose the name, so that their connections would displace all others.
        let is_named_by_client = outgoing.tls.as_ref().is_some_and(|tls| tls.is_of_client);
        outgoing.once = is_named_by_client || self.context.has_variable("proxy-nokeepalive");
        let protocol = self.protocol(to);
        outgoing.upgrades = protocol.is_some();
        match protocol {
            Some(protocol) => {
                handshake::check_origin(self.context, self.route, protocol)?;
                switched::ask(&mut outgoing.head.headers, protocol.clone());
            }
            None if self.context.is_websocket_stream() => return Err(Refusal::not_allowed()),
            None if to.url.scheme.is_websocket() && self.route.settings.proxy.websocket_fallback == Some(false) => {
                return Err(Refusal::new(StatusCode::BAD_REQUEST));
            }
            None => {}
        }
        self.context.begin_at_backend(self.has_body);
        Ok(match self.context.services.backends.send(to, waits(self.context, self.route, to), outgoing).await {
            Ok(response) => Attempt::Answered(Box::new(response)),
            Err(failure) => {
                self.context.end_at_backend();
                Attempt::Failed(failure)
            }
        })
    }

    /// The protocol to which the client asks to switch, if it may with this backend.
    fn protocol(&self, to: &Passed) -> Option<&HeaderValue> {
        let protocol = self.context.upgrade(self.head, self.has_body).filter(|_| !to.url.scheme.is_http2())?;
        to.may_become(protocol.to_str().ok()?.trim()).then_some(protocol)
    }
}

/// The backend with the request's variables in its path: `interpolate`, `ProxyPassInterpolateEnv`.
fn interpolated<'a>(context: &RequestContext, route: &Route, to: &'a Passed) -> Cow<'a, Passed> {
    if !to.parameters.interpolate || route.settings.proxy.interpolate != Some(true) {
        return Cow::Borrowed(to);
    }
    let variables = context.variables();
    let (mut path, mut rest) = (String::new(), &*to.url.path);
    while let Some((before, (name, after))) =
        rest.split_once("${").and_then(|(before, inside)| Some((before, inside.split_once('}')?)))
    {
        path.push_str(before);
        path.extend(percent_encode(variables.get(name).unwrap_or_default().as_bytes(), PATH));
        rest = after;
    }
    path.push_str(rest);
    Cow::Owned(Passed { url: to.url.at(path), ..to.clone() })
}

/// The refusal for a backend that switches protocols without a request for an upgrade.
fn unasked_upgrade(context: &RequestContext, route: &Route, to: &Passed, status: StatusCode) -> Refusal {
    context.end_at_backend();
    context.log_error(route, &format_args!("backend {}: unexpected status {status}", to.url.origin()));
    Refusal::new(StatusCode::BAD_GATEWAY)
}

/// The request's head for the backend.
fn onward(context: &RequestContext, head: &Parts, route: &Route, to: &Passed) -> Result<Parts, Refusal> {
    let mut onward = head.clone();
    onward.version = match context.has_variable("force-proxy-request-1.0") {
        true => Version::HTTP_10,
        false => Version::HTTP_11,
    };
    onward.uri = target(head, to)?;
    let headers = &mut onward.headers;
    fields::of_request(headers);
    fields::count_down(headers);
    let proxy = &route.settings.proxy;
    let forwarding = to.parameters.forwarding;
    if to.url.scheme.is_http2() && takes_trailers(&context.head.headers) {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    if forwarding.is_some_and(|way| !passes_credentials(context, way)) {
        headers.remove(PROXY_AUTHORIZATION);
    }
    if proxy.preserve_host != Some(true) || forwarding.is_some() {
        headers.insert(HOST, value(&to.url.authority));
    } else if !headers.contains_key(HOST) {
        headers.insert(HOST, value(own_name(context, route)));
    }
    // As in httpd, servers behind the forward proxy are not told of its clients.
    if proxy.add_headers != Some(false) && forwarding.is_none() {
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
    if forwarding.is_some() {
        hops::mark(headers);
    }
    Ok(onward)
}

/// Whether the client takes trailers. Servers of gRPC require the field, which is otherwise one of the connection.
fn takes_trailers(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(TE).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|word| word.trim().eq_ignore_ascii_case("trailers"))
}

/// Whether another proxy gets the client's `Proxy-Authorization`: as in httpd, not if this server has checked it,
/// except with the variable proxy-chain-auth.
fn passes_credentials(context: &RequestContext, way: Forwarding) -> bool {
    let is_checked = context.visitor().user().is_some();
    way == Forwarding::ByProxy && (!is_checked || context.has_variable("proxy-chain-auth"))
}

/// The path and query for the backend.
fn target(head: &Parts, to: &Passed) -> Result<Uri, Refusal> {
    let query = head.uri.query().filter(|_| !to.parameters.noquery);
    let path = if to.url.path.is_empty() { "/" } else { &to.url.path };
    let origin = match to.parameters.forwarding {
        Some(Forwarding::ByProxy) => to.url.origin(),
        Some(Forwarding::Direct) | None => String::new(),
    };
    let target = match query {
        Some(query) => Cow::Owned(format!("{origin}{path}?{query}")),
        None if !origin.is_empty() => Cow::Owned(format!("{origin}{path}")),
        None => Cow::Borrowed(path),
    };
    Uri::try_from(&*target).map_err(|_| Refusal::new(StatusCode::BAD_REQUEST))
}

fn own_name<'a>(context: &'a RequestContext, route: &'a Route) -> &'a str {
    let host = context.generation.config.hosts.get(usize::from(route.host));
    host.and_then(|host| host.server_name.as_deref()).unwrap_or(&route.server_name)
}

/// Appends this server to the Via fields of a request.
fn add_via(headers: &mut HeaderMap, context: &RequestContext, route: &Route, version: Version) {
    if route.settings.proxy.via == Some(Via::Block) {
        headers.remove(VIA);
    } else if let Some(via) = via(context, route, version) {
        fields::append(headers, VIA, &via);
    }
}

/// The Via field of this server, where ProxyVia adds one.
fn via(context: &RequestContext, route: &Route, version: Version) -> Option<String> {
    let software = match route.settings.proxy.via.unwrap_or(Via::Off) {
        Via::Off | Via::Block => return None,
        Via::On => String::new(),
        Via::Full => format!(" ({})", context.generation.software),
    };
    let version = match version {
        Version::HTTP_2 => "2.0",
        Version::HTTP_10 => "1.0",
        _ => "1.1",
    };
    Some(format!("{version} {}{software}", own_name(context, route)))
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("localhost"))
}

/// The backend's response, for the client.
fn deliver(
    sending: &Sending<'_>,
    to: &Passed,
    response: BackendResponse,
    running: Option<RunningAtMember>,
) -> Result<Response<BodySource>, Refusal> {
    match response {
        BackendResponse::Switched(response, backend) => {
            handshake::check_proof(sending.context, sending.route, response.headers())?;
            let idle = waits(sending.context, sending.route, to).piece;
            let tunnel = tunnel(sending.context, backend, idle, Box::new(running));
            switched::deliver(sending.context, sending.route, response, tunnel)
        }
        BackendResponse::Response(response) if response.status().is_informational() => {
            Err(unasked_upgrade(sending.context, sending.route, to, response.status()))
        }
        BackendResponse::Response(response) if sending.route.settings.proxy.overrides(response.status().as_u16()) => {
            sending.context.end_at_backend();
            Err(overridden(response.status(), response.headers()))
        }
        BackendResponse::Response(response) => Ok(pass_on(sending, response, running)),
    }
}

/// A tunnel to `backend` that ends with the configuration.
fn tunnel(context: &RequestContext, backend: TunnelStream, idle: Duration, guard: Box<dyn Any>) -> Tunnel {
    let generation = context.generation.clone();
    let graceful = generation.config.timeouts.graceful;
    Tunnel { backend, idle, graceful, is_over: Box::new(move || generation.is_superseded()), guard, websocket: None }
}

/// The backend's response, for the client.
fn pass_on(
    &Sending { context, head, route, .. }: &Sending<'_>,
    response: Response<proxy::BackendBody>,
    running: Option<RunningAtMember>,
) -> Response<BodySource> {
    let (version, names) = (response.version(), WrittenNames::of_backend(&response));
    let mut response = response.map(|body| match head.method == Method::HEAD || body.is_over() {
        true => {
            context.end_at_backend();
            BodySource::Empty
        }
        false => BodySource::Backend(Box::new(Download::new(
            context,
            route,
            DownloadBody::Http(body),
            running.map(Running::Member),
        ))),
    });
    *response.version_mut() = Version::HTTP_11;
    if response.headers().contains_key(SERVER) {
        response.extensions_mut().insert(OfBackend);
    }
    response.extensions_mut().insert(names);
    let headers = response.headers_mut();
    clean(headers, head);
    reversed::rewrite(context, head, route, headers);
    // As in httpd, responses get a field of their own, and keep those of the backend.
    if let Some(via) = via(context, route, version) {
        headers.append(VIA, value(&via));
    }
    response
}

/// Logs a failure, and converts it to a refusal.
fn log_error(sending: &Sending<'_>, to: &Passed, failure: &BackendFailure) -> Refusal {
    if let Some(status) = sending.upload.refused.get() {
        return Refusal::closing(status);
    }
    sending.context.log_error(sending.route, &format_args!("backend {}: {failure}", to.url.origin()));
    Refusal::closing(failure.status())
}
