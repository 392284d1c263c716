//! The host and the path that a request asks for.

use crate::front::base::address::Address;

/// What a route is found by.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Our end of the connection.
    pub local: &'a Address,
    /// The `Host` header, or the host of an absolute target.
    pub host: &'a str,
    /// The target's path, as sent.
    pub path: &'a str,
}

/// `example.org:80` is `example.org`, `[::1]:80` is `[::1]`.
pub fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty() => name,
        _ => host,
    }
}

/// The port of `example.org:80`.
pub fn port(host: &str) -> Option<u16> {
    host.strip_prefix(without_port(host))?.strip_prefix(':')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_loses_its_port_only() {
        let cases =
            [("a.b:80", "a.b"), ("a.b", "a.b"), ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("", ""), (":80", ":80")];
        for (host, expected) in cases {
            assert_eq!(without_port(host), expected, "{host}");
        }
    }
}
