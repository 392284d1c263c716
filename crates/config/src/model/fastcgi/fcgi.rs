//! FastCGI applications that this server does not start: httpd's mod_proxy_fcgi. The backends that folders may name.

use std::sync::Arc;

use crate::model::fastcgi::servers::ExternalServer;
use crate::model::merge::{append, keep, settings};
use crate::model::proxy::{BackendAddress, BackendScheme, BackendUrl};
use crate::model::response::setenv::SetEnvIf;

settings! {
    /// Settings of FastCGI applications. `None` and empty: not set, the outer value applies.
    #[derive(Clone, Default)]
    place struct FcgiRules {
        /// Origins of applications, sockets, balancers and backends with TLS that the configuration itself names here,
        /// in `SetHandler`, `ProxyPass` or `<Proxy>`. A `.htaccess` file may name these alone.
        pub named: Vec<String>, append;
        /// `ProxyFCGIBackendType`; default FPM.
        pub backend_type: Option<FcgiBackendType>, keep;
        /// `ProxyFCGISetEnvIf`
        pub set_env_if: Vec<SetEnvIf>, append;
        /// `FastCgiExternalServer`
        pub external: Option<Arc<ExternalServer>>, keep;
        /// `FastCgiExternalServer -pass-header`: names of header fields as written.
        pub pass_headers: Vec<String>, append;
    }
}

/// `ProxyFCGIBackendType`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FcgiBackendType {
    /// PHP-FPM, which removes `proxy:fcgi://host` from `SCRIPT_FILENAME` itself.
    Fpm,
    /// Any other application: `SCRIPT_FILENAME` is a path.
    Generic,
}

impl FcgiRules {
    /// Whether the rules of a folder may pass requests to this backend.
    pub fn allows(&self, url: &BackendUrl) -> bool {
        !is_reserved(url) || self.names(url)
    }

    /// Whether the configuration itself names this backend here.
    pub fn names(&self, url: &BackendUrl) -> bool {
        let origin = url.origin();
        self.named.contains(&origin)
    }
}

/// Whether a `.htaccess` file may use this backend only if the configuration names it: an application runs files, a
/// socket may be another tenant's, and a balancer and a client certificate are the operator's.
pub(crate) fn is_reserved(url: &BackendUrl) -> bool {
    let is_plain = matches!(url.scheme, BackendScheme::Http | BackendScheme::Ws);
    !is_plain || !matches!(url.address, BackendAddress::Tcp(..))
}

/// The message for a backend that only a `.htaccess` file or a rule names.
pub fn unnamed(url: &BackendUrl) -> String {
    let origin = url.origin();
    format!(
        "the configuration of this place does not name {origin}, so that a .htaccess file may not; \
         allow it with <Proxy \"{origin}\"></Proxy> in the virtual host"
    )
}
