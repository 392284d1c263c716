//! Clients behind proxies: mod_remoteip's directives. A virtual host inherits missing values from the main server.

use crate::model::merge::{keep, settings, unless_empty};
use std::net::IpAddr;

use crate::syntax::value::network::Network;

settings! {
    /// The directives of one host.
    #[derive(Clone, Default, PartialEq, Eq)]
    host struct RemoteIp {
        /// `RemoteIPHeader`, lower case.
        pub header: Option<String>, keep;
        /// `RemoteIPInternalProxy`, `RemoteIPTrustedProxy`
        pub proxies: Vec<Proxy>, unless_empty;
        /// `RemoteIPProxiesHeader`, lower case.
        pub proxies_header: Option<String>, keep;
        /// `RemoteIPProtoHeader`, lower case.
        pub proto_header: Option<String>, keep;
        /// `RequestIDHeader`, lower case.
        pub request_id_header: Option<String>, keep;
        /// `RemoteIPProxyProtocol`
        pub proxy_protocol: Option<bool>, keep;
        /// `RemoteIPProxyProtocolExceptions`
        pub exceptions: Vec<Network>, unless_empty;
    }
}

/// A trusted proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proxy {
    /// Addresses of the proxy.
    pub network: Network,
    /// Whether the proxy may name clients in a private network.
    pub internal: bool,
}

impl RemoteIp {
    /// Whether `proxy` is trusted, and if so, whether it may name private addresses. An empty list trusts all proxies.
    pub fn trusts(&self, proxy: IpAddr) -> Option<bool> {
        let listed = self.proxies.iter().find(|known| known.network.contains(proxy)).map(|known| known.internal);
        if self.proxies.is_empty() { Some(false) } else { listed }
    }

    /// Whether `proxy` is listed.
    pub fn lists(&self, proxy: IpAddr) -> bool {
        self.proxies.iter().any(|known| known.network.contains(proxy))
    }

    /// Whether a connection from `client` must begin with a PROXY header.
    pub fn expects_proxy_header(&self, client: Option<IpAddr>) -> bool {
        let is_exempt = |client| self.exceptions.iter().any(|network| network.contains(client));
        self.proxy_protocol == Some(true) && !client.is_some_and(is_exempt)
    }
}
