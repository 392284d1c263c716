//! Addresses of backends: `http://host:port/path`, `unix:/socket|http://host/path`, `balancer://name/path`.

use std::fmt::{self, Display};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

/// Protocol of a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BackendScheme {
    /// `http://`
    Http,
    /// `https://`
    Https,
    /// `h2c://`: HTTP/2 without TLS, with prior knowledge.
    H2c,
    /// `h2://`: HTTP/2 with TLS.
    H2,
    /// `fcgi://`: a FastCGI application.
    Fcgi,
    /// `ws://`: HTTP whose connections may become WebSockets.
    Ws,
    /// `wss://`: as `ws://`, with TLS.
    Wss,
    /// `balancer://`: one of the members of a balancer.
    Balancer,
    /// `host:port` of `CONNECT`: bytes of any protocol. No configuration names such a backend.
    Tunnel,
}

/// Where a backend listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BackendAddress {
    /// A name or an address, and a port.
    Tcp(String, u16),
    /// A socket in the file system.
    Unix(PathBuf),
    /// `balancer://name`
    Balancer(String),
}

/// Address of a backend, with the beginning of the path there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BackendUrl {
    /// The protocol.
    pub scheme: BackendScheme,
    /// Where the backend listens.
    pub address: BackendAddress,
    /// Host, and port unless it is the scheme's own: the `Host` header field for the backend. In one form: lower case,
    /// no dot at the end, no zeros before the port, IPv6 addresses as short as possible.
    pub authority: String,
    /// Path and query; empty, or begins with a slash.
    pub path: String,
}

impl BackendScheme {
    /// The scheme of URLs with this name, in any case.
    pub fn named(name: &str) -> Option<BackendScheme> {
        Some(match name.to_ascii_lowercase().as_str() {
            "http" => BackendScheme::Http,
            "https" => BackendScheme::Https,
            "h2c" => BackendScheme::H2c,
            "h2" => BackendScheme::H2,
            "fcgi" => BackendScheme::Fcgi,
            "ws" => BackendScheme::Ws,
            "wss" => BackendScheme::Wss,
            "balancer" => BackendScheme::Balancer,
            _ => return None,
        })
    }

    /// In lower case, without `://`.
    pub fn name(self) -> &'static str {
        match self {
            BackendScheme::Http => "http",
            BackendScheme::Https => "https",
            BackendScheme::H2c => "h2c",
            BackendScheme::H2 => "h2",
            BackendScheme::Fcgi => "fcgi",
            BackendScheme::Ws => "ws",
            BackendScheme::Wss => "wss",
            BackendScheme::Balancer => "balancer",
            BackendScheme::Tunnel => "connect",
        }
    }

    /// Whether connections use TLS.
    pub fn is_secure(self) -> bool {
        matches!(self, BackendScheme::Https | BackendScheme::Wss | BackendScheme::H2)
    }

    /// Whether the backend gets HTTP/2.
    pub fn is_http2(self) -> bool {
        matches!(self, BackendScheme::H2 | BackendScheme::H2c)
    }

    /// Whether connections may become WebSockets without the parameter `upgrade`.
    pub fn is_websocket(self) -> bool {
        matches!(self, BackendScheme::Ws | BackendScheme::Wss)
    }

    /// The port of URLs that name none; 0 for balancers and tunnels, which have no port of their own.
    pub fn port(self) -> u16 {
        match self {
            BackendScheme::Http | BackendScheme::Ws | BackendScheme::H2c => 80,
            BackendScheme::Https | BackendScheme::Wss | BackendScheme::H2 => 443,
            // httpd's default port.
            BackendScheme::Fcgi => 8000,
            BackendScheme::Balancer | BackendScheme::Tunnel => 0,
        }
    }
}

impl BackendUrl {
    /// Reads an address. The error follows "expected …".
    pub fn parse(text: &str) -> Result<BackendUrl, String> {
        const FORM: &str = "expected http://host[:port]/path, https://…, ws://…, wss://…, h2://…, h2c://…, fcgi://host:port/path, balancer://name/path, unix:/socket|http://host/path or unix:/socket|fcgi://host/path";
        let refused = || format!("{FORM}, got \"{text}\"");
        let (socket, url) = match text.strip_prefix("unix:") {
            Some(rest) => {
                let (socket, url) = rest.split_once('|').ok_or_else(refused)?;
                if !socket.starts_with('/') {
                    return Err(format!("expected the absolute path of a socket behind unix:, got \"{socket}\""));
                }
                (Some(PathBuf::from(socket)), url)
            }
            None => (None, text),
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(refused)?;
        let scheme = BackendScheme::named(scheme).ok_or_else(|| match scheme.to_ascii_lowercase().as_str() {
            other @ ("scgi" | "uwsgi" | "ajp" | "ftp" | "fdpass") => {
                format!("backends of the scheme {other}:// are not supported: {FORM}")
            }
            _ => refused(),
        })?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(end);
        let path = if path.starts_with('?') { format!("/{path}") } else { path.to_owned() };
        let host = &host.to_ascii_lowercase();
        let host = host.rsplit_once('@').map_or(host.as_str(), |(_, host)| host);
        let (written, port) = split_port(host).ok_or_else(refused)?;
        if written.trim_end_matches('.').is_empty() && socket.is_none() {
            return Err(refused());
        }
        let is_usual = port.is_none_or(|port| port == scheme.port());
        let name = &if scheme == BackendScheme::Balancer { written.to_owned() } else { canonical(written) };
        let authority = match port.filter(|_| !is_usual) {
            Some(port) => format!("{name}:{port}"),
            None => name.clone(),
        };
        let address = match socket {
            Some(_) if scheme == BackendScheme::Balancer => return Err(refused()),
            Some(socket) => BackendAddress::Unix(socket),
            None if scheme == BackendScheme::Balancer => BackendAddress::Balancer(name.to_owned()),
            None => {
                // A dot at the end tells the resolver not to add a domain.
                let rooted = written.ends_with('.') && name.parse::<IpAddr>().is_err();
                let bare = if rooted { written } else { name.trim_start_matches('[').trim_end_matches(']') };
                BackendAddress::Tcp(bare.to_owned(), port.unwrap_or(scheme.port()))
            }
        };
        Ok(BackendUrl { scheme, address, authority, path })
    }

    /// The server that `host:port` of `CONNECT` names; its text form is `host:port` in one form. `None` without a port.
    pub fn tunnel(text: &str) -> Option<BackendUrl> {
        let (_, port) = text.rsplit_once(':').filter(|_| !text.contains('@'))?;
        let port = port.parse::<u16>().ok().filter(|port| *port > 0)?;
        let url = BackendUrl::parse(&format!("http://{text}")).ok().filter(|url| url.path.is_empty())?;
        let name = url.authority.strip_suffix(&format!(":{port}")).unwrap_or(&url.authority);
        Some(BackendUrl { scheme: BackendScheme::Tunnel, authority: format!("{name}:{port}"), ..url })
    }

    /// The same backend with another path.
    pub fn at(&self, path: String) -> BackendUrl {
        BackendUrl { path, ..self.clone() }
    }

    /// The URL without its path.
    pub fn origin(&self) -> String {
        let socket = match &self.address {
            BackendAddress::Unix(socket) => format!("unix:{}|", socket.display()),
            BackendAddress::Tcp(..) | BackendAddress::Balancer(_) => String::new(),
        };
        match self.scheme {
            BackendScheme::Tunnel => self.authority.clone(),
            scheme => format!("{socket}{}://{}", scheme.name(), self.authority),
        }
    }
}

/// `host:port`, `[::1]:port`; `None` for a port that is no number.
fn split_port(host: &str) -> Option<(&str, Option<u16>)> {
    match host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
        Some((_, port)) if port.starts_with('+') => None,
        Some((name, port)) => Some((name, Some(port.parse().ok()?))),
        None => Some((host, None)),
    }
}

/// The one form of a host in which texts about it are compared.
fn canonical(name: &str) -> String {
    let inner = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match inner.and_then(|inner| inner.parse::<Ipv6Addr>().ok()) {
        Some(address) => format!("[{address}]"),
        None => name.strip_suffix('.').unwrap_or(name).to_owned(),
    }
}

/// Whether rules about addresses and names know this host, which a client has written: a name, or an address in its
/// usual form. Resolvers read more forms of numbers, such as `127.1` and `0x7f000001`.
pub fn is_usual_host(name: &str) -> bool {
    if let Some(inner) = name.strip_prefix('[') {
        let address = inner.strip_suffix(']').and_then(|inner| inner.parse::<Ipv6Addr>().ok());
        return address.is_some_and(|address| address.to_ipv4_mapped().is_none() && !address.is_unspecified());
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let last = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    if last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit()) {
        return name.parse::<Ipv4Addr>().is_ok_and(|address| !address.is_unspecified());
    }
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

impl Display for BackendUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin(), self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_for_the_backend_and_a_place_to_connect_to() {
        let tcp = |host: &str, port| BackendAddress::Tcp(host.to_owned(), port);
        let cases = [
            ("http://one", tcp("one", 80), "one", ""),
            ("http://ONE?a", tcp("one", 80), "one", "/?a"),
            ("http://one:80/a/", tcp("one", 80), "one", "/a/"),
            ("HTTPS://one:8443/a?b", tcp("one", 8443), "one:8443", "/a?b"),
            ("http://[::1]:5000/", tcp("::1", 5000), "[::1]:5000", "/"),
            ("http://[::1]/", tcp("::1", 80), "[::1]", "/"),
            ("fcgi://one/a", tcp("one", 8000), "one", "/a"),
            ("unix:/run/one.sock|fcgi://localhost", BackendAddress::Unix("/run/one.sock".into()), "localhost", ""),
            ("unix:/run/one.sock|http://one/a", BackendAddress::Unix("/run/one.sock".into()), "one", "/a"),
            ("wss://one/a", tcp("one", 443), "one", "/a"),
            ("h2://one:443/a", tcp("one", 443), "one", "/a"),
            ("h2c://one/a", tcp("one", 80), "one", "/a"),
            ("balancer://Group/a", BackendAddress::Balancer("group".into()), "group", "/a"),
            ("http://One.:0081/a", tcp("one.", 81), "one:81", "/a"),
            ("http://127.0.0.1.:00080/a", tcp("127.0.0.1", 80), "127.0.0.1", "/a"),
            ("http://[0:0::0001]:080/", tcp("::1", 80), "[::1]", "/"),
        ];
        for (text, address, authority, path) in cases {
            let url = BackendUrl::parse(text).expect(text);
            assert_eq!((url.address, &*url.authority, &*url.path), (address, authority, path), "{text}");
        }
    }

    #[test]
    fn a_host_of_a_client_is_a_name_or_an_address_in_its_usual_form() {
        for usual in ["a.example", "A_b-1.example.", "127.0.0.5", "[::1]", "[0:0::1]", "1a", "1.example"] {
            assert!(is_usual_host(usual), "{usual}");
        }
        let unusual = ["127.5", "2130706433", "0x7f000005", "0177.0.0.1", "127.0.0x1", "1.2.3.4.5", "0.0.0.0", "[::]"];
        for unusual in
            unusual.into_iter().chain(["[::ffff:7f00:5]", "[fe80::1%25lo]", "[a]", "a%2eb", "127.0.0.01", ""])
        {
            assert!(!is_usual_host(unusual), "{unusual}");
        }
    }

    #[test]
    fn a_tunnel_has_a_host_and_a_port() {
        for (text, authority) in [
            ("One.Example.:0443", "one.example:443"),
            ("one:80", "one:80"),
            ("[0:0::1]:443", "[::1]:443"),
            ("127.0.0.1:1", "127.0.0.1:1"),
        ] {
            let url = BackendUrl::tunnel(text).expect(text);
            assert_eq!((url.to_string(), url.scheme), (authority.to_owned(), BackendScheme::Tunnel));
        }
        for text in
            ["one", "one:", "one:0", "one:65536", "one:+1", ":443", "a@one:443", "one:443/", "one:443?a", "[::1]"]
        {
            assert!(BackendUrl::tunnel(text).is_none(), "{text}");
        }
    }

    #[test]
    fn texts_that_name_no_backend_are_refused() {
        for text in [
            "",
            "one",
            "/a",
            "http:///a",
            "http://one:x/",
            "http://one:99999/",
            "http://one:+80/",
            "http://./",
            "unix:run|http://one/",
            "unix:/run",
            "ftp://one/",
            "h3://one/",
            "unix:/run/one.sock|balancer://one/",
        ] {
            assert!(BackendUrl::parse(text).is_err(), "{text}");
        }
    }
}
