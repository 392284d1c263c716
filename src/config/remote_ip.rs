//! Who a client is that comes through proxies: mod_remoteip's directives. A virtual host that says nothing has what the
//! main server says.

use std::net::IpAddr;

use super::access::Network;
use super::draft::Draft;
use super::{ConfigError, Host};

/// The directives of one host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteIp {
    /// `RemoteIPHeader`, lower case.
    pub header: Option<String>,
    /// `RemoteIPInternalProxy`, `RemoteIPTrustedProxy`
    pub proxies: Vec<Proxy>,
    /// `RemoteIPProxiesHeader`, lower case.
    pub proxies_header: Option<String>,
    /// `RemoteIPProtoHeader`, lower case.
    pub proto_header: Option<String>,
    /// `RemoteIPProxyProtocol`
    pub proxy_protocol: Option<bool>,
    /// `RemoteIPProxyProtocolExceptions`
    pub exceptions: Vec<Network>,
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

    pub(super) fn inherit(&mut self, main: &RemoteIp) {
        if self.header.is_none() {
            self.header.clone_from(&main.header);
        }
        if self.proxies.is_empty() {
            self.proxies.clone_from(&main.proxies);
        }
        if self.proxies_header.is_none() {
            self.proxies_header.clone_from(&main.proxies_header);
        }
        if self.proto_header.is_none() {
            self.proto_header.clone_from(&main.proto_header);
        }
        if self.proxy_protocol.is_none() {
            self.proxy_protocol = main.proxy_protocol;
        }
        if self.exceptions.is_empty() {
            self.exceptions.clone_from(&main.exceptions);
        }
    }
}

/// What is wrong with the whole.
pub(super) fn finish(draft: &mut Draft) {
    let is_open = |host: &Host| host.remote_ip.proto_header.is_some() && host.remote_ip.proxies.is_empty();
    if draft.config.hosts.iter().any(is_open) {
        let message = "RemoteIPProtoHeader: no proxy is named whose word counts: write RemoteIPInternalProxy or RemoteIPTrustedProxy";
        draft.errors.push(ConfigError { at: None, message: message.to_owned() });
    }
}

/// `RemoteIPInternalProxy network…`, `RemoteIPTrustedProxy network…`
pub fn proxies(draft: &mut Draft, names: &[String], internal: bool) -> Result<(), String> {
    for name in names {
        let network = network(name)?;
        draft.host().remote_ip.proxies.push(Proxy { network, internal });
    }
    Ok(())
}

/// `RemoteIPProxyProtocolExceptions network…`
pub fn exceptions(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    for name in names {
        let network = network(name)?;
        draft.host().remote_ip.exceptions.push(network);
    }
    Ok(())
}

/// The name of a header.
pub fn header(name: &str) -> Result<Option<String>, String> {
    match name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        true => Ok(Some(name.to_ascii_lowercase())),
        false => Err(format!("expected the name of a header, for instance X-Forwarded-For, got \"{name}\"")),
    }
}

fn network(name: &str) -> Result<Network, String> {
    let advice = || {
        format!("expected an address or a network like 10.1.0.0/16, got \"{name}\": names of hosts are not looked up")
    };
    Network::parse(name).unwrap_or_else(|| Err(advice()))
}
