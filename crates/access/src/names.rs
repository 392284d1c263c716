//! Lookup of a client's host name. The calls block on name servers, so the front makes them on separate threads.

use std::net::{IpAddr, ToSocketAddrs};

use config::access::MAX_FORWARD_NAMES;

/// Source of host names.
pub trait Resolver: Send + Sync {
    /// Reverse lookup of an address.
    fn name_of(&self, address: IpAddr) -> Option<String>;
    /// Forward lookup of a name.
    fn addresses_of(&self, name: &str) -> Vec<IpAddr>;
}

/// The system's resolver: /etc/hosts, DNS and other sources in nsswitch.conf.
pub struct System;

impl Resolver for System {
    fn name_of(&self, address: IpAddr) -> Option<String> {
        sys::name_of(address)
    }

    fn addresses_of(&self, name: &str) -> Vec<IpAddr> {
        (name, 0).to_socket_addrs().map(|all| all.map(|one| one.ip()).collect()).unwrap_or_default()
    }
}

/// The host name of `address`. With `verified`, the name must resolve to the address, because the owner of an address
/// can give it any name.
pub fn look_up(resolver: &dyn Resolver, address: IpAddr, verified: bool) -> Option<String> {
    let address = address.to_canonical();
    let name = resolver.name_of(address).filter(|name| is_name(name))?;
    let leads_back = || resolver.addresses_of(&name).iter().any(|one| one.to_canonical() == address);
    (!verified || leads_back()).then_some(name)
}

/// Whether the address is among those of the names, by forward lookups. An error if the names are more than
/// [`MAX_FORWARD_NAMES`], which an expression can make.
pub fn leads_to(resolver: &dyn Resolver, names: &[String], address: IpAddr) -> Result<bool, String> {
    if names.len() > MAX_FORWARD_NAMES {
        return Err(format!(
            "Require forward-dns: {} names, and at most {MAX_FORWARD_NAMES} are looked up",
            names.len()
        ));
    }
    let address = address.to_canonical();
    let mut names = names.iter().filter(|name| is_name(name));
    Ok(names.any(|name| resolver.addresses_of(name).iter().any(|one| one.to_canonical() == address)))
}

/// Whether a name is safe for logs and pages, and no address, which would resolve to itself.
fn is_name(name: &str) -> bool {
    let ordinary = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    !name.is_empty() && name.bytes().all(ordinary) && name.parse::<IpAddr>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Liar;

    impl Resolver for Liar {
        fn name_of(&self, address: IpAddr) -> Option<String> {
            match address.to_string().as_str() {
                "192.0.2.1" => Some("honest.example.com".into()),
                "192.0.2.2" => Some("trusted.example.com".into()),
                "192.0.2.3" => Some("10.0.0.1".into()),
                "192.0.2.4" => Some("<script>".into()),
                _ => None,
            }
        }

        fn addresses_of(&self, name: &str) -> Vec<IpAddr> {
            let address = if name == "honest.example.com" { "192.0.2.1" } else { "10.0.0.1" };
            vec![address.parse().unwrap()]
        }
    }

    #[test]
    fn a_verified_name_resolves_to_its_address() {
        let check = |address: &str, verified, expected: Option<&str>| {
            assert_eq!(look_up(&Liar, address.parse().unwrap(), verified).as_deref(), expected, "{address}");
        };
        check("192.0.2.1", true, Some("honest.example.com"));
        check("::ffff:192.0.2.1", true, Some("honest.example.com"));
        check("192.0.2.2", true, None);
        check("192.0.2.2", false, Some("trusted.example.com"));
        check("192.0.2.3", false, None);
        check("192.0.2.4", false, None);
        check("192.0.2.5", false, None);
    }

    #[test]
    fn a_client_name_counts_only_if_one_of_its_addresses_is_the_clients() {
        let check = |names: &[&str], address: &str| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            leads_to(&Liar, &names, address.parse().unwrap()).unwrap()
        };
        assert!(check(&["other.example.com", "honest.example.com"], "192.0.2.1"));
        assert!(check(&["honest.example.com"], "::ffff:192.0.2.1"));
        assert!(!check(&["honest.example.com"], "192.0.2.2") && !check(&[], "192.0.2.1"));
        assert!(!check(&["10.0.0.1"], "10.0.0.1"), "an address is no name");
        let many = vec!["other.example.com".to_owned(); MAX_FORWARD_NAMES + 1];
        leads_to(&Liar, &many, "192.0.2.1".parse().unwrap()).unwrap_err();
    }
}
