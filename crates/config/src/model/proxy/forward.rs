//! The forward proxy: `ProxyRequests`, `ProxyBlock`, `ProxyRemote`, `NoProxy`, `ProxyDomain`, `AllowCONNECT`.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use super::url::BackendUrl;
use crate::model::merge::{append, keep, settings};
use crate::syntax::pattern::Pattern;
use crate::syntax::tree::At;
use crate::syntax::value::network::Network;

settings! {
    /// Settings of the forward proxy. `None` and empty: not set, the outer value applies.
    #[derive(Clone, Default)]
    place struct ForwardProxy {
        /// `ProxyRequests`; default off.
        pub on: Option<bool>, keep;
        /// Position of `ProxyRequests`.
        pub at: Option<At>, keep;
        /// `ProxyBlock`: parts of host names, in lower case; `*` is all hosts.
        pub blocked: Vec<String>, append;
        /// `ProxyRemote` and `ProxyRemoteMatch`, in the order in which they are tried.
        pub remotes: Vec<ProxyRemote>, append;
        /// `NoProxy`
        pub direct: Vec<DirectHost>, append;
        /// `ProxyDomain`, with its first dot.
        pub domain: Option<String>, keep;
        /// `AllowCONNECT`: ports of servers to which clients may connect; default [`CONNECT_PORTS`].
        pub connect: Vec<RangeInclusive<u16>>, append;
    }
}

/// httpd's ports without `AllowCONNECT`: https and snews.
pub const CONNECT_PORTS: [u16; 2] = [443, 563];

/// `ProxyRemote url proxy`, `ProxyRemoteMatch regex proxy`
#[derive(Debug, Clone)]
pub struct ProxyRemote {
    /// The URLs whose requests the other proxy gets.
    pub from: RemoteFrom,
    /// URL of the other proxy, which gets the requests.
    pub to: BackendUrl,
    /// Position of the line.
    pub at: At,
}

/// URLs of a `ProxyRemote`.
#[derive(Debug, Clone)]
pub enum RemoteFrom {
    /// `*`
    All,
    /// URLs that begin so, in lower case.
    Begin(String),
    /// URLs that match the expression.
    Match(Pattern),
}

/// `NoProxy`: servers that no other proxy is asked for.
#[derive(Debug, Clone)]
pub enum DirectHost {
    /// `.example.com`: hosts of the domain, in lower case.
    Domain(String),
    /// `192.168`, `10.0.0.0/8`, an address.
    Network(Network),
    /// A name, in lower case.
    Name(String),
}

/// How the server that a client has named is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarding {
    /// By a connection to it.
    Direct,
    /// By another proxy, which gets the whole URL.
    ByProxy,
}

impl ForwardProxy {
    /// Whether clients may name other servers.
    pub fn is_on(&self) -> bool {
        self.on == Some(true)
    }

    /// Whether `ProxyBlock` names this host with its port, a part of its name, or its address.
    pub fn blocks(&self, authority: &str) -> bool {
        let authority = authority.to_ascii_lowercase();
        let port = authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
        let name = port.map_or(&*authority, |(name, _)| name);
        let (rooted, address) = (format!("{name}."), address(name));
        let is_meant = |word: &str| {
            word == "*"
                || authority.contains(word)
                || rooted.contains(word)
                || address.is_some() && self::address(word) == address
        };
        self.blocked.iter().any(|word| is_meant(word))
    }

    /// Whether a client may connect to this port of a server.
    pub fn may_connect(&self, port: u16) -> bool {
        let is_usual = self.connect.is_empty() && CONNECT_PORTS.contains(&port);
        is_usual || self.connect.iter().any(|ports| ports.contains(&port))
    }

    /// The addresses that `ProxyBlock` names.
    pub fn blocked_addresses(&self) -> Vec<IpAddr> {
        self.blocked.iter().filter_map(|word| address(word)).collect()
    }

    /// The other proxy that gets requests for this URL.
    pub fn remote(&self, url: &str) -> Option<&BackendUrl> {
        self.remotes.iter().find(|remote| remote.from.has(url)).map(|remote| &remote.to)
    }

    /// Whether `NoProxy` names the host, or its address if it is one.
    pub fn is_direct(&self, host: &str) -> bool {
        let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let is_named = |direct: &DirectHost| match direct {
            DirectHost::Domain(domain) => name.ends_with(domain.as_str()),
            DirectHost::Name(own) => *own == name,
            DirectHost::Network(_) => false,
        };
        self.direct.iter().any(is_named) || address(host).is_some_and(|address| self.is_direct_address(address))
    }

    /// Whether `NoProxy` has networks, for which names are looked up.
    pub fn has_direct_networks(&self) -> bool {
        self.direct.iter().any(|direct| matches!(direct, DirectHost::Network(_)))
    }

    /// Whether networks of `NoProxy` contain all addresses of a name. False without an address.
    pub fn are_direct(&self, addresses: &[SocketAddr]) -> bool {
        !addresses.is_empty() && addresses.iter().all(|address| self.is_direct_address(address.ip()))
    }

    /// Whether a network of `NoProxy` contains the address.
    fn is_direct_address(&self, address: IpAddr) -> bool {
        let networks = self.direct.iter().filter_map(|direct| match direct {
            DirectHost::Network(network) => Some(network),
            DirectHost::Domain(_) | DirectHost::Name(_) => None,
        });
        networks.into_iter().any(|network| network.contains(address))
    }

    /// The host with the domain of `ProxyDomain`, for one without a domain. `None`: it stays.
    pub fn with_domain(&self, authority: &str) -> Option<String> {
        let domain = self.domain.as_deref()?;
        let (name, port) = authority.split_once(':').unwrap_or((authority, ""));
        if name.contains(['.', '[']) || name == "localhost" {
            return None;
        }
        let colon = if port.is_empty() { "" } else { ":" };
        Some(format!("{name}{domain}{colon}{port}"))
    }
}

impl RemoteFrom {
    fn has(&self, url: &str) -> bool {
        match self {
            RemoteFrom::All => true,
            RemoteFrom::Begin(from) => url.get(..from.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(from)),
            RemoteFrom::Match(pattern) => pattern.is_match(url),
        }
    }
}

impl DirectHost {
    /// Parses a word of `NoProxy`.
    pub fn parse(text: &str) -> Result<DirectHost, String> {
        if let Some(network) = Network::parse(text) {
            return network.map(DirectHost::Network);
        }
        let name = text.trim_end_matches('.').to_ascii_lowercase();
        let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        match name.bytes().all(is_usual) && name.bytes().any(|byte| byte != b'.') {
            true if name.starts_with('.') => Ok(DirectHost::Domain(name)),
            true => Ok(DirectHost::Name(name)),
            false => Err(format!(
                "expected a domain that begins with a dot, a host, an address or a network, got \"{text}\""
            )),
        }
    }
}

/// An address in brackets or without; an IPv4 address in the form of IPv6 as IPv4.
fn address(text: &str) -> Option<IpAddr> {
    text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ports_of_connect_are_those_of_the_lines_or_the_usual_ones() {
        let may = |rules: &ForwardProxy| [443, 563, 8443, 8444].map(|port| rules.may_connect(port));
        assert_eq!(may(&ForwardProxy::default()), [true, true, false, false]);
        let rules = ForwardProxy { connect: vec![443..=443, 8000..=8443], ..ForwardProxy::default() };
        assert_eq!(may(&rules), [true, false, true, false]);
    }

    #[test]
    fn a_part_of_a_name_blocks_it_and_the_first_remote_that_fits_is_used() {
        let remote = |from: RemoteFrom, to: &str| ProxyRemote {
            from,
            to: BackendUrl::parse(to).expect("a URL"),
            at: At::default(),
        };
        let rules = ForwardProxy {
            blocked: vec!["rocky".to_owned(), "::ffff:127.0.0.5".to_owned(), ".example.org.".to_owned()],
            remotes: vec![
                remote(RemoteFrom::Begin("http://a.example/".to_owned()), "http://one:81"),
                remote(RemoteFrom::All, "http://two:82"),
            ],
            ..ForwardProxy::default()
        };
        assert!(rules.blocks("www.ROCKY.example") && !rules.blocks("www.example") && !rules.is_on());
        assert!(rules.blocks("127.0.0.5:81") && !rules.blocks("127.0.0.55") && rules.blocks("a.example.org:81"));
        let to = |url: &str| rules.remote(url).map(|to| to.authority.clone());
        assert_eq!(to("http://A.example/x").as_deref(), Some("one:81"));
        assert_eq!(to("http://a.example.org/").as_deref(), Some("two:82"));
        assert!(ForwardProxy::default().remote("http://a/").is_none());
    }

    #[test]
    fn no_proxy_names_domains_hosts_and_networks_and_a_domain_completes_bare_names() {
        let direct = ["192.168.", "10.0.0.0/8", ".Intra.example", "Printer.", "::1"].map(DirectHost::parse);
        let direct: Vec<DirectHost> = direct.into_iter().collect::<Result<_, _>>().expect("hosts");
        let rules = ForwardProxy { direct, domain: Some(".corp.example".to_owned()), ..ForwardProxy::default() };
        for host in ["192.168.0.1", "10.9.8.7", "www.INTRA.example.", "printer", "[::1]"] {
            assert!(rules.is_direct(host), "{host}");
        }
        for host in ["192.16.0.1", "intra.example", "printer.example", "aprinter"] {
            assert!(!rules.is_direct(host), "{host}");
        }
        let [inside, other, outside] =
            ["10.0.0.1:80", "[::1]:80", "192.0.2.1:80"].map(|a| a.parse().expect("an address"));
        assert!(rules.are_direct(&[inside, other]) && !rules.are_direct(&[inside, outside]) && !rules.are_direct(&[]));
        assert!(DirectHost::parse("a/b").is_err() && DirectHost::parse("..").is_err());
        let whole = |authority: &str| rules.with_domain(authority);
        assert_eq!(whole("www:81").as_deref(), Some("www.corp.example:81"));
        assert_eq!(whole("www").as_deref(), Some("www.corp.example"));
        assert_eq!(
            [whole("localhost:81"), whole("a.example"), whole("[::1]:81"), whole("127.0.0.1")],
            [const { None }; 4]
        );
    }
}
