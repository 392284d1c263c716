//! The forward proxy: `ProxyRequests`, `ProxyBlock`, `ProxyRemote`, `AllowCONNECT`.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use super::url::BackendUrl;
use crate::model::merge::{append, keep, settings};
use crate::syntax::tree::At;

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
        /// `ProxyRemote`, in the order in which they are tried.
        pub remotes: Vec<ProxyRemote>, append;
        /// `AllowCONNECT`: ports of servers to which clients may connect; default [`CONNECT_PORTS`].
        pub connect: Vec<RangeInclusive<u16>>, append;
    }
}

/// httpd's ports without `AllowCONNECT`: https and snews.
pub const CONNECT_PORTS: [u16; 2] = [443, 563];

/// `ProxyRemote match proxy`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyRemote {
    /// `*`, or the begin of URLs in lower case.
    pub from: String,
    /// URL of the other proxy, which gets the requests.
    pub to: BackendUrl,
    /// Position of the line.
    pub at: At,
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
        let begins = |from: &str| url.get(..from.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(from));
        self.remotes.iter().find(|remote| remote.from == "*" || begins(&remote.from)).map(|remote| &remote.to)
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
        let remote = |from: &str, to: &str| ProxyRemote {
            from: from.to_owned(),
            to: BackendUrl::parse(to).expect("a URL"),
            at: At::default(),
        };
        let rules = ForwardProxy {
            blocked: vec!["rocky".to_owned(), "::ffff:127.0.0.5".to_owned(), ".example.org.".to_owned()],
            remotes: vec![remote("http://a.example/", "http://one:81"), remote("*", "http://two:82")],
            ..ForwardProxy::default()
        };
        assert!(rules.blocks("www.ROCKY.example") && !rules.blocks("www.example") && !rules.is_on());
        assert!(rules.blocks("127.0.0.5:81") && !rules.blocks("127.0.0.55") && rules.blocks("a.example.org:81"));
        let to = |url: &str| rules.remote(url).map(|to| to.authority.clone());
        assert_eq!(to("http://A.example/x").as_deref(), Some("one:81"));
        assert_eq!(to("http://a.example.org/").as_deref(), Some("two:82"));
        assert!(ForwardProxy::default().remote("http://a/").is_none());
    }
}
