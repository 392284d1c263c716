//! Values of a request for rewrite rules and expressions, by httpd's names.

use http::request::Parts;

use super::RequestContext;
use crate::base::protocol::protocol;
use crate::base::target;
use crate::routing::{Route, bytes, server_name};
use base::path::Text;
use config::response::rewrite::RuleVariable;
use config::{AliasFrom, Config};

/// The value of `%{API_VERSION}` in expressions: the major magic number of httpd 2.4's modules.
pub const API_VERSION: &str = "20120211";
/// The value of `%{API_VERSION}` in rewrite rules, which has also the minor number, here that of httpd 2.4.71.
pub const API_VERSION_OF_RULES: &str = "20120211:142";

pub fn known(context: &RequestContext, head: &Parts, route: &Route, known: RuleVariable) -> String {
    let host = context.generation.config.hosts.get(usize::from(route.host));
    match known {
        RuleVariable::ApiVersion => API_VERSION_OF_RULES.to_owned(),
        RuleVariable::ConnRemoteAddr => context.client.remote.ip.clone(),
        RuleVariable::ContextDocumentRoot => context_document_root(&context.generation.config, route),
        RuleVariable::ContextPrefix => context_prefix(&context.generation.config, route),
        RuleVariable::DocumentRoot => own_root(&context.generation.config, route),
        RuleVariable::Https => (if context.is_secure() { "on" } else { "off" }).to_owned(),
        RuleVariable::Ipv6 => {
            (if context.remote().ip_addr().to_canonical().is_ipv6() { "on" } else { "off" }).to_owned()
        }
        RuleVariable::IsSubreq => context.is_subrequest().to_string(),
        RuleVariable::RemoteAddr => context.remote().ip.clone(),
        RuleVariable::RemoteHost => match context.visitor().name() {
            Some(name) => name.to_string(),
            None => context.remote().ip.clone(),
        },
        RuleVariable::RemotePort => context.remote().port.to_string(),
        RuleVariable::RemoteUser => context.visitor().user().map(|user| user.name.clone()).unwrap_or_default(),
        RuleVariable::RequestMethod => head.method.as_str().to_owned(),
        RuleVariable::RequestScheme => scheme(context).to_owned(),
        RuleVariable::RequestUri => Text::new(&route.path).0,
        RuleVariable::ServerAddr => context.client.local.ip.clone(),
        RuleVariable::ServerAdmin => host.and_then(|host| host.server_admin.clone()).unwrap_or_default(),
        RuleVariable::ServerName => route.server_name.to_string(),
        RuleVariable::ServerPort => port(context, head, route).to_string(),
        RuleVariable::ServerSoftware => context.generation.software.to_string(),
        RuleVariable::AuthType => context.visitor().auth_type().to_owned(),
        RuleVariable::Time(format) => chrono::Local::now().format(format).to_string(),
        RuleVariable::ServerProtocol => protocol(head.version).to_owned(),
        RuleVariable::TheRequest => {
            let uri = &context.head.uri;
            let written = match uri.path_and_query() {
                // The whole URL or the name of a server, where an HTTP/1 client has sent one.
                _ if uri.authority().is_some() && context.stream.is_none() => uri.to_string(),
                written => written.map_or("/", |target| target.as_str()).to_owned(),
            };
            let target = target::as_sent(&context.head).map_or(written, |sent| Text::new(sent).0);
            format!("{} {target} {}", context.head.method, protocol(context.head.version))
        }
        RuleVariable::QueryString | RuleVariable::RequestFilename | RuleVariable::PathInfo => String::new(),
    }
}

/// The folder of the alias of the route's path; without one, the document root.
pub fn context_document_root(config: &Config, route: &Route) -> String {
    alias(config, route).map_or_else(|| own_root(config, route), |(_, folder)| folder)
}

/// The prefix of the alias of the route's path; empty without one.
pub fn context_prefix(config: &Config, route: &Route) -> String {
    alias(config, route).map(|(prefix, _)| prefix).unwrap_or_default()
}

fn own_root(config: &Config, route: &Route) -> String {
    Text::new(bytes(config.document_root_of(route.host, &route.filename))).0
}

/// Prefix and folder of the alias of the route's path.
fn alias(config: &Config, route: &Route) -> Option<(String, String)> {
    let path = Text::new(&route.path).0;
    let (alias, _) = config.alias_of(route.host, &path)?;
    match &alias.from {
        AliasFrom::Prefix(prefix) => Some((prefix.clone(), Text::new(bytes(&alias.to)).0)),
        AliasFrom::Match(_) => None,
    }
}

/// `http` or `https`.
pub fn scheme(context: &RequestContext) -> &'static str {
    if context.is_secure() { "https" } else { "http" }
}

/// Scheme, name and port of the server, as the client sees it.
pub fn origin(context: &RequestContext, head: &Parts, route: &Route) -> String {
    let (scheme, secure) = (scheme(context), Some(context.is_secure()));
    // The client's port, not the port where a proxy reaches this server.
    let port = server_name::port_of(&context.generation.config, head, route, secure);
    let usual = if scheme == "https" { 443 } else { 80 };
    let name = &route.server_name;
    if port == usual { format!("{scheme}://{name}") } else { format!("{scheme}://{name}:{port}") }
}

fn port(context: &RequestContext, head: &Parts, route: &Route) -> u16 {
    server_name::port_of(&context.generation.config, head, route, context.is_secure_by_proxy())
}
