//! Managed domains: the answers for certificate authorities, requests before there is a certificate, `MDRequireHttps`.

use std::time::SystemTime;

use http::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, STRICT_TRANSPORT_SECURITY};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::context::RequestContext;
use super::respond::body::BodySource;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::tls::managed::{ManagedDomain, RequireHttps};
use config::without_port;

/// Begin of the paths that authorities request.
const WELL_KNOWN: &str = "/.well-known/acme-challenge/";
/// Paths that `MDRequireHttps` does not redirect, as in httpd: other ACME clients of the site answer there.
const EXEMPT: &str = "/.well-known/";
/// `Retry-After` while there is no certificate, in seconds: authorities need about that.
const SOON: u32 = 30;
/// Half a year, in seconds, as in httpd.
const HALF_A_YEAR: HeaderValue = HeaderValue::from_static("max-age=15768000");
/// As RFC 8555 has it in its example.
const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// The answer for an authority that checks a name. Other requests of such paths are answered as usual, because another
/// ACME client of the site may wait for them.
pub fn challenge(context: &RequestContext, head: &Parts) -> Option<Response<BodySource>> {
    let path = head.uri.path();
    if !path.starts_with(WELL_KNOWN) || !matches!(head.method, Method::GET | Method::HEAD) {
        return None;
    }
    let answer = context.services.shared.challenges().answer(path)?.to_owned();
    let mut response = Response::new(BodySource::whole(answer.into()));
    response.headers_mut().insert(CONTENT_TYPE, OCTETS);
    Some(response)
}

/// Refuses requests over TLS while the host has no certificate, and redirects others by `MDRequireHttps`.
pub fn gate(context: &RequestContext, head: &Parts, route: &Route) -> Result<(), Refusal> {
    let Some((number, domain)) = domain(context, route) else { return Ok(()) };
    if context.client.session().is_some_and(|session| session.is_fallback()) {
        let refusal = Refusal::later(StatusCode::SERVICE_UNAVAILABLE, SOON);
        return Err(refusal.because("The certificate of this site has been requested and is not there yet."));
    }
    let permanent = match domain.settings.require_https {
        Some(RequireHttps::Temporary) => false,
        Some(RequireHttps::Permanent) => true,
        Some(RequireHttps::Off) | None => return Ok(()),
    };
    let Some(end) = context.generation.tls().certificate_end(number) else { return Ok(()) };
    if context.is_secure() || !is_for(domain, head, route) || head.uri.path().starts_with(EXEMPT) {
        return Ok(());
    }
    // A browser remembers a permanent redirect, and would refuse the site while its certificate has expired.
    let permanent = permanent && end > SystemTime::now();
    let keeps_method = !matches!(head.method, Method::GET | Method::HEAD);
    let status = match (permanent, keeps_method) {
        (true, false) => StatusCode::MOVED_PERMANENTLY,
        (true, true) => StatusCode::PERMANENT_REDIRECT,
        (false, false) => StatusCode::FOUND,
        (false, true) => StatusCode::TEMPORARY_REDIRECT,
    };
    let path = context.head.uri.path_and_query().map_or("/", |path| path.as_str());
    match HeaderValue::from_str(&format!("https://{}{path}", route.server_name)) {
        Ok(location) => Err(Refusal::with(status, LOCATION, location)),
        Err(_) => Err(Refusal::new(StatusCode::BAD_REQUEST)),
    }
}

/// `MDRequireHttps permanent`: browsers are to use TLS alone, unless the certificate has expired.
pub fn require_https(context: &RequestContext, headers: &mut HeaderMap) {
    let route = context.route();
    let Some((number, domain)) = route.as_deref().and_then(|route| domain(context, route)) else { return };
    let is_permanent = domain.settings.require_https == Some(RequireHttps::Permanent);
    let is_valid = || context.generation.tls().certificate_end(number).is_some_and(|end| end > SystemTime::now());
    let name: HeaderName = STRICT_TRANSPORT_SECURITY;
    if is_permanent && is_valid() && context.client.session().is_some_and(|session| !session.is_fallback()) {
        headers.entry(name).or_insert(HALF_A_YEAR);
    }
}

/// Whether the names in the request and in the redirect are those of the certificate.
fn is_for(domain: &ManagedDomain, head: &Parts, route: &Route) -> bool {
    let requested = head.headers.get(HOST).and_then(|host| host.to_str().ok()).map(without_port);
    let has = |name: &str| domain.names.iter().any(|known| known.eq_ignore_ascii_case(name.trim_end_matches('.')));
    requested.is_none_or(has) && has(&route.server_name)
}

fn domain<'a>(context: &'a RequestContext, route: &Route) -> Option<(u16, &'a ManagedDomain)> {
    let config = &context.generation.config;
    let number = config.hosts.get(usize::from(route.host))?.managed?;
    Some((number, config.managed.domains.get(usize::from(number))?))
}
