//! FastCGI applications that this server does not start: httpd's mod_proxy_fcgi.

use crate::model::merge::{append, keep, settings};
use crate::model::proxy::BackendUrl;
use crate::model::response::setenv::SetEnvIf;

settings! {
    /// Settings of FastCGI applications. `None` and empty: not set, the outer value applies.
    #[derive(Clone, Default)]
    place struct FcgiRules {
        /// Origins of the applications that the configuration itself names here, in `SetHandler`, `ProxyPass` or `<Proxy>`.
        /// A `.htaccess` file may name these alone.
        pub named: Vec<String>, append;
        /// `ProxyFCGIBackendType`; default FPM.
        pub backend_type: Option<FcgiBackendType>, keep;
        /// `ProxyFCGISetEnvIf`
        pub set_env_if: Vec<SetEnvIf>, append;
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
    /// Whether the configuration itself names this application here.
    pub fn names(&self, url: &BackendUrl) -> bool {
        let origin = url.origin();
        self.named.contains(&origin)
    }
}

/// The message for an application that only a `.htaccess` file or a rule names.
pub fn unnamed(url: &BackendUrl) -> String {
    let origin = url.origin();
    format!(
        "the configuration of this place does not name {origin}, so that a .htaccess file may not: \
         allow it with <Proxy \"{origin}\"></Proxy> in the virtual host"
    )
}
