//! `Order`, `Allow` and `Deny`.

use super::methods::Limited;
use crate::syntax::value::network::Network;

/// `Order`, `Allow` and `Deny` of one section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostRules {
    /// The last entry whose methods match applies.
    pub orders: Vec<Limited<Order>>,
    /// `Allow from`
    pub allow: Vec<Limited<AccessOrigin>>,
    /// `Deny from`
    pub deny: Vec<Limited<AccessOrigin>>,
}

/// How `Allow` and `Deny` combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Clients have access unless they are denied and not allowed.
    #[default]
    DenyAllow,
    /// Clients have no access unless they are allowed and not denied. `Mutual-failure` means the same.
    AllowDeny,
}

/// A word after `from`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessOrigin {
    /// `all`
    All,
    /// `10.1`, `10.1.0.0/255.255.0.0`, `10.1.0.0/16`, `2001:db8::/32`
    Network(Network),
    /// `www.example.com`, `.example.com`, `example.com` (the host and all below it); lower case.
    Name(String),
    /// `env=NAME`: the variable must be set.
    Env(String),
    /// `env=!NAME`: the variable must not be set.
    NoEnv(String),
}

impl HostRules {
    /// Whether the section has none of the three directives.
    pub fn is_empty(&self) -> bool {
        self.orders.is_empty() && self.allow.is_empty() && self.deny.is_empty()
    }
}

impl AccessOrigin {
    /// Parses a word after `from`.
    pub fn parse(text: &str) -> Result<AccessOrigin, String> {
        if text.eq_ignore_ascii_case("all") {
            return Ok(AccessOrigin::All);
        }
        if let Some((key, name)) = text.split_once('=').filter(|(key, _)| key.eq_ignore_ascii_case("env")) {
            return match name.strip_prefix('!').unwrap_or(name) {
                "" => Err(format!("expected a variable's name after {key}=, got \"{text}\"")),
                name if text.contains("=!") => Ok(AccessOrigin::NoEnv(name.to_owned())),
                name => Ok(AccessOrigin::Env(name.to_owned())),
            };
        }
        match Network::parse(text) {
            Some(network) => network.map(AccessOrigin::Network),
            None => host_name(text).map(AccessOrigin::Name),
        }
    }
}

/// Checks a host or domain name, and converts it to lower case.
pub fn host_name(text: &str) -> Result<String, String> {
    let ordinary = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    match !text.is_empty() && text.chars().all(ordinary) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(format!("expected all, an address, a network, a host name or env=NAME, got \"{text}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_after_from_is_a_name_or_a_variable() {
        assert_eq!(AccessOrigin::parse(".Example.com"), Ok(AccessOrigin::Name(".example.com".into())));
        assert_eq!(AccessOrigin::parse("env=!X"), Ok(AccessOrigin::NoEnv("X".into())));
        assert!(AccessOrigin::parse("*.example.com").is_err() && AccessOrigin::parse("env=").is_err());
    }
}
