//! Names of the server: in its `Server` header, in links to itself, and below its own pages.

use std::rc::Rc;

use http::header::{HOST, HeaderValue};
use http::request::Parts;

use super::key::port;
use super::{Route, RouteKey};
use config::{CanonicalName, Config, Host, Named, Settings, without_port};

/// Replaces a name that a header cannot hold.
const NAME: HeaderValue = HeaderValue::from_static("Cameleer");

/// Value of the `Server` header.
pub fn header(software: &str) -> HeaderValue {
    HeaderValue::from_str(software).unwrap_or(NAME)
}

/// Name and port in links to the server itself, by `UseCanonicalName`.
pub fn of(host: &Host, settings: &Settings, key: &RouteKey<'_>) -> (Rc<str>, u16) {
    let canonical = settings.response.canonical_name.unwrap_or_default();
    let from_client = Some(without_port(key.host).to_ascii_lowercase()).filter(|name| !name.is_empty());
    let name = match canonical {
        CanonicalName::Off => from_client.or_else(|| host.server_name.clone()),
        CanonicalName::On | CanonicalName::Dns => host.server_name.clone().or(from_client),
    };
    let port = configured_port(host, settings, key.host).unwrap_or(key.local.port);
    (name.unwrap_or_else(|| key.local.ip.clone()).into(), port)
}

fn configured_port(host: &Host, settings: &Settings, requested: &str) -> Option<u16> {
    let canonical = settings.response.canonical_name.unwrap_or_default();
    port(requested).filter(|_| canonical != CanonicalName::On).or(host.server_port)
}

/// Port in links to the server itself. `secure` is the client's scheme as reported by a proxy; the local port is then
/// not the client's.
pub fn port_of(config: &Config, head: &Parts, route: &Route, secure: Option<bool>) -> u16 {
    let Some(secure) = secure else { return route.server_port };
    let requested = head.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let host = config.hosts.get(usize::from(route.host));
    let configured = host.and_then(|host| configured_port(host, &route.settings, requested));
    configured.unwrap_or(if secure { 443 } else { 80 })
}

/// Footer of generated pages by `ServerSignature`, as HTML.
pub fn foot(config: &Config, software: &str, route: &Route) -> String {
    let Some(signature) = route.settings.response.signature else { return String::new() };
    let hosts = &config.hosts;
    let admin = hosts.get(usize::from(route.host)).and_then(|host| host.server_admin.as_deref());
    let (name, port) = (&route.server_name, route.server_port);
    signature.html(&Named { software, name, port, admin })
}
