//! Managed domains: the answers for certificate authorities, requests before there is a certificate, `MDRequireHttps`.

use std::time::SystemTime;

use http::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, STRICT_TRANSPORT_SECURITY};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::context::RequestContext;
use super::respond::body::BodySource;
use super::rewrite::ExplainedRequest;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::tls::managed::{ManagedDomain, RequireHttps};
use config::{Config, without_port};

/// Begin of the paths that authorities request.
const WELL_KNOWN: &str = "/.well-known/acme-challenge/";
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
    let Some((number, domain)) = domain(&context.generation.config, route) else { return Ok(()) };
    if context.client.session().is_some_and(|session| session.is_fallback()) {
        let refusal = Refusal::later(StatusCode::SERVICE_UNAVAILABLE, SOON);
        return Err(refusal.because("The certificate of this site has been requested and is not there yet."));
    }
    let requested = head.headers.get(HOST).and_then(|host| host.to_str().ok()).map_or("", without_port);
    let redirect = domain.redirect_of(requested, &route.server_name, context.head.uri.path());
    let Some(redirect) = redirect.filter(|_| !context.is_secure()) else { return Ok(()) };
    let Some(end) = context.generation.tls().certificate_end(number) else { return Ok(()) };
    // A browser remembers a permanent redirect, and would refuse the site while its certificate has expired.
    let redirect = if end > SystemTime::now() { redirect } else { RequireHttps::Temporary };
    let status = StatusCode::from_u16(redirect.status(head.method.as_str())).unwrap_or(StatusCode::FOUND);
    let path = context.head.uri.path_and_query().map_or("/", |path| path.as_str());
    match HeaderValue::from_str(&format!("https://{}{path}", route.server_name)) {
        Ok(location) => Err(Refusal::with(status, LOCATION, location)),
        Err(_) => Err(Refusal::new(StatusCode::BAD_REQUEST)),
    }
}

/// `MDRequireHttps permanent`: browsers are to use TLS alone, unless the certificate has expired.
pub fn require_https(context: &RequestContext, headers: &mut HeaderMap) {
    let route = context.route();
    let Some((number, domain)) = route.as_deref().and_then(|route| domain(&context.generation.config, route)) else {
        return;
    };
    let is_permanent = domain.settings.require_https == Some(RequireHttps::Permanent);
    let is_valid = || context.generation.tls().certificate_end(number).is_some_and(|end| end > SystemTime::now());
    let name: HeaderName = STRICT_TRANSPORT_SECURITY;
    if is_permanent && is_valid() && context.client.session().is_some_and(|session| !session.is_fallback()) {
        headers.entry(name).or_insert(HALF_A_YEAR);
    }
}

/// The redirect of a request that is not sent.
pub fn explain_redirect(config: &Config, request: ExplainedRequest<'_>, route: &Route) -> Option<String> {
    let (_, domain) = domain(config, route).filter(|_| !request.is_secure)?;
    let redirect = domain.redirect_of(without_port(request.host), &route.server_name, request.path)?;
    let status = redirect.status(request.method);
    Some(format!("the front: {status} to https, by MDRequireHttps, once there is a certificate"))
}

fn domain<'a>(config: &'a Config, route: &Route) -> Option<(u16, &'a ManagedDomain)> {
    let number = config.hosts.get(usize::from(route.host))?.managed?;
    Some((number, config.managed.domains.get(usize::from(number))?))
}
