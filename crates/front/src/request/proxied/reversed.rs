//! `ProxyPassReverse`: addresses in a backend's response become this server's.

use http::header::{CONTENT_LOCATION, HeaderMap, HeaderName, HeaderValue, LOCATION, SET_COOKIE};
use http::request::Parts;

use crate::request::context::RequestContext;
use crate::routing::{Route, server_name};
use config::proxy::reverse;

const URI: HeaderName = HeaderName::from_static("uri");

/// Rewrites the addresses in a response's header fields.
pub fn rewrite(context: &RequestContext, head: &Parts, route: &Route, headers: &mut HeaderMap) {
    let proxy = &route.settings.proxy;
    for name in [LOCATION, CONTENT_LOCATION, URI] {
        let Some(said) = headers.get(&name).and_then(|value| value.to_str().ok()) else { continue };
        let Some(path) = reverse::reversed(&proxy.reverses, said) else { continue };
        if let Ok(here) = HeaderValue::from_str(&format!("{}{path}", origin(context, head, route))) {
            headers.insert(name, here);
        }
    }
    if proxy.cookie_domains.is_empty() && proxy.cookie_paths.is_empty() {
        return;
    }
    for value in headers.iter_mut().filter(|(name, _)| **name == SET_COOKIE).map(|(_, value)| value) {
        let here =
            value.to_str().ok().and_then(|said| reverse::cookie(said, &proxy.cookie_domains, &proxy.cookie_paths));
        if let Some(here) = here.and_then(|here| HeaderValue::from_str(&here).ok()) {
            *value = here;
        }
    }
}

/// Scheme, name and port of this server, as the client knows it.
fn origin(context: &RequestContext, head: &Parts, route: &Route) -> String {
    let secure = context.is_secure();
    let port = server_name::port_of(&context.generation.config, head, route, context.is_secure_by_proxy());
    let (scheme, usual) = if secure { ("https", 443) } else { ("http", 80) };
    match port == usual {
        true => format!("{scheme}://{}", route.server_name),
        false => format!("{scheme}://{}:{port}", route.server_name),
    }
}
