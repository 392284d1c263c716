//! Networks as httpd writes them: `10.1`, `10.1.0.0/16`, `10.1.0.0/255.255.0.0`, `2001:db8::/32`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses with a common prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// For IPv4 only the lower 32 bits are used.
    mask: u128,
}

impl Network {
    /// Whether the network contains `client`.
    pub fn contains(&self, client: IpAddr) -> bool {
        match (self.address, client.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(client)) => (own.to_bits() ^ client.to_bits()) & (self.mask as u32) == 0,
            (IpAddr::V6(own), IpAddr::V6(client)) => (own.to_bits() ^ client.to_bits()) & self.mask == 0,
            _ => false,
        }
    }

    /// Parses an address or a network. `None`: `text` may be a host name.
    pub fn parse(text: &str) -> Option<Result<Network, String>> {
        match text.split_once('/') {
            Some((address, mask)) => {
                let address: Option<IpAddr> = address.parse().ok().or_else(|| partial(address).map(|net| net.address));
                Some(with_mask(address, mask).ok_or_else(|| expected(text)))
            }
            None => match text.parse() {
                Ok(address) => Some(Ok(Network { address, mask: u128::MAX })),
                Err(_) if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => {
                    Some(partial(text).ok_or_else(|| expected(text)))
                }
                Err(_) => None,
            },
        }
    }
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.address {
            IpAddr::V4(address) => write!(f, "{address}/{}", Ipv4Addr::from_bits(self.mask as u32)),
            IpAddr::V6(address) => write!(f, "{address}/{}", Ipv6Addr::from_bits(self.mask)),
        }
    }
}

fn expected(text: &str) -> String {
    format!("expected an address, or a network like 10.1, 10.1.0.0/16 or 10.1.0.0/255.255.0.0, got \"{text}\"")
}

/// The network of all addresses that begin with `text`: `10.1`, `10.1.`.
fn partial(text: &str) -> Option<Network> {
    let parts: Vec<u8> = text.trim_end_matches('.').split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let mut octets = [0; 4];
    octets.get_mut(..parts.len())?.copy_from_slice(&parts);
    Some(Network { address: IpAddr::from(octets), mask: prefix(parts.len() as u32 * 8, 32)? })
}

fn with_mask(address: Option<IpAddr>, mask: &str) -> Option<Network> {
    let address = address?;
    let width = if address.is_ipv4() { 32 } else { 128 };
    let mask = match (mask.parse::<u32>(), mask.parse::<IpAddr>()) {
        (Ok(length), _) => prefix(length, width)?,
        (_, Ok(IpAddr::V4(mask))) if address.is_ipv4() => u128::from(mask.to_bits()),
        _ => return None,
    };
    Some(Network { address, mask })
}

/// Mask of `width` bits whose first `length` are set.
fn prefix(length: u32, width: u32) -> Option<u128> {
    let zeroes = width.checked_sub(length)?;
    Some(u128::MAX.checked_shl(zeroes).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(network: &str, inside: &[&str], outside: &[&str]) {
        let network = Network::parse(network).unwrap().unwrap();
        for (client, expected) in inside.iter().map(|c| (c, true)).chain(outside.iter().map(|c| (c, false))) {
            assert_eq!(network.contains(client.parse().unwrap()), expected, "{network:?} {client}");
        }
    }

    #[test]
    fn a_network_has_several_notations() {
        check("10.1.2.3", &["10.1.2.3", "::ffff:10.1.2.3"], &["10.1.2.4", "::1"]);
        check("10.1", &["10.1.0.0", "10.1.255.255"], &["10.2.0.0", "110.1.0.0"]);
        check("10.1.", &["10.1.9.9"], &["10.10.0.0"]);
        check("10", &["10.255.0.1"], &["11.0.0.0"]);
        check("10.1.0.0/255.255.0.0", &["10.1.7.7"], &["10.0.7.7"]);
        check("10.1/16", &["10.1.7.7"], &["10.0.7.7"]);
        check("192.0.2.128/25", &["192.0.2.200"], &["192.0.2.100"]);
        check("0.0.0.0/0", &["1.2.3.4"], &["::1"]);
        check("::1", &["::1"], &["::2", "127.0.0.1"]);
        check("2001:db8::/32", &["2001:db8:1::5"], &["2001:db9::"]);
    }

    #[test]
    fn malformed_networks_are_refused_and_names_are_none() {
        for wrong in ["10.1.2.3.4", "256.1", "10.0.0.0/33", "10.0.0.0/a", "::1/129", "::1/255.0.0.0", "1..2", "www/8"] {
            assert!(Network::parse(wrong).is_some_and(|network| network.is_err()), "{wrong}");
        }
        assert!(Network::parse("www.example.com").is_none());
    }
}
