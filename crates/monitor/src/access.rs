//! Access to the monitor: by a secret, and never for pages of other sites.
//!
//! A browser on this machine can reach 127.0.0.1 for any page that it shows. A page of another site cannot read the
//! answers, unless its name is made to resolve to 127.0.0.1 (DNS rebinding): such requests have another `Host`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use subtle::ConstantTimeEq;

use status::monitor::{AddressKind, MonitorAddress};

/// The rules of one address.
#[derive(Debug)]
pub struct Access {
    kind: AddressKind,
    /// The address without its port, as in a `Host` header.
    host: String,
    token: Option<String>,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// The token is missing or wrong.
    Token,
    /// The `Host` header names another server.
    Host,
    /// The request comes from a page of another site.
    Origin,
}

impl Access {
    /// The rules of an address.
    pub fn new(address: &MonitorAddress, token: Option<String>) -> Access {
        let host = without_port(&address.name).to_ascii_lowercase();
        Access { kind: address.kind, host, token }
    }

    /// Whether a request with these headers is allowed.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), Denied> {
        if self.kind == AddressKind::Unix {
            return Ok(());
        }
        if self.kind == AddressKind::Loopback && !self.is_host_valid(headers) {
            return Err(Denied::Host);
        }
        if !comes_from_here(headers) {
            return Err(Denied::Origin);
        }
        match &self.token {
            Some(token) if !knows(headers, token) => Err(Denied::Token),
            // The configuration requires a token for this address.
            None if self.kind == AddressKind::Open => Err(Denied::Token),
            _ => Ok(()),
        }
    }

    fn is_host_valid(&self, headers: &HeaderMap) -> bool {
        let Some(host) = text(headers, HOST.as_str()) else { return false };
        let host = without_port(host).to_ascii_lowercase();
        ["localhost", "127.0.0.1", "[::1]"].contains(&host.as_str()) || host == self.host
    }
}

/// Whether `Origin` names another site. Programs that are no browsers send none.
fn comes_from_here(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let named = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    named.is_some() && named == text(headers, HOST.as_str())
}

/// `Bearer secret`, or `Basic` with the secret as password.
fn knows(headers: &HeaderMap, token: &str) -> bool {
    let Some((scheme, credentials)) = text(headers, AUTHORIZATION.as_str()).and_then(|value| value.split_once(' '))
    else {
        return false;
    };
    let same = |given: &[u8]| bool::from(given.ct_eq(token.as_bytes()));
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => same(credentials.trim().as_bytes()),
        "basic" => {
            let decoded = BASE64_STANDARD.decode(credentials.trim()).unwrap_or_default();
            decoded.iter().position(|byte| *byte == b':').and_then(|at| decoded.get(at + 1..)).is_some_and(same)
        }
        _ => false,
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let only = values.next().filter(|_| values.next().is_none());
    only?.to_str().ok()
}

/// The host without the port: `[::1]` of `[::1]:9180`.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: AddressKind, token: Option<&str>, headers: &[(&'static str, &str)]) -> Result<(), Denied> {
        let address = MonitorAddress { name: "127.0.0.2:9180".into(), kind };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a value"));
        }
        Access::new(&address, token.map(str::to_owned)).check(&map)
    }

    #[test]
    fn requests_by_a_name_of_this_machine_are_allowed() {
        use AddressKind::Loopback;
        for host in ["localhost", "LOCALHOST:9180", "127.0.0.1:1", "[::1]", "[::1]:9180", "127.0.0.2:9180"] {
            assert_eq!(check(Loopback, None, &[("host", host)]), Ok(()), "{host}");
        }
        for host in ["evil.example", "evil.example:9180", "localhost.evil.example", "", "127.0.0.3", "[::2]:9180"] {
            assert_eq!(check(Loopback, None, &[("host", host)]), Err(Denied::Host), "{host}");
        }
        assert_eq!(check(Loopback, None, &[]), Err(Denied::Host));
        assert_eq!(check(Loopback, None, &[("host", "localhost"), ("host", "localhost")]), Err(Denied::Host));
        assert_eq!(check(AddressKind::Unix, None, &[("host", "evil.example")]), Ok(()));
    }

    #[test]
    fn a_page_of_another_site_is_not_answered() {
        let ask = |origin| check(AddressKind::Loopback, None, &[("host", "localhost:9180"), ("origin", origin)]);
        assert_eq!(ask("http://localhost:9180"), Ok(()));
        for origin in ["http://localhost:9181", "https://evil.example", "null", "localhost:9180"] {
            assert_eq!(ask(origin), Err(Denied::Origin), "{origin}");
        }
    }

    #[test]
    fn the_network_must_know_the_secret() {
        let ask = |token, authorization: &str| {
            check(AddressKind::Open, token, &[("host", "a"), ("authorization", authorization)])
        };
        let secret = Some("0123456789abcdef");
        let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
        for authorization in ["Bearer 0123456789abcdef", "bearer 0123456789abcdef", &basic("any:0123456789abcdef")] {
            assert_eq!(ask(secret, authorization), Ok(()), "{authorization}");
        }
        for authorization in
            ["Bearer 0123456789abcde", "Bearer ", "Bearer", "Basic !", &basic("0123456789abcdef"), &basic("a:")]
        {
            assert_eq!(ask(secret, authorization), Err(Denied::Token), "{authorization}");
        }
        assert_eq!(ask(None, "Bearer "), Err(Denied::Token));
    }
}
