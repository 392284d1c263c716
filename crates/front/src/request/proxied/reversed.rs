//! `ProxyPassReverse`: addresses in a backend's response become this server's.

use std::borrow::Cow;

use http::header::{CONTENT_LOCATION, HeaderMap, HeaderName, HeaderValue, LOCATION, SET_COOKIE};
use http::request::Parts;

use crate::request::context::RequestContext;
use crate::routing::{Route, server_name};
use config::proxy::balancer::BalancerMember;
use config::proxy::reverse::{self, ReverseMap};
use config::proxy::{BackendScheme, BackendUrl};

const URI: HeaderName = HeaderName::from_static("uri");

/// Rewrites the addresses in a response's header fields.
pub fn rewrite(context: &RequestContext, head: &Parts, route: &Route, headers: &mut HeaderMap) {
    let proxy = &route.settings.proxy;
    let maps = of_members(context, route, &proxy.reverses);
    for name in [LOCATION, CONTENT_LOCATION, URI] {
        let Some(url) = headers.get(&name).and_then(|value| value.to_str().ok()) else { continue };
        let Some(path) = reverse::reversed(&maps, url) else { continue };
        // The left side of a line may be a whole URL.
        let origin = if path.starts_with('/') { origin(context, head, route) } else { String::new() };
        if let Ok(here) = HeaderValue::from_str(&format!("{origin}{path}")) {
            headers.insert(name, here);
        }
    }
    if proxy.cookie_domains.is_empty() && proxy.cookie_paths.is_empty() {
        return;
    }
    for value in headers.iter_mut().filter(|(name, _)| **name == SET_COOKIE).map(|(_, value)| value) {
        let here =
            value.to_str().ok().and_then(|cookie| reverse::cookie(cookie, &proxy.cookie_domains, &proxy.cookie_paths));
        if let Some(here) = here.and_then(|here| HeaderValue::from_str(&here).ok()) {
            *value = here;
        }
    }
}

/// The lines, with one for each member in place of a balancer.
fn of_members<'a>(context: &RequestContext, route: &Route, maps: &'a [ReverseMap]) -> Cow<'a, [ReverseMap]> {
    if !maps.iter().any(|map| map.there.starts_with("balancer://")) {
        return Cow::Borrowed(maps);
    }
    let expand = |map: &ReverseMap| {
        let url = BackendUrl::parse(&map.there).ok().filter(|url| url.scheme == BackendScheme::Balancer);
        let balancer = url.as_ref().and_then(|url| context.generation.config.balancer(route.host, &url.authority));
        let (Some(url), Some(balancer)) = (url, balancer) else { return vec![map.clone()] };
        let there = |member: &BalancerMember| {
            let (base, own) = (member.url.to_string(), url.path.trim_start_matches('/'));
            format!("{}/{own}", base.trim_end_matches('/'))
        };
        balancer.members.iter().map(|one| ReverseMap { here: map.here.clone(), there: there(one) }).collect()
    };
    Cow::Owned(maps.iter().flat_map(expand).collect())
}

/// Scheme, name and port of this server, as the client knows it.
fn origin(context: &RequestContext, head: &Parts, route: &Route) -> String {
    let secure = context.is_secure();
    // As in httpd, the port of the connection counts only if Host or ServerName has it.
    let port = server_name::port_of(&context.generation.config, head, route, Some(secure));
    let (scheme, usual) = if secure { ("https", 443) } else { ("http", 80) };
    match port == usual {
        true => format!("{scheme}://{}", route.server_name),
        false => format!("{scheme}://{}:{port}", route.server_name),
    }
}
