//! The forward proxy: `ProxyRequests`, `ProxyBlock`, `ProxyRemote`.

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
    }
}

/// `ProxyRemote match proxy`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyRemote {
    /// `*`, or the begin of URLs in lower case.
    pub from: String,
    /// The other proxy.
    pub to: BackendUrl,
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

    /// Whether `ProxyBlock` names this host, or a part of its name.
    pub fn blocks(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.blocked.iter().any(|word| word == "*" || host.contains(word.as_str()))
    }

    /// The other proxy that gets requests for this URL.
    pub fn remote(&self, url: &str) -> Option<&BackendUrl> {
        let begins = |from: &str| url.get(..from.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(from));
        self.remotes.iter().find(|remote| remote.from == "*" || begins(&remote.from)).map(|remote| &remote.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_name_blocks_it_and_the_first_remote_that_fits_is_used() {
        let remote =
            |from: &str, to: &str| ProxyRemote { from: from.to_owned(), to: BackendUrl::parse(to).expect("a URL") };
        let rules = ForwardProxy {
            blocked: vec!["rocky".to_owned()],
            remotes: vec![remote("http://a.example/", "http://one:81"), remote("*", "http://two:82")],
            ..ForwardProxy::default()
        };
        assert!(rules.blocks("www.ROCKY.example") && !rules.blocks("www.example") && !rules.is_on());
        let to = |url: &str| rules.remote(url).map(|to| to.authority.clone());
        assert_eq!(to("http://A.example/x").as_deref(), Some("one:81"));
        assert_eq!(to("http://a.example.org/").as_deref(), Some("two:82"));
        assert!(ForwardProxy::default().remote("http://a/").is_none());
    }
}
