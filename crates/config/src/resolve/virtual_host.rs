//! Selection of the virtual host: as in httpd, first by address, then by name. Protocol of an address.

use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;

use crate::model::config::Config;
use crate::model::host::{Host, HostAddress, plain};
use crate::model::server::Listen;
use base::path::EncodedSlashes;

/// Protocol of connections to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressProtocol {
    /// HTTP without TLS.
    Http,
    /// HTTP with TLS.
    Https,
    /// Any protocol, by a `PerlProcessConnectionHandler`.
    Connections,
}

impl Config {
    /// The host for a connection that arrived at `local` (`None`: a unix socket) and a `Host` header, which may be
    /// empty.
    ///
    /// Among the virtual hosts whose address matches best, the one with this name, or else the first. Without a
    /// matching address the main server.
    pub fn host(&self, local: Option<SocketAddr>, host_header: &str) -> u16 {
        let name = bare_name(host_header);
        let mut named = self.hosts_at(local).filter(|host| self.hosts[usize::from(*host)].is_called(name));
        named.next().or_else(|| self.hosts_at(local).next()).unwrap_or_default()
    }

    /// `AllowEncodedSlashes` of a host. `None`: refused, but decoded where a PSGI application handles the request.
    pub fn encoded_slashes(&self, host: u16) -> Option<EncodedSlashes> {
        self.hosts.get(usize::from(host))?.strictness.encoded_slashes
    }

    /// Virtual hosts whose address matches best, or else the main server.
    pub fn hosts_at(&self, local: Option<SocketAddr>) -> impl Iterator<Item = u16> {
        let best = self.virtual_hosts().filter_map(|(_, host)| fit(host, local)).max();
        let fitting = self.virtual_hosts().filter(move |(_, host)| best.is_some() && addresses_fit(host, local, best));
        let main = if best.is_none() { Some(0) } else { None };
        fitting.map(|(index, _)| index).chain(main)
    }

    /// All hosts that may handle requests with this name: for each address the hosts with the name, or else the first
    /// host. The main server handles any name at other addresses.
    pub fn hosts_that_answer(&self, name: &str) -> Vec<u16> {
        let mut by_address: HashMap<HostAddress, Vec<u16>> = HashMap::new();
        for (index, host) in self.virtual_hosts() {
            host.addresses.iter().for_each(|address| by_address.entry(*address).or_default().push(index));
        }
        let is_called = |host: &u16| self.hosts[usize::from(*host)].has_name(name);
        let answering = by_address.values().flat_map(|hosts| {
            let named: Vec<u16> = hosts.iter().copied().filter(is_called).collect();
            if named.is_empty() { hosts.first().copied().into_iter().collect() } else { named }
        });
        BTreeSet::from_iter(answering.chain([0])).into_iter().collect()
    }

    /// The host at `local` whose connections are passed to workers.
    pub fn host_of_connections(&self, local: Option<SocketAddr>) -> Option<u16> {
        if !self.hands_over_connections {
            return None;
        }
        let host = self.hosts_at(local).next()?;
        self.hosts.get(usize::from(host))?.connections.process.as_ref().map(|_| host)
    }

    /// Decided by the hosts at the address: passed to workers, TLS or plain.
    pub fn protocol_of(&self, address: &Listen) -> AddressProtocol {
        if self.host_of_connections(address.tcp()).is_some() {
            AddressProtocol::Connections
        } else if self.speaks_tls(address.tcp()) {
            AddressProtocol::Https
        } else {
            AddressProtocol::Http
        }
    }

    /// Whether a listener at `local` accepts connections that are passed to workers.
    pub fn may_hand_over(&self, local: SocketAddr) -> bool {
        let mut taking = self.hosts.iter().filter(|host| host.connections.process.is_some());
        let listen = Listen::Tcp(local);
        taking.any(|host| host.addresses.is_empty() || host.may_be_at(&listen))
    }

    fn virtual_hosts(&self) -> impl Iterator<Item = (u16, &Host)> {
        (0..).zip(&self.hosts).skip(1)
    }
}

/// Quality of a match of addresses: an exact IP counts more than an exact port.
type Fit = (bool, bool);

fn fit(host: &Host, local: Option<SocketAddr>) -> Option<Fit> {
    host.addresses.iter().filter_map(|address| address.fit(local)).max()
}

fn addresses_fit(host: &Host, local: Option<SocketAddr>, wanted: Option<Fit>) -> bool {
    host.addresses.iter().any(|address| address.fit(local) == wanted)
}

impl HostAddress {
    fn fit(&self, local: Option<SocketAddr>) -> Option<Fit> {
        let Some(local) = local else {
            // A unix socket has no address, so it matches only `*`.
            return self.ip.is_none().then_some((false, false));
        };
        let ip_fits = self.ip.is_none_or(|ip| ip == plain(local.ip()));
        let port_fits = self.port.is_none_or(|port| port == local.port());
        (ip_fits && port_fits).then_some((self.ip.is_some(), self.port.is_some()))
    }
}

impl Host {
    /// Whether the `Host` header, without port, matches `ServerName` or `ServerAlias`.
    pub fn has_name(&self, host_header: &str) -> bool {
        self.is_called(bare_name(host_header))
    }

    fn is_called(&self, name: &str) -> bool {
        let named = self.server_name.as_deref().is_some_and(|known| known.eq_ignore_ascii_case(name));
        named || self.server_aliases.iter().any(|alias| alias_matches(alias.as_bytes(), name.as_bytes()))
    }
}

/// The name or address in a `Host` header: `example.org:80` is `example.org`, `[::1]:80` is `[::1]`.
pub fn without_port(host_header: &str) -> &str {
    match host_header.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty() => name,
        _ => host_header,
    }
}

fn bare_name(host_header: &str) -> &str {
    let name = without_port(host_header);
    name.strip_suffix('.').unwrap_or(name)
}

/// Matches `*` and `?`. Backtracking is limited to the last `*`, so that no Host header makes it slow.
fn alias_matches(alias: &[u8], name: &[u8]) -> bool {
    let (mut a, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match alias.get(a) {
            Some(b'*') => {
                retry = Some((a + 1, n));
                a += 1;
            }
            Some(c) if *c == b'?' || c.eq_ignore_ascii_case(&name[n]) => (a, n) = (a + 1, n + 1),
            _ => match retry {
                Some((after_star, from)) => {
                    retry = Some((after_star, from + 1));
                    (a, n) = (after_star, from + 1);
                }
                None => return false,
            },
        }
    }
    alias[a..].iter().all(|c| *c == b'*')
}

impl Config {
    /// Whether connections to this address use TLS, by `SSLEngine` of a host there, or by `Listen`.
    pub fn speaks_tls(&self, local: Option<SocketAddr>) -> bool {
        let Some(local) = local else { return false };
        let listens = self.https.iter().any(|(listen, _)| covers(listen, local));
        if !listens && !self.hosts.iter().any(|host| host.tls.used) {
            return false;
        }
        self.hosts_at(Some(local)).any(|host| self.hosts[usize::from(host)].tls.is_on(listens))
    }

    /// The first `Listen` whose connections use TLS.
    pub fn tls_listener(&self) -> Option<SocketAddr> {
        self.listen.iter().filter_map(Listen::tcp).find(|address| self.speaks_tls(Some(*address)))
    }
}

/// Whether `listen` accepts connections to `local`.
fn covers(listen: &Listen, local: SocketAddr) -> bool {
    match listen {
        Listen::Unix(_) => false,
        Listen::Tcp(listen) => {
            listen.port() == local.port() && (listen.ip().is_unspecified() || listen.ip() == local.ip().to_canonical())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(alias: &str, name: &str, expected: bool) {
        assert_eq!(alias_matches(alias.as_bytes(), name.as_bytes()), expected, "{alias} {name}");
    }

    #[test]
    fn aliases_have_wildcards() {
        check("*.example.com", "www.EXAMPLE.com", true);
        check("*.example.com", "example.com", false);
        check("w?w.*", "www.", true);
        check("a*b*c", "aXbYbZc", true);
        check("a*b*c", "aXbYbZ", false);
        check("*", "", true);
        check("", "x", false);
    }

    #[test]
    fn a_host_header_loses_port_and_final_dot() {
        let cases =
            [("a.b:80", "a.b"), ("a.b", "a.b"), ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("", ""), (":80", ":80")];
        for (host, expected) in cases {
            assert_eq!(without_port(host), expected, "{host}");
        }
        assert_eq!(bare_name("www.example.com.:80"), "www.example.com");
        assert_eq!(bare_name("[::1]"), "[::1]");
        assert_eq!(bare_name(""), "");
    }
}
