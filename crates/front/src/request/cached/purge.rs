//! `PURGE`: removes an address from the cache, for clients listed in `CachePurgeFrom`.

use http::header::{CONTENT_TYPE, FORWARDED, HeaderName, HeaderValue, VIA};
use http::request::Parts;
use http::{Response, StatusCode};

use super::asked::resource;
use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use crate::request::respond::body::BodySource;
use crate::routing::Route;

/// Whether the request is a purge of the cache, and not a request for the resource. A backend whose responses are not
/// stored here may have a cache of its own.
pub fn is_one(head: &Parts, route: &Route) -> bool {
    let caching = &route.settings.caching;
    let is_here = route.backend.is_none() || caching.is_on(&route.path);
    head.method.as_str() == "PURGE" && caching.purge_from.is_some() && is_here
}

/// Removes all cached responses of the request's address.
pub fn answer(context: &RequestContext, head: &Parts, route: &Route) -> Result<Response<BodySource>, Refusal> {
    if !may(context, head, route) {
        context.log_error(route, &"PURGE denied by CachePurgeFrom");
        return Err(Refusal::new(StatusCode::FORBIDDEN));
    }
    let cache = context.generation.cache.as_ref();
    let gone = cache.zip(resource(route, &head.uri)).map_or(0, |(cache, resource)| cache.purge(&resource));
    let mut response = Response::new(BodySource::whole(format!("forgotten: {gone}\n").into()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

/// Whether the client may purge. A request forwarded by an unknown proxy is refused: all clients behind it have the
/// proxy's address.
fn may(context: &RequestContext, head: &Parts, route: &Route) -> bool {
    const OF_PROXIES: [HeaderName; 3] = [FORWARDED, VIA, HeaderName::from_static("x-forwarded-for")];
    let is_passed_on = OF_PROXIES.iter().any(|name| head.headers.contains_key(name));
    let is_known = context.changed_headers().is_some() || !is_passed_on;
    let networks = route.settings.caching.purge_from.as_deref().unwrap_or_default();
    let client = context.remote().ip_addr();
    is_known && networks.iter().any(|network| network.contains(client))
}
