//! Facts for the environment of PSGI applications in event workers, in the encoding of a URL's path: `Cameleer-Path`,
//! `Cameleer-Variables` and others. `event` adds those for all kinds of applications.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use percent_encoding::percent_encode;

use crate::base::target;
use crate::request::context::{RequestContext, variables};
use crate::routing::{Route, server_name};
use base::path::PATH;

/// Adds what blocking workers read in a request's frame.
pub fn add(context: &RequestContext, head: &Parts, route: &Route, headers: &mut HeaderMap) {
    let mut add = |name: &'static str, value: &[u8]| {
        let encoded = percent_encode(value, PATH).to_string();
        if let Ok(value) = HeaderValue::try_from(encoded) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    // The path without `..` and doubled slashes, as it was when this route was found.
    add("cameleer-path", &route.path);
    // The target as the client sent it, regardless of internal redirects.
    let uri = &context.head.uri;
    let absolute = uri.authority().map(|_| uri.to_string());
    let written = absolute.as_deref().or_else(|| uri.path_and_query().map(|target| target.as_str()));
    add("cameleer-target", target::as_sent(&context.head).or(written.map(str::as_bytes)).unwrap_or(b"/"));
    let port = server_name::port_of(&context.generation.config, head, route, context.is_secure_by_proxy());
    add("cameleer-server-name", route.server_name.as_bytes());
    add("cameleer-server-port", port.to_string().as_bytes());
    let visitor = context.visitor();
    if let Some(name) = visitor.name() {
        add("cameleer-client-name", name.as_bytes());
    }
    if visitor.user().is_some() {
        add("cameleer-auth-type", visitor.auth_type().as_bytes());
    }
    let variables = variables::encode(context);
    if !variables.is_empty() {
        add("cameleer-variables", &variables);
    }
}
