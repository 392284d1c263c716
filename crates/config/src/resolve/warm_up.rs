//! Addresses and hosts of warm-up requests.

use std::net::SocketAddr;

use crate::model::config::Config;
use crate::model::start_up::warm_up::{Scheme, WarmUpSite};

impl Config {
    /// For a URL with a host name: that host and one of its listeners.
    pub fn warm_up_site_named(&self, scheme: Scheme, name: &str) -> Option<WarmUpSite> {
        let answers = |local: &Option<SocketAddr>| self.hosts[usize::from(self.host(*local, name))].has_name(name);
        let local = self.locals().find(answers)?;
        let (host, name) = (self.host(local, name), name.to_owned());
        Some(WarmUpSite { host, local, https: scheme == Scheme::Https, name })
    }

    /// For a path in a virtual host: that host. For a path outside of any: the host that the first listener selects for
    /// requests without a host name.
    pub fn warm_up_site_of(&self, host: u16) -> WarmUpSite {
        let is_at = |local: &Option<SocketAddr>| self.hosts_at(*local).any(|at| at == host);
        let first = self.locals().next().flatten();
        let local = if host == 0 { first } else { self.locals().find(is_at).unwrap_or(first) };
        let host = if host == 0 { self.host(local, "") } else { host };
        let named = self.hosts[usize::from(host)].server_name.clone();
        let name =
            named.unwrap_or_else(|| local.map_or_else(|| "localhost".to_owned(), |local| local.ip().to_string()));
        WarmUpSite { host, local, https: self.speaks_tls(local), name }
    }

    fn locals(&self) -> impl Iterator<Item = Option<SocketAddr>> {
        self.listen.iter().map(|listen| listen.tcp())
    }
}
