//! Pages about the server: `SetHandler server-status`, `server-info` (httpd manual, mod_status and mod_info) and
//! `server-metrics`, `server-healthz`, `server-readyz`.
//! The access rules of the handler's location are their only protection.

mod health;
mod info;
mod metrics;
mod status;

use http::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::context::RequestContext;
use super::respond::body::BodySource;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::Handler;

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// The response of `handler`, if it is one of the server's pages.
pub fn answer(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    handler: &Handler,
) -> Option<Result<Response<BodySource>, Refusal>> {
    let query = head.uri.query().unwrap_or_default();
    let page = match handler {
        Handler::Status => status::page,
        Handler::Info => info::page,
        Handler::Metrics => metrics::page,
        Handler::Health => health::healthz,
        Handler::Readiness => health::readyz,
        _ => return None,
    };
    Some(match head.method {
        Method::GET | Method::HEAD => Ok(page(context, route, query)),
        Method::OPTIONS => Ok(with(Response::new(BodySource::Empty), ALLOW, METHODS)),
        _ => Err(Refusal::with(StatusCode::METHOD_NOT_ALLOWED, ALLOW, METHODS)),
    })
}

fn response(text: String, kind: HeaderValue) -> Response<BodySource> {
    with(Response::new(BodySource::whole(text.into())), CONTENT_TYPE, kind)
}

fn with(mut response: Response<BodySource>, name: HeaderName, value: HeaderValue) -> Response<BodySource> {
    response.headers_mut().insert(name, value);
    response
}

/// `text` escaped for HTML. Clients choose parts of it, so control characters, which a terminal might obey, are shown
/// as escapes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() => escaped.extend(c.escape_default()),
            c => escaped.push(c),
        }
    }
    escaped
}
