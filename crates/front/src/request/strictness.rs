//! A host's checks beyond HTTP: known host names, registered methods and strict targets.

use std::sync::Arc;

use http::StatusCode;
use http::header::HOST;
use http::request::Parts;

use super::context::RequestContext;
use crate::base::refusal::Refusal;
use crate::base::target;
use crate::client::tls_session::Session;
use crate::routing::Route;
use config::strictness::is_registered;

/// Whether the host that `route` leads to may answer the request.
pub fn check(context: &RequestContext, head: &Parts, route: &Route) -> Result<(), Refusal> {
    let config = &context.generation.config;
    let Some(host) = config.hosts.get(usize::from(route.host)) else { return Ok(()) };
    // The settings of the address's first host apply before a host is chosen by name.
    let first =
        config.hosts_at(context.client.local.socket).next().and_then(|first| config.hosts.get(usize::from(first)));
    let first = first.unwrap_or(host);
    if first.strictness.known_hosts == Some(true) && !is_known_host(context, head) {
        context.log_error(route, &"the Host header names no ServerName or ServerAlias (StrictHostCheck)");
        return Err(Refusal::closing(StatusCode::BAD_REQUEST));
    }
    let wants_name = [first, host].iter().any(|host| host.strictness.named_by_tls == Some(true));
    if wants_name && context.client.session().is_some_and(|session| session.name.is_none()) {
        context.log_error(route, &"no host was named in the TLS handshake (SSLStrictSNIVHostCheck)");
        return Err(Refusal::new(StatusCode::FORBIDDEN));
    }
    if host.strictness.plain_targets == Some(true) {
        if target::as_sent(&context.head).is_some() {
            context.log_error(route, &"a byte in the target that must be percent-encoded (HttpProtocolOptions Strict)");
            return Err(Refusal::closing(StatusCode::BAD_REQUEST));
        }
        if route.path.contains(&b'\\') {
            return Err(Refusal::new(StatusCode::NOT_FOUND));
        }
    }
    if host.strictness.registered_methods == Some(true) && !is_registered(head.method.as_str(), &config.methods) {
        context.log_error(route, &"the method is not registered (HttpProtocolOptions RegisteredMethods)");
        return Err(Refusal::closing(StatusCode::NOT_IMPLEMENTED));
    }
    Ok(())
}

/// Whether the Host header names a configured host. A missing or empty Host passes: HTTP/1.0 allows that.
fn is_known_host(context: &RequestContext, head: &Parts) -> bool {
    let config = &context.generation.config;
    let Some(name) = head.headers.get(HOST).and_then(|host| host.to_str().ok()).filter(|host| !host.is_empty()) else {
        return true;
    };
    config.hosts_at(context.client.local.socket).any(|at| {
        let host = config.hosts.get(usize::from(at));
        host.is_some_and(|host| host.has_name(name))
    })
}

/// Whether the request is for another host than the TLS handshake named. Browsers that reuse a connection for all
/// names in a certificate then retry on a new one.
///
/// Nor does a host see a certificate that another host has asked for.
pub fn is_misdirected(context: &RequestContext, route: &Route) -> bool {
    let Some(session) = context.client.session() else { return false };
    if asks_otherwise(context, session, route) {
        return true;
    }
    let Some(name) = session.name.as_deref() else { return false };
    name != &*route.server_name && context.generation.config.host(context.client.local.socket, name) != route.host
}

/// Whether the host of `route` asks for other certificates than the host of the handshake did. A reload may have
/// changed that.
fn asks_otherwise(context: &RequestContext, session: &Session, route: &Route) -> bool {
    let (then, now) = (&context.client.config, &context.generation.config);
    if session.host == route.host && Arc::ptr_eq(then, now) {
        return false;
    }
    match (then.hosts.get(usize::from(session.host)), now.hosts.get(usize::from(route.host))) {
        (Some(then), Some(now)) => !then.tls.clients.asks_like(&now.tls.clients),
        _ => true,
    }
}
