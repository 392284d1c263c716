//! Parsers for the addresses in `Listen`, `<VirtualHost>` and `ServerName`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::model::host::HostAddress;
use crate::model::server::Listen;

/// `8080`, `127.0.0.1:8080`, `[::1]:8080`, `*:8080`, `/run/site.sock`
pub fn listen(text: &str) -> Result<Listen, String> {
    let path = text.strip_prefix("unix:").unwrap_or(text);
    if path.starts_with('/') {
        return Ok(Listen::Unix(path.into()));
    }
    let (ip, port) = match text.rsplit_once(':') {
        Some((ip, port)) => (ip, port),
        None => ("*", text),
    };
    match (ip_or_all(ip)?, port.parse()) {
        (ip, Ok(port)) => Ok(Listen::Tcp(SocketAddr::new(ip.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), port))),
        (_, Err(_)) => {
            Err(format!("expected a port from 1 to 65535, address:port or the path of a unix socket, got \"{text}\""))
        }
    }
}

/// `*:80`, `*`, `_default_:80`, `10.0.0.1`, `[::1]:80`, `10.0.0.1:*`
pub fn host(text: &str) -> Result<HostAddress, String> {
    let (ip, port) = match text.rsplit_once(':') {
        Some((ip, port)) if !port.ends_with(']') => (ip, port),
        _ => (text, "*"),
    };
    let port = match port {
        "*" => None,
        port => Some(port.parse().map_err(|_| format!("expected address:port, for instance *:80, got \"{text}\""))?),
    };
    Ok(HostAddress { ip: ip_or_all(ip)?, port })
}

/// `[scheme://]name[:port]`
pub fn server_name(text: &str) -> Result<(String, Option<u16>), String> {
    let name = text.split_once("://").map_or(text, |(_scheme, name)| name);
    let (name, port) = match name.rsplit_once(':') {
        Some((name, port)) if !name.ends_with(':') && !port.ends_with(']') => (name, Some(port)),
        _ => (name, None),
    };
    let port = port.map(|port| {
        port.parse().map_err(|_| format!("expected a port from 1 to 65535 after the colon, got \"{port}\""))
    });
    if name.is_empty() || name.contains(['/', '*', '?']) {
        return Err(format!(
            "expected a host name, optionally with :port, got \"{text}\": patterns belong in ServerAlias"
        ));
    }
    Ok((name.to_ascii_lowercase(), port.transpose()?))
}

fn ip_or_all(text: &str) -> Result<Option<IpAddr>, String> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    match bare {
        "*" | "" | "_default_" => Ok(None),
        "localhost" => Ok(Some(IpAddr::V4(Ipv4Addr::LOCALHOST))),
        bare => bare.parse().map(Some).map_err(|_| {
            format!(
                "expected an IP address or *, got \"{text}\": host names are not looked up here, and belong in ServerName"
            )
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listens(text: &str, expected: &str) {
        assert_eq!(listen(text), Ok(Listen::Tcp(expected.parse().unwrap())), "{text}");
    }

    #[test]
    fn listen_takes_ports_addresses_and_sockets() {
        listens("80", "0.0.0.0:80");
        listens("*:80", "0.0.0.0:80");
        listens(":80", "0.0.0.0:80");
        listens("[::]:80", "[::]:80");
        listens("localhost:0", "127.0.0.1:0");
        assert_eq!(listen("unix:/a"), Ok(Listen::Unix("/a".into())));
        for wrong in ["", "http", "80000", "www.example.com:80", "1.2.3.4", "1.2.3.4:"] {
            assert!(listen(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_virtual_host_may_leave_out_address_or_port() {
        let any = HostAddress { ip: None, port: None };
        assert_eq!(host("*"), Ok(any));
        assert_eq!(host("_default_:*"), Ok(any));
        assert_eq!(host("*:80"), Ok(HostAddress { port: Some(80), ..any }));
        assert_eq!(host("[::1]"), Ok(HostAddress { ip: Some("::1".parse().unwrap()), ..any }));
        assert_eq!(host("[::1]:81"), Ok(HostAddress { ip: Some("::1".parse().unwrap()), port: Some(81) }));
        assert!(host("www.example.com").is_err());
    }

    #[test]
    fn a_server_name_may_have_scheme_and_port() {
        assert_eq!(server_name("https://Www.example.com:443"), Ok(("www.example.com".to_owned(), Some(443))));
        assert_eq!(server_name("[::1]"), Ok(("[::1]".to_owned(), None)));
        assert!(server_name("*.example.com").is_err());
    }
}
