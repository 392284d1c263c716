//! Virtual hosts, and which of them answers: httpd's choice, first by address, then by name.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use super::protocols::Protocols;
use super::remote_ip::RemoteIp;
use super::strictness::Strictness;
use super::tls::Tls;
use super::{Config, KeepAlive, Listen, LogLevel, ReadTimeouts, rules};

/// A virtual host, or the main server.
#[derive(Debug, Clone)]
pub struct Host {
    /// The addresses of `<VirtualHost …>`; empty for the main server.
    pub addresses: Vec<HostAddress>,
    /// `ServerName`, without port.
    pub server_name: Option<String>,
    /// The port in `ServerName`.
    pub server_port: Option<u16>,
    /// `ServerAlias`, `*` and `?` allowed.
    pub server_aliases: Vec<String>,
    /// `ServerAdmin`
    pub server_admin: Option<String>,
    /// `DocumentRoot`
    pub document_root: PathBuf,
    /// `Alias` and `ScriptAlias`, in the order they are tried.
    pub aliases: Vec<Alias>,
    /// `AccessFileName`; empty: as the main server.
    pub access_file_names: Vec<String>,
    /// `Redirect` outside of containers, in the order they are tried.
    pub redirects: Vec<rules::Redirect>,
    /// `RequestReadTimeout`
    pub read_timeouts: ReadTimeouts,
    /// `KeepAlive`, `KeepAliveTimeout`, `MaxKeepAliveRequests`
    pub keep_alive: KeepAlive,
    /// `StrictHostCheck` and its kin.
    pub strictness: Strictness,
    /// `ErrorLog`: index into [`Config::error_logs`]; `None`: the main server's.
    pub error_log: Option<usize>,
    /// `LogLevel`; `None`: the main server's.
    pub log_level: Option<LogLevel>,
    /// `LogLevel module:level`; `None`: the main server's.
    pub module_levels: Option<Vec<(String, LogLevel)>>,
    /// `CustomLog` and `TransferLog`.
    pub access_logs: Vec<AccessLog>,
    /// `RemoteIP…`
    pub remote_ip: RemoteIp,
    /// Its section of settings that stand outside any container; the first of every merge after the main server's.
    pub base: u16,
    /// Containers that can apply to it, in merge order: Directory, Files, Location; the main server's first in each.
    pub containers: Vec<u16>,
    /// `SSLEngine` and its kin.
    pub tls: Tls,
    /// `Protocols`
    pub protocols: Protocols,
}

impl Host {
    /// Whether its errors are logged otherwise than the main server's.
    pub fn logs_errors_itself(&self) -> bool {
        self.error_log.is_some() || self.log_level.is_some() || self.module_levels.is_some()
    }
}

/// An address in `<VirtualHost>`; `None` is `*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAddress {
    /// The address that the client connected to.
    pub ip: Option<std::net::IpAddr>,
    /// The port that the client connected to.
    pub port: Option<u16>,
}

/// `Alias /from /to`
#[derive(Debug, Clone)]
pub struct Alias {
    /// Which paths.
    pub from: AliasFrom,
    /// What replaces it.
    pub to: PathBuf,
    /// `ScriptAlias`: what lies there is a CGI script whatever else says.
    pub script: bool,
}

/// What an alias is for.
#[derive(Debug, Clone)]
pub enum AliasFrom {
    /// A prefix of the path that ends at a segment, or `/`.
    Prefix(String),
    /// `AliasMatch`: the file's path is made from what the expression found.
    Match(super::pattern::Pattern),
}

/// `CustomLog target format [env=…]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessLog {
    /// Index into [`Config::logs`].
    pub log: usize,
    /// The format string, nicknames resolved.
    pub format: String,
    /// Which requests; `None`: all.
    pub condition: Option<rules::setenv::Condition>,
}

impl Config {
    /// What is worth a line where this host answers: a level, and those of single modules.
    pub fn levels<'a>(&'a self, host: Option<&'a Host>) -> (LogLevel, &'a [(String, LogLevel)]) {
        let host = host.or(self.hosts.first());
        let level = host.and_then(|host| host.log_level).unwrap_or(self.log_level);
        let own = host.and_then(|host| host.module_levels.as_deref());
        (level, own.or_else(|| self.hosts.first()?.module_levels.as_deref()).unwrap_or_default())
    }

    /// The same for one of our modules.
    pub fn level_of(&self, host: Option<&Host>, module: &str) -> LogLevel {
        let (level, modules) = self.levels(host);
        modules.iter().find(|(known, _)| known == module).map_or(level, |(_, level)| *level)
    }
}

impl Config {
    /// The host for a connection that arrived at `local` (`None`: a unix socket) and a `Host` header, which may be empty.
    ///
    /// Of the virtual hosts whose address fits best the one that has the name; without any the first of them; without
    /// a fitting address the main server.
    pub fn host(&self, local: Option<SocketAddr>, host_header: &str) -> u16 {
        let name = bare_name(host_header);
        let mut named = self.hosts_at(local).filter(|host| self.hosts[usize::from(*host)].is_called(name));
        named.next().or_else(|| self.hosts_at(local).next()).unwrap_or_default()
    }

    /// The virtual hosts whose address fits best; without any the main server.
    pub fn hosts_at(&self, local: Option<SocketAddr>) -> impl Iterator<Item = u16> {
        let best = self.virtual_hosts().filter_map(|(_, host)| fit(host, local)).max();
        let fitting = self.virtual_hosts().filter(move |(_, host)| best.is_some() && addresses_fit(host, local, best));
        let main = if best.is_none() { Some(0) } else { None };
        fitting.map(|(index, _)| index).chain(main)
    }

    fn virtual_hosts(&self) -> impl Iterator<Item = (u16, &Host)> {
        (0..).zip(&self.hosts).skip(1)
    }
}

/// How well an address fits: an exact IP counts more than an exact port.
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
            // A unix socket has neither address nor port: what names an address is not meant.
            return self.ip.is_none().then_some((false, false));
        };
        let ip_fits = self.ip.is_none_or(|ip| ip == plain(local.ip()));
        let port_fits = self.port.is_none_or(|port| port == local.port());
        (ip_fits && port_fits).then_some((self.ip.is_some(), self.port.is_some()))
    }
}

/// A listener on `[::]` sees IPv4 clients as `::ffff:10.0.0.1`.
fn plain(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}

/// Without port and final dot.
fn bare_name(host_header: &str) -> &str {
    let name = match host_header.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host_header,
    };
    name.strip_suffix('.').unwrap_or(name)
}

impl Host {
    /// Whether connections that come in by `listen` can be its.
    pub(super) fn may_be_at(&self, listen: &Listen) -> bool {
        let Listen::Tcp(listen) = listen else { return self.addresses.iter().any(|address| address.ip.is_none()) };
        self.addresses.iter().any(|address| {
            let port = address.port.is_none_or(|port| port == listen.port());
            port && (listen.ip().is_unspecified() || address.ip.is_none_or(|ip| ip == plain(listen.ip())))
        })
    }

    /// Whether `ServerName` or `ServerAlias` has this name, without port.
    pub fn has_name(&self, host_header: &str) -> bool {
        self.is_called(bare_name(host_header))
    }

    fn is_called(&self, name: &str) -> bool {
        let named = self.server_name.as_deref().is_some_and(|known| known.eq_ignore_ascii_case(name));
        named || self.server_aliases.iter().any(|alias| alias_matches(alias.as_bytes(), name.as_bytes()))
    }
}

/// `*` and `?`; without recursion over the whole name, so that a client's Host header cannot make it slow.
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
        assert_eq!(bare_name("www.example.com.:80"), "www.example.com");
        assert_eq!(bare_name("[::1]"), "[::1]");
        assert_eq!(bare_name(""), "");
    }
}
