//! The cache's view of a request: its key, and the head that a worker gets in its place.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;

use http::header::{ETAG, HOST, HeaderName, IF_MATCH, IF_UNMODIFIED_SINCE, RANGE};
use http::request::Parts;
use http::{Method, Response, StatusCode, Uri};

use crate::base::target;
use crate::cache::key::{Key, add, add_forwarded, add_header, names_the_resource};
use crate::cache::response::CachedResponse;
use crate::request::context::RequestContext;
use crate::request::context::unique_id::is_unique_id;
use crate::request::respond::body::BodySource;
use crate::routing::Route;
use base::path::normalise;
use config::response::cache::Caching;

/// Whether a cache may answer the request. Requests with `If-Match` or `If-Unmodified-Since` go to the program (RFC
/// 9111, section 4.3.2).
pub fn is_for_caches(head: &Parts) -> bool {
    let is_about_change = head.headers.contains_key(IF_MATCH) || head.headers.contains_key(IF_UNMODIFIED_SINCE);
    (head.method == Method::GET || head.method == Method::HEAD) && !is_about_change
}

/// Whether the request has a Range.
pub fn wants_a_part(head: &Parts) -> bool {
    head.headers.contains_key(RANGE)
}

pub fn key(context: &RequestContext, head: &Parts, route: &Route) -> Option<Key> {
    let (rules, asked) = (&route.settings.caching, &context.head.uri);
    let mut key = Vec::new();
    key.push(u8::from(context.is_secure()));
    key.extend_from_slice(&context.client.local.port.to_le_bytes());
    add(&mut key, route.server_name.as_bytes());
    add_header(&mut key, &HOST, &head.headers);
    // The target as sent: programs see it, while the parsed address may be encoded differently.
    if let Some(sent) = target::as_sent(&context.head) {
        add(&mut key, sent);
    }
    // The original target, and the current one after internal redirects.
    for uri in [asked, &head.uri] {
        add(&mut key, uri.scheme_str().unwrap_or_default().as_bytes());
        add(&mut key, uri.authority().map(|authority| authority.as_str()).unwrap_or_default().as_bytes());
        add(&mut key, without_parameters(uri.path(), rules).as_bytes());
        query(uri, rules).into_iter().for_each(|query| add(&mut key, query.as_bytes()));
        key.push(b';');
    }
    // Conditions of `<If>` may depend on any part of the request, and their settings change what programs answer.
    // Their numbers are those of this server and of its `.htaccess` files as they are now.
    for number in route.branches.iter() {
        key.extend_from_slice(&number.to_le_bytes());
        add(&mut key, context.generation.config.branch_text(&route.files, *number).as_bytes());
    }
    // A rule may choose the backend by any part of the request.
    if let Some(to) = &route.backend {
        add(&mut key, to.url.to_string().as_bytes());
    }
    if route.by_rules {
        add(&mut key, route.filename.as_os_str().as_bytes());
    }
    let mut names: Vec<&HeaderName> = head.headers.keys().filter(|name| names_the_resource(name)).collect();
    names.sort_by(|one, other| one.as_str().cmp(other.as_str()));
    names.into_iter().for_each(|name| add_header(&mut key, name, &head.headers));
    add_forwarded(&mut key, &head.headers);
    // Programs see variables, which SetEnvIf may derive from any header. TLS session variables are left out: they
    // differ for each client, and so is the identity of the request.
    let variables = context.variables();
    let is_session = |name: &str| name.starts_with("SSL_") && name != "SSL_TLS_SNI" || is_unique_id(name);
    for (name, value) in variables.iter().filter(|(name, _)| !is_session(name) && *name != "HTTP2") {
        add(&mut key, name.as_bytes());
        add(&mut key, value.as_bytes());
    }
    Some(Key { resource: resource(route, asked)?, asked: key })
}

/// The resource at this address of the route's host.
pub fn resource(route: &Route, uri: &Uri) -> Option<Box<[u8]>> {
    resource_at(route.host, &route.settings.caching, uri)
}

/// The resource at this address of a host, with the ignored parameters removed by `rules`.
pub fn resource_at(host: u16, rules: &Caching, uri: &Uri) -> Option<Box<[u8]>> {
    let path = if uri.path().is_empty() { "/" } else { uri.path() };
    let path = normalise(without_parameters(path, rules).as_bytes()).ok()?;
    Some(Key::resource(host, &path, query(uri, rules).as_deref()))
}

/// The query without ignored parameters.
pub fn query<'a>(uri: &'a Uri, rules: &Caching) -> Option<Cow<'a, str>> {
    let query = uri.query().filter(|_| !rules.ignores_query)?;
    if rules.ignored_identifiers.is_empty() {
        return Some(query.into());
    }
    let kept: Vec<&str> = query.split('&').filter(|parameter| !is_ignored(parameter, rules)).collect();
    (!kept.is_empty()).then(|| kept.join("&").into())
}

/// The path without ignored parameters behind semicolons.
fn without_parameters<'a>(path: &'a str, rules: &Caching) -> Cow<'a, str> {
    if rules.ignored_identifiers.is_empty() || !path.contains(';') {
        return path.into();
    }
    let segment = |segment: &str| {
        let mut parts = segment.split(';');
        let name = parts.next().unwrap_or_default().to_owned();
        parts.filter(|part| !is_ignored(part, rules)).fold(name, |segment, part| segment + ";" + part)
    };
    path.split('/').map(segment).collect::<Vec<_>>().join("/").into()
}

fn is_ignored(parameter: &str, rules: &Caching) -> bool {
    let name = parameter.split('=').next().unwrap_or_default();
    rules.ignored_identifiers.iter().any(|ignored| ignored == name)
}

/// Whether a 304 is for another version than the stored one, because their entity tags differ (RFC 9111, section
/// 4.3.4).
pub fn is_about_another(response: &Response<BodySource>, stale: Option<&CachedResponse>) -> bool {
    let (Some(stale), StatusCode::NOT_MODIFIED) = (stale, response.status()) else { return false };
    let opaque = |tag: &http::HeaderValue| tag.as_bytes().strip_prefix(b"W/").unwrap_or(tag.as_bytes()).to_vec();
    let (named, known) = (response.headers().get(ETAG).map(opaque), stale.headers.get(ETAG).map(opaque));
    named.is_some() && named != known
}
