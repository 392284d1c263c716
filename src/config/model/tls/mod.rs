//! What hosts say about TLS, and on which addresses it is spoken. Only names of files stand here; the master reads them.

use crate::config::model::merge::{apart, keep, settings};
pub mod suites;

use std::path::PathBuf;
use std::time::Duration;

use crate::config::syntax::tree::At;

settings! {
    /// What a host says; `None` and empty mean: nothing, as the main server.
    #[derive(Clone, Default)]
    host struct Tls, then Tls::keep_certificates {
        /// `SSLEngine`
        pub engine: Option<(At, bool)>, keep;
        /// `SSLCertificateFile`, one for each kind of key.
        pub certificates: Vec<NamedFile>, apart;
        /// `SSLCertificateKeyFile`, in the order of the certificates; one that is missing lies with its certificate.
        pub keys: Vec<NamedFile>, apart;
        /// `SSLCertificateChainFile`
        pub chain: Option<NamedFile>, keep;
        /// `SSLStaplingFile`
        pub staple: Option<NamedFile>, keep;
        /// `SSLProtocol`; `None`: all that we have.
        pub versions: Option<Versions>, keep;
        /// `SSLCipherSuite` for TLS 1.2, by their names in the registry of IANA; `None`: all.
        pub suites: Option<Vec<&'static str>>, keep;
        /// `SSLCipherSuite TLSv1.3 …`, likewise.
        pub suites_13: Option<Vec<&'static str>>, keep;
        /// `SSLHonorCipherOrder`
        pub own_order: Option<bool>, keep;
        /// `SSLSessionTickets`
        pub tickets: Option<bool>, keep;
        /// `SSLSessionCache`: whether there is one.
        pub cache: Option<bool>, keep;
        /// `SSLSessionCacheTimeout`
        pub session_life: Option<Duration>, keep;
        /// Something is to be served over TLS in its name.
        pub used: bool, apart;
    }
}

/// A file and the line that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// Absolute.
    pub path: PathBuf,
    /// Where it is named.
    pub at: At,
    /// The directive that names it.
    pub directive: &'static str,
}

/// `SSLProtocol`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Versions {
    pub tls12: bool,
    pub tls13: bool,
}

impl Versions {
    /// All that we have.
    pub const ALL: Versions = Versions { tls12: true, tls13: true };
}

impl Tls {
    /// Keys belong to their certificates: they are inherited with them.
    fn keep_certificates(&mut self, inner: &Tls) {
        if !inner.certificates.is_empty() {
            self.certificates.clone_from(&inner.certificates);
            self.keys.clone_from(&inner.keys);
        }
    }

    /// Whether TLS is to be spoken where this host is: it says so itself, or `Listen` does for it.
    pub fn is_on(&self, listens_for_it: bool) -> bool {
        self.engine.as_ref().map_or(listens_for_it, |(_, on)| *on)
    }
}
