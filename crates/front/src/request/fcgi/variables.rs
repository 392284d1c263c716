//! The variables of a request for an application: those of CGI/1.1 (RFC 3875, section 4.1) and httpd's.

use http::StatusCode;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HeaderName, PROXY_AUTHORIZATION};
use http::request::Parts;

use super::script::Script;
use crate::base::protocol::protocol;
use crate::base::refusal::Refusal;
use crate::base::target;
use crate::request::context::{RequestContext, variables};
use crate::request::rewrite::document_root;
use crate::routing::{Route, bytes, server_name};
use config::response::variables::Variables;

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// Maximum number of bytes of all variables: fields and path are limited, and rules may multiply them.
const MAX_BYTES: usize = 1 << 20;

/// All variables; later ones of a name replace earlier ones. `length` is that of the body.
pub fn of(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    script: &Script,
    length: u64,
) -> Result<Pairs, Refusal> {
    let mut pairs: Pairs = Vec::with_capacity(64);
    pairs.extend(context.variables().iter().map(|(name, value)| (name.into(), value.into())));
    of_fields(context, head, route, &mut pairs);
    of_passed(head, route, &mut pairs);
    of_server(context, head, route, &mut pairs);
    of_client(context, &mut pairs);
    of_request(context, head, &mut pairs);
    of_script(head, script, bytes(document_root(context, route)), &mut pairs);
    if let Some(kind) = head.headers.get(CONTENT_TYPE) {
        pairs.push((b"CONTENT_TYPE".to_vec(), kind.as_bytes().to_vec()));
    }
    if length > 0 || head.headers.contains_key(CONTENT_LENGTH) {
        pairs.push((b"CONTENT_LENGTH".to_vec(), length.to_string().into_bytes()));
    }
    let pairs = by_rules(context, head, route, last_of_each(pairs))?;
    match pairs.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > MAX_BYTES {
        true => Err(Refusal::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)),
        false => Ok(pairs),
    }
}

fn last_of_each(pairs: Pairs) -> Pairs {
    let known: std::collections::BTreeMap<_, _> = pairs.into_iter().collect();
    known.into_iter().collect()
}

/// Applies `ProxyFCGISetEnvIf`, which sees all variables.
fn by_rules(context: &RequestContext, head: &Parts, route: &Route, pairs: Pairs) -> Result<Pairs, Refusal> {
    let rules = &route.settings.fcgi.set_env_if;
    if rules.is_empty() {
        return Ok(pairs);
    }
    let mut all = Variables::default();
    for (name, value) in &pairs {
        all.set(&String::from_utf8_lossy(name), Some(String::from_utf8_lossy(value).into_owned()));
    }
    let before = all.clone();
    context.apply_rules(|| variables::apply(context, head, route, rules, &mut all));
    context.within_limits(route)?;
    let mut pairs: std::collections::BTreeMap<_, _> = pairs.into_iter().collect();
    for (name, value) in all.changes_since(&before) {
        match value {
            Some(value) => drop(pairs.insert(name.into(), value.into())),
            None => drop(pairs.remove(name.as_bytes())),
        }
    }
    Ok(pairs.into_iter().collect())
}

fn put(pairs: &mut Pairs, name: &str, value: impl AsRef<[u8]>) {
    pairs.push((name.into(), value.as_ref().to_vec()));
}

fn of_server(context: &RequestContext, head: &Parts, route: &Route, pairs: &mut Pairs) {
    let config = &context.generation.config;
    let port = server_name::port_of(config, head, route, context.is_secure_by_proxy());
    let admin = config.hosts.get(usize::from(route.host)).and_then(|host| host.server_admin.as_deref());
    let root = bytes(document_root(context, route));
    put(pairs, "SERVER_SOFTWARE", &*context.generation.software);
    put(pairs, "SERVER_NAME", &*route.server_name);
    put(pairs, "SERVER_ADDR", &*context.client.local.ip);
    put(pairs, "SERVER_PORT", port.to_string());
    put(pairs, "SERVER_ADMIN", admin.unwrap_or("[no address given]"));
    put(pairs, "SERVER_SIGNATURE", "");
    put(pairs, "DOCUMENT_ROOT", root);
    put(pairs, "CONTEXT_PREFIX", "");
    put(pairs, "CONTEXT_DOCUMENT_ROOT", root);
    put(pairs, "GATEWAY_INTERFACE", "CGI/1.1");
    put(pairs, "FCGI_ROLE", "RESPONDER");
}

fn of_client(context: &RequestContext, pairs: &mut Pairs) {
    let visitor = context.visitor();
    put(pairs, "REMOTE_ADDR", &*context.remote().ip);
    put(pairs, "REMOTE_PORT", context.remote().port.to_string());
    if let Some(name) = visitor.name() {
        put(pairs, "REMOTE_HOST", name.as_bytes());
    }
    if let Some(user) = visitor.user() {
        put(pairs, "REMOTE_USER", user.name.as_bytes());
        put(pairs, "AUTH_TYPE", visitor.auth_type());
    }
}

fn of_request(context: &RequestContext, head: &Parts, pairs: &mut Pairs) {
    // The target as the client sent it, regardless of internal redirects.
    let uri = &context.head.uri;
    let written = uri.path_and_query().map(|target| target.as_str().as_bytes());
    put(pairs, "REQUEST_METHOD", head.method.as_str());
    put(pairs, "REQUEST_URI", target::as_sent(&context.head).or(written).unwrap_or(b"/"));
    put(pairs, "REQUEST_SCHEME", if context.is_secure() { "https" } else { "http" });
    put(pairs, "SERVER_PROTOCOL", protocol(head.version));
    if context.is_secure() {
        put(pairs, "HTTPS", "on");
    }
}

fn of_script(head: &Parts, script: &Script, document_root: &[u8], pairs: &mut Pairs) {
    let query = script.query.as_deref().or_else(|| target::query(head)).unwrap_or_default();
    put(pairs, "QUERY_STRING", query);
    put(pairs, "SCRIPT_NAME", &script.name);
    put(pairs, "SCRIPT_FILENAME", &script.filename);
    if !script.path_info.is_empty() {
        let root = document_root.strip_suffix(b"/").unwrap_or(document_root);
        put(pairs, "PATH_INFO", &script.path_info);
        put(pairs, "PATH_TRANSLATED", [root, &script.path_info].concat());
    }
}

/// The fields of `-pass-header`: as in mod_fastcgi, variables with the name in the configuration, and as `HTTP_…`.
fn of_passed(head: &Parts, route: &Route, pairs: &mut Pairs) {
    for name in &route.settings.fcgi.pass_headers {
        let Some(value) = head.headers.get(name) else { continue };
        put(pairs, name, value);
        put(pairs, &format!("HTTP_{}", name.to_ascii_uppercase().replace('-', "_")), value);
    }
}

/// The fields of the client as `HTTP_…`. `Proxy` would become `HTTP_PROXY`, which HTTP clients obey (httpoxy), and
/// httpd hides credentials. A name with `_` could pose as another field.
fn of_fields(context: &RequestContext, head: &Parts, route: &Route, pairs: &mut Pairs) {
    let hides_password = !route.settings.program.pass_auth;
    let is_passed = |name: &&HeaderName| {
        let is_variable = name.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_variable
            && ![PROXY_AUTHORIZATION, CONTENT_TYPE, CONTENT_LENGTH].contains(name)
            && (*name != AUTHORIZATION || !hides_password)
            && name.as_str() != "proxy"
    };
    for name in head.headers.keys().filter(is_passed) {
        let values: Vec<&[u8]> = head.headers.get_all(name).iter().map(|value| value.as_bytes()).collect();
        let key = format!("HTTP_{}", name.as_str().to_ascii_uppercase().replace('-', "_"));
        put(pairs, &key, values.join(if *name == COOKIE { &b"; "[..] } else { b", " }));
    }
    if let Some(trace) = &context.trace {
        put(pairs, "HTTP_TRACEPARENT", trace.header());
    }
}
