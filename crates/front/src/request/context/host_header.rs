//! Validates the host of a request: exactly one valid name. Programs put it into pages, links and headers, as
//! `HTTP_HOST` and `SERVER_NAME`.

use std::net::Ipv6Addr;

use http::header::{HOST, HeaderValue};
use http::request::Parts;
use http::{StatusCode, Version};

use crate::base::refusal::Refusal;

/// Checks `Host`. The host of an absolute target replaces it (RFC 9112, section 3.2.2).
pub fn settle(head: &mut Parts) -> Result<(), Refusal> {
    let bad = Refusal::closing(StatusCode::BAD_REQUEST);
    let mut hosts = head.headers.get_all(HOST).iter();
    let (host, further) = (hosts.next(), hosts.next());
    let is_missing = host.is_none() && head.version >= Version::HTTP_11;
    if is_missing || further.is_some() || !host.is_none_or(|host| is_host(host.as_bytes())) {
        return Err(bad);
    }
    let Some(named) = head.uri.authority().filter(|_| head.uri.scheme().is_some()) else { return Ok(()) };
    match HeaderValue::from_str(named.as_str()) {
        Ok(named) if is_host(named.as_bytes()) => drop(head.headers.insert(HOST, named)),
        _ => return Err(bad),
    }
    Ok(())
}

/// Whether the text is a host with optional port: `www.example.com`, `192.0.2.1:80`, `[2001:db8::1]:80`.
fn is_host(host: &[u8]) -> bool {
    let up_to = |text: &[u8], end: u8| text.iter().position(|byte| *byte == end);
    let (is_named, rest) = match host.strip_prefix(b"[") {
        Some(bracketed) => match up_to(bracketed, b']').map(|end| bracketed.split_at(end)) {
            Some((address, [b']', rest @ ..])) => (is_ipv6(address), rest),
            _ => return false,
        },
        None => {
            let (name, rest) = host.split_at(up_to(host, b':').unwrap_or(host.len()));
            (is_name(name), rest)
        }
    };
    is_named && (rest.is_empty() || rest.strip_prefix(b":").is_some_and(is_port))
}

/// Internationalized names arrive as Punycode. The underscore is not standard, but common.
fn is_name(name: &[u8]) -> bool {
    let mut before = b'.';
    let is_fit = |byte: &u8| match (std::mem::replace(&mut before, *byte), byte) {
        (b'.', b'.') => false,
        (_, byte) => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'),
    };
    !name.is_empty() && name.iter().all(is_fit)
}

fn is_ipv6(address: &[u8]) -> bool {
    std::str::from_utf8(address).is_ok_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

/// An empty port means the default one (RFC 3986, section 3.2.3).
fn is_port(port: &[u8]) -> bool {
    let with_digit = |number: u16, byte: &u8| match byte {
        b'0'..=b'9' => number.checked_mul(10)?.checked_add(u16::from(byte - b'0')),
        _ => None,
    };
    port.iter().try_fold(0, with_digit).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_and_perhaps_a_port() {
        for host in ["a", "a.b.", "A_b-c.d:80", "192.0.2.1", "[::1]", "[2001:db8::1]:8080", "a:"] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        let wrong =
            ["", ":80", "a b", "a:b", "a:80:80", "a:65536", "a:+80", "[::1", "::1", "[a]", "[::1]80", ".a", "a..b"];
        for host in wrong.into_iter().chain(["a/b", "a@b", "a\\b", "a%41", "a,b", "é", "<b>", "a\"", "[::1]]"]) {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
    }
}
