//! Invalidation by unsafe methods (RFC 9111, section 4.4).

use http::header::{CONTENT_LOCATION, HOST, LOCATION};
use http::{HeaderMap, Uri};

use super::asked::resource;
use super::events::{self, Event};
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
    let gone = std::iter::once(context.head.uri.clone()).chain(ours).filter_map(|uri| resource(route, &uri));
    if gone.map(|resource| cache.purge(&resource)).sum::<usize>() > 0 {
        events::note(context, Event::Invalidated("cache invalidated by the request's method"));
    }
}

/// Whether the address is on the requested host. A host must not invalidate the responses of another host.
fn is_ours(context: &RequestContext, uri: &Uri) -> bool {
    let host = context.head.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    uri.authority().is_none_or(|authority| authority.as_str().eq_ignore_ascii_case(host))
}
