//! Who a client is that comes through proxies: mod_remoteip's directives. A virtual host that says nothing has what the
//! main server says.

use crate::config::model::merge::{keep, settings, unless_empty};
use std::net::IpAddr;

use crate::config::model::access::Network;

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
        /// `RemoteIPProxyProtocol`
        pub proxy_protocol: Option<bool>, keep;
        /// `RemoteIPProxyProtocolExceptions`
        pub exceptions: Vec<Network>, unless_empty;
    }
}

/// Whom to believe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proxy {
    /// Where it is.
    pub network: Network,
    /// It may name addresses of a private network.
    pub internal: bool,
}

impl RemoteIp {
    /// Whether `proxy` is believed, and then whether it may name private addresses. Where no proxy is listed all are.
    pub fn trusts(&self, proxy: IpAddr) -> Option<bool> {
        let listed = self.proxies.iter().find(|known| known.network.contains(proxy)).map(|known| known.internal);
        if self.proxies.is_empty() { Some(false) } else { listed }
    }

    /// Whether `proxy` is believed because it is listed.
    pub fn lists(&self, proxy: IpAddr) -> bool {
        self.proxies.iter().any(|known| known.network.contains(proxy))
    }

    /// Whether a connection of `client` begins with a PROXY header.
    pub fn expects_proxy_header(&self, client: Option<IpAddr>) -> bool {
        let is_exempt = |client| self.exceptions.iter().any(|network| network.contains(client));
        self.proxy_protocol == Some(true) && !client.is_some_and(is_exempt)
    }
}
