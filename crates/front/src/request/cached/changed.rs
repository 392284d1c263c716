//! Invalidation by unsafe methods (RFC 9111, section 4.4).

use http::header::{CONTENT_LOCATION, HOST, LOCATION};
use http::{HeaderMap, Uri};

use super::asked::resource;
use super::events::{self, Event};
use super::purge_url::is_on_at;
use crate::cache::Cache;
use crate::request::Dispatched;
use crate::request::context::RequestContext;
use crate::routing::Route;

/// Forgets the responses of the requested address and of Location and Content-Location, unless the request failed.
pub fn forget(context: &RequestContext, cache: &Cache, route: &Route, answer: &Dispatched) {
    let none = HeaderMap::new();
    let headers = match answer {
        Dispatched::Response(response) if response.status().as_u16() >= 400 => return,
        Dispatched::Response(response) => response.headers(),
        Dispatched::InternalRedirect(_) | Dispatched::Forward(_) | Dispatched::Index(_) => &none,
    };
    let named =
        [LOCATION, CONTENT_LOCATION].into_iter().filter_map(|name| headers.get(name)?.to_str().ok()?.parse().ok());
    let ours = named.filter(|uri: &Uri| is_ours(context, uri));
    let changed = std::iter::once(context.head.uri.clone()).chain(ours);
    if changed.map(|uri| forget_one(context, cache, route, &uri)).sum::<usize>() > 0 {
        events::note(context, Event::Invalidated("cache invalidated by the request's method"));
    }
}

/// Forgets the responses of an address, also those of other servers if there may be some.
fn forget_one(context: &RequestContext, cache: &Cache, route: &Route, uri: &Uri) -> usize {
    let Some(resource) = resource(route, uri) else { return 0 };
    let gone = cache.forget(&resource);
    let config = &context.generation.config;
    // `<If>` and `.htaccess` may enable caching for another method.
    let is_cached = || {
        gone > 0
            || config.uses_branches
            || !route.files.is_empty()
            || route.settings.caching.is_on(uri.path().as_bytes())
            || is_on_at(config, route.host, uri)
    };
    if cache.shared().is_some() && is_cached() { gone + cache.purge(&resource) } else { gone }
}

/// Whether the address is on the requested host. A host must not invalidate the responses of another host.
fn is_ours(context: &RequestContext, uri: &Uri) -> bool {
    let host = context.head.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    uri.authority().is_none_or(|authority| authority.as_str().eq_ignore_ascii_case(host))
}
