//! The forward proxy: `ProxyRequests On`. A client of HTTP/1 names another server in the target of its request, or with
//! `CONNECT`.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::header::{
    AUTHORIZATION, HeaderName, HeaderValue, LOCATION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, WWW_AUTHENTICATE,
};
use http::request::Parts;
use http::{Method, StatusCode, Uri};

use super::super::context::RequestContext;
use super::super::place::find;
use super::hops;
use super::shared::waits;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::proxy::forward::Forwarding;
use config::proxy::{BackendAddress, BackendParameters, BackendUrl, Passed, is_usual_host};

/// The route to the server that the client has named, if that is another one and `ProxyRequests` is on. Neither aliases
/// nor `<Location>` of this host's own paths apply to it.
pub async fn route(context: &RequestContext, head: &Parts) -> Result<Option<Rc<Route>>, Refusal> {
    // Internal redirects, as to an error page, have a target of their own.
    let is_of_client = context.stream.is_none() && !context.is_part() && head.uri == context.head.uri;
    let names_server = head.method == Method::CONNECT || head.uri.scheme().is_some();
    let generation = &context.generation;
    if !is_of_client || !names_server || !is_on(context) {
        return Ok(None);
    }
    // The path is one of another server, for which rules about slashes and depth do not hold.
    let mut of_host = head.clone();
    of_host.uri = Uri::from_static("/");
    let of_host = find(context, &of_host).await?;
    let own = &*of_host;
    let rules = &own.settings.proxy.forward;
    if !rules.is_on() || is_own(context, head, own) {
        return Ok(None);
    }
    let wanted = wanted(&context.head).map_err(|(status, why)| {
        // For the error page.
        context.leads_to(of_host.clone());
        context.log_error(own, &format_args!("ProxyRequests: {} is not forwarded: {why}", head.uri));
        Refusal::new(status)
    })?;
    let (url, mut to, mut way, mut named) = (wanted.to_string(), wanted.clone(), Forwarding::Direct, None);
    let remote = context.apply_rules(|| rules.remote(&url));
    // A pattern without a result must not let the request past the other proxy.
    context.within_limits(own).inspect_err(|_| context.leads_to(of_host.clone()))?;
    // Addresses of names are compared later: strangers cause no lookups.
    if let Some(proxy) = remote
        && !matches!(&wanted.address, BackendAddress::Tcp(host, _) if rules.is_direct(host))
    {
        (to.address, way) = (proxy.address.clone(), Forwarding::ByProxy);
        named = rules.has_direct_networks().then_some(wanted.address);
    }
    // Clients choose the names of these servers: none of their connections or failures is stored.
    let parameters = BackendParameters {
        forwarding: Some(way),
        named,
        disable_reuse: true,
        retry: Some(Duration::ZERO),
        ..BackendParameters::default()
    };
    let to = Passed { url: to, parameters: Arc::new(parameters), at: rules.at.clone().unwrap_or_default() };
    Ok(Some(Rc::new(generation.routes.forwarded(&generation.config, own, to))))
}

/// The backend of an admitted request: the server itself in place of another proxy, at its present addresses, if
/// networks of `NoProxy` contain all of them. A name that is not found in time is one for the other proxy.
pub async fn past_proxy<'a>(context: &RequestContext, route: &Route, to: &'a Passed) -> Cow<'a, Passed> {
    let rules = &route.settings.proxy.forward;
    let Some(address @ BackendAddress::Tcp(host, port)) = &to.parameters.named else { return Cow::Borrowed(to) };
    let wait = waits(context, route, to).connect;
    let addresses = context.services.backends.look_up_apart(host, *port, wait).await.unwrap_or_default();
    if !rules.are_direct(&addresses) {
        return Cow::Borrowed(to);
    }
    let forwarding = Some(Forwarding::Direct);
    let parameters = Arc::new(BackendParameters { forwarding, addresses, ..(*to.parameters).clone() });
    Cow::Owned(Passed { url: BackendUrl { address: address.clone(), ..to.url.clone() }, parameters, ..to.clone() })
}

/// The redirect to the host with the domain of `ProxyDomain`, if the client has named one without a domain.
pub fn complete_domain(head: &Parts, route: &Route, to: &Passed) -> Result<(), Refusal> {
    let rules = &route.settings.proxy.forward;
    if to.parameters.forwarding.is_none() || ![Method::GET, Method::HEAD].contains(&head.method) {
        return Ok(());
    }
    let Some(authority) = rules.with_domain(&to.url.authority) else { return Ok(()) };
    let query = head.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let location = HeaderValue::try_from(format!("http://{authority}{}{query}", to.url.path));
    let location = location.map_err(|_| Refusal::new(StatusCode::BAD_REQUEST))?;
    Err(Refusal::with(StatusCode::MOVED_PERMANENTLY, LOCATION, location))
}

/// Whether a host of the configuration forwards requests.
pub fn is_on(context: &RequestContext) -> bool {
    context.generation.config.sections.iter().any(|section| section.own.proxy.forward.is_on())
}

/// The server that the client has named, or the status of a refusal and its reason.
fn wanted(head: &Parts) -> Result<BackendUrl, (StatusCode, String)> {
    const UNUSUAL: &str = "its host is neither a name nor an IPv4 or IPv6 address in its usual form";
    if hops::is_back(&head.headers) {
        let why = "it has passed through this server before; look for proxies that form a loop";
        return Err((StatusCode::LOOP_DETECTED, why.to_owned()));
    }
    let is_tunnel = head.method == Method::CONNECT;
    if !is_tunnel && !head.uri.scheme_str().is_some_and(|scheme| scheme.eq_ignore_ascii_case("http")) {
        return Err((StatusCode::FORBIDDEN, "only http:// URLs are".to_owned()));
    }
    if !head.uri.host().is_some_and(is_usual_host) {
        return Err((StatusCode::BAD_REQUEST, UNUSUAL.to_owned()));
    }
    let authority = head.uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
    if is_tunnel {
        let why = "CONNECT needs a host and a port from 1 to 65535";
        return BackendUrl::tunnel(authority).ok_or((StatusCode::BAD_REQUEST, why.to_owned()));
    }
    let path = if head.uri.path().is_empty() { "/" } else { head.uri.path() };
    BackendUrl::parse(&format!("http://{authority}{path}")).map_err(|why| (StatusCode::FORBIDDEN, why))
}

/// Whether a target with this scheme names the host of the route itself, so that the request is for its own pages.
fn is_own(context: &RequestContext, head: &Parts, own: &Route) -> bool {
    let Some(scheme) = head.uri.scheme_str() else { return false };
    let usual = if context.is_secure() { "https" } else { "http" };
    let Some(name) = head.uri.host().filter(|_| scheme.eq_ignore_ascii_case(usual)) else { return false };
    let host = context.generation.config.hosts.get(usize::from(own.host));
    let port = head.uri.port_u16().unwrap_or(if context.is_secure() { 443 } else { 80 });
    let local = context.client.local.socket.map(|socket| socket.port());
    let name = name.strip_suffix('.').unwrap_or(name);
    host.is_some_and(|host| [local, host.server_port].contains(&Some(port)) && host.has_name(name))
}

/// The backend with the addresses that its name may not have, and the local address for it. An error if `ProxyBlock`
/// names it.
pub fn guarded<'a>(context: &RequestContext, route: &Route, to: &'a Passed) -> Result<Cow<'a, Passed>, Refusal> {
    let to = sourced(route, to);
    let rules = &route.settings.proxy.forward;
    if rules.blocked.is_empty() || !matches!(to.url.address, BackendAddress::Tcp(..)) {
        return Ok(to);
    }
    if rules.blocks(&to.url.authority) {
        context.log_error(route, &format_args!("{} is blocked by ProxyBlock", to.url.authority));
        return Err(Refusal::new(StatusCode::FORBIDDEN));
    }
    let blocked = rules.blocked_addresses();
    // The address of another proxy is not the client's choice.
    if blocked.is_empty() || to.parameters.forwarding == Some(Forwarding::ByProxy) {
        return Ok(to);
    }
    let parameters = Arc::new(BackendParameters { blocked, ..(*to.parameters).clone() });
    Ok(Cow::Owned(Passed { parameters, ..to.into_owned() }))
}

/// The backend with the local address of connections to it.
fn sourced<'a>(route: &Route, to: &'a Passed) -> Cow<'a, Passed> {
    let source = route.settings.proxy.source;
    if source == to.parameters.source || !matches!(to.url.address, BackendAddress::Tcp(..)) {
        return Cow::Borrowed(to);
    }
    let parameters = Arc::new(BackendParameters { source, ..(*to.parameters).clone() });
    Cow::Owned(Passed { parameters, ..to.clone() })
}

/// An error if the access rules of a forwarded request depend on a user whom a worker would authenticate.
pub fn check_users(context: &RequestContext, route: &Route) -> Result<(), Refusal> {
    let rules = &route.settings.access;
    let about_users = || rules.requires.iter().any(|line| access::is_about_users(&line.what));
    if is_forwarded(route) && route.settings.needs_perl_for_users() && about_users() {
        return Err(without_users(context, route));
    }
    Ok(())
}

/// Whether the client has named the server that gets the request.
pub fn is_forwarded(route: &Route) -> bool {
    route.backend.as_ref().is_some_and(|to| to.parameters.forwarding.is_some())
}

/// The field in which a client sends its credentials. `Authorization` of a forwarded request is for the server that it
/// names.
pub fn credentials(route: &Route) -> HeaderName {
    if is_forwarded(route) { PROXY_AUTHORIZATION } else { AUTHORIZATION }
}

/// The refusal of a request without credentials that this server accepts: 401, or 407 for clients of the forward proxy.
pub fn unauthorized(route: &Route, challenge: HeaderValue) -> Refusal {
    match is_forwarded(route) {
        true => Refusal::with(StatusCode::PROXY_AUTHENTICATION_REQUIRED, PROXY_AUTHENTICATE, challenge),
        false => Refusal::with(StatusCode::UNAUTHORIZED, WWW_AUTHENTICATE, challenge),
    }
}

/// The refusal of a forwarded request whose user a worker would authenticate: handlers read `Authorization`, which is
/// for another server.
fn without_users(context: &RequestContext, route: &Route) -> Refusal {
    let why = "PerlAuthenHandler does not check passwords of clients of a forward proxy; use AuthBasicProvider or \
               Require ip in <Proxy>";
    context.log_error(route, &why);
    Refusal::new(StatusCode::FORBIDDEN)
}
