//! `SSLProxy…`: TLS of connections to backends.

use crate::model::merge::{append, keep, settings};
use crate::model::tls::{NamedFile, Versions};

settings! {
    /// TLS of connections to backends. `None` and empty: not set, the outer value applies.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct BackendTls {
        /// `SSLProxyEngine`; default off.
        pub engine: Option<bool>, keep;
        /// `SSLProxyVerify`; default [`BackendVerify::None`], as in httpd.
        pub verify: Option<BackendVerify>, keep;
        /// `SSLProxyCheckPeerName`; default on.
        pub check_name: Option<bool>, keep;
        /// `SSLProxyCheckPeerExpire`; default on.
        pub check_expire: Option<bool>, keep;
        /// `SSLProxyCACertificateFile`, `SSLProxyCACertificatePath`: files and folders with trusted certificates.
        pub authorities: Vec<NamedFile>, append;
        /// `SSLProxyMachineCertificateFile`: our certificate and its key.
        pub machine: Option<NamedFile>, keep;
        /// `SSLProxyProtocol`
        pub versions: Option<Versions>, keep;
    }
}

/// `SSLProxyVerify`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendVerify {
    /// A certificate of any authority is accepted, also a self-signed one.
    None,
    /// A certificate must be signed by a known authority.
    Require,
}
