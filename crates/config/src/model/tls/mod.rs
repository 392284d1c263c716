//! TLS settings of hosts. Files are only named here; the master reads them.

use crate::model::merge::{always, apart, keep, settings};
pub mod client_auth;
pub mod http_proxy;
pub mod managed;
pub mod suites;

use std::path::PathBuf;
use std::time::Duration;

use crate::syntax::tree::At;
use client_auth::ClientAuth;

settings! {
    /// Settings of a host. `None` and empty: the main server's value.
    #[derive(Clone, Default)]
    host struct Tls, then Tls::keep_certificates {
        /// `SSLEngine`
        pub engine: Option<(At, bool)>, keep;
        /// `SSLCertificateFile`, one for each key type.
        pub certificates: Vec<NamedFile>, apart;
        /// `SSLCertificateKeyFile`, in the order of the certificates. The file of a missing one contains certificate
        /// and key.
        pub keys: Vec<NamedFile>, apart;
        /// `SSLCertificateChainFile`
        pub chain: Option<NamedFile>, keep;
        /// `SSLStaplingFile`
        pub staple: Option<NamedFile>, keep;
        /// `SSLProtocol`; `None`: all supported versions.
        pub versions: Option<Versions>, keep;
        /// `SSLCipherSuite` for TLS 1.2, as IANA names; `None`: all.
        pub suites: Option<Vec<&'static str>>, keep;
        /// `SSLCipherSuite TLSv1.3 …`, as IANA names; `None`: all.
        pub suites_13: Option<Vec<&'static str>>, keep;
        /// `SSLHonorCipherOrder`
        pub own_order: Option<bool>, keep;
        /// `SSLSessionTickets`
        pub tickets: Option<bool>, keep;
        /// `SSLSessionTicketKeyFile`; the first is used for new tickets.
        pub ticket_keys: Option<Vec<NamedFile>>, keep;
        /// `SSLSessionCache`: whether it is enabled.
        pub cache: Option<bool>, keep;
        /// `SSLSessionCacheTimeout`
        pub session_life: Option<Duration>, keep;
        /// `SSLCACertificateFile`, `SSLCARevocationFile`, …
        pub clients: ClientAuth, ClientAuth::merge;
        /// Whether the certificate is that of a managed domain, [`Host::managed`](crate::Host::managed).
        pub is_managed: bool, always;
        /// Whether a TLS listener can serve this host.
        pub used: bool, apart;
    }
}

/// A file and the directive that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// Absolute path.
    pub path: PathBuf,
    /// Position of the directive.
    pub at: At,
    /// For messages about the file.
    pub directive: &'static str,
}

/// `SSLProtocol`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are versions")]
pub struct Versions {
    pub tls12: bool,
    pub tls13: bool,
}

impl Versions {
    /// All supported versions.
    pub const ALL: Versions = Versions { tls12: true, tls13: true };
}

impl Tls {
    /// Inherits certificates and keys together, because they belong to each other.
    fn keep_certificates(&mut self, inner: &Tls) {
        if !inner.certificates.is_empty() {
            self.certificates.clone_from(&inner.certificates);
            self.keys.clone_from(&inner.keys);
        }
    }

    /// Whether TLS is on for this host: by `SSLEngine`, otherwise by `Listen` (`listens_for_it`).
    pub fn is_on(&self, listens_for_it: bool) -> bool {
        self.engine.as_ref().map_or(listens_for_it, |(_, on)| *on)
    }
}
