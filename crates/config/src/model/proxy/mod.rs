//! Reverse and forward proxy: which requests are answered by a backend, and how. The meaning is that of httpd 2.4's
//! mod_proxy.

pub mod backend_tls;
pub mod balancer;
pub mod forward;
pub mod pass;
pub mod reverse;
pub mod url;

use std::net::IpAddr;
use std::time::Duration;

use crate::model::merge::{append, keep, settings};
use forward::ForwardProxy;
use pass::{PassLines, ProxyPass};
use reverse::ReverseMap;

pub use backend_tls::BackendTls;
pub use pass::{BackendParameters, PassFrom, Passed, Upgrade};
pub use url::{BackendAddress, BackendScheme, BackendUrl, is_usual_host};

settings! {
    /// Settings of the reverse proxy. `None` and empty: not set, the outer value applies.
    #[derive(Clone, Default)]
    place struct ProxyRules {
        /// `ProxyPass` and `ProxyPassMatch` of servers and hosts, in the order in which they are tried.
        pub passes: PassLines, PassLines::merge;
        /// `ProxyPass` in a `<Location>`, which comes before those of the host.
        pub of_place: Option<ProxyPass>, keep;
        /// `ProxyPassReverse`
        pub reverses: Vec<ReverseMap>, append;
        /// `ProxyPassReverseCookieDomain`: the backend's domain, and ours.
        pub cookie_domains: Vec<(String, String)>, append;
        /// `ProxyPassReverseCookiePath`: the backend's path, and ours.
        pub cookie_paths: Vec<(String, String)>, append;
        /// `ProxyPreserveHost`; default off.
        pub preserve_host: Option<bool>, keep;
        /// `ProxyAddHeaders`; default on.
        pub add_headers: Option<bool>, keep;
        /// `ProxyErrorOverride`; default off.
        pub error_override: Option<ErrorOverride>, keep;
        /// `ProxyTimeout`; default `Timeout`.
        pub timeout: Option<Duration>, keep;
        /// `ProxyVia`; default off.
        pub via: Option<Via>, keep;
        /// `ProxyPassInterpolateEnv`; default off.
        pub interpolate: Option<bool>, keep;
        /// `ProxyWebsocketFallbackToProxyHttp`; default on.
        pub websocket_fallback: Option<bool>, keep;
        /// `ProxySourceAddress`
        pub source: Option<IpAddr>, keep;
        /// `ProxyRequests`, `ProxyBlock`, `ProxyRemote`
        pub forward: ForwardProxy, ForwardProxy::merge;
        /// `SSLProxy…`
        pub tls: BackendTls, merged;
    }
}

/// `ProxyErrorOverride`: statuses of backends that are answered with this server's own error pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorOverride {
    /// No error page is replaced.
    Off,
    /// Error pages of all statuses from 400 on are replaced.
    All,
    /// Error pages of these statuses are replaced.
    These(Vec<u16>),
}

/// `ProxyVia`: treatment of `Via` header fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// `Via` fields are passed on unchanged.
    Off,
    /// This server is added to `Via`.
    On,
    /// This server is added to `Via`, with its version as a comment.
    Full,
    /// All `Via` fields are removed.
    Block,
}

fn merged(outer: &mut BackendTls, inner: &BackendTls) {
    outer.merge(inner);
}

impl ProxyRules {
    /// The backend for a decoded path; `raw` is the path as the client sent it. `None` if the request is not passed on.
    pub fn backend(&self, path: &str, raw: &str) -> Option<Passed> {
        let first = self.of_place.iter().chain(&self.passes.lines).find_map(|pass| pass.answer(path, raw));
        first.flatten()
    }

    /// Whether the backend's page for `status` is replaced by this server's.
    pub fn overrides(&self, status: u16) -> bool {
        match &self.error_override {
            None | Some(ErrorOverride::Off) => false,
            Some(ErrorOverride::All) => (400..600).contains(&status),
            Some(ErrorOverride::These(statuses)) => statuses.contains(&status),
        }
    }
}
