//! What hosts say about TLS, and on which addresses it is spoken. Only names of files stand here; the master reads them.

pub mod suites;

use std::path::PathBuf;
use std::time::Duration;

use crate::config::syntax::tree::At;

/// What a host says; `None` and empty mean: nothing, as the main server.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// `SSLEngine`
    pub engine: Option<(At, bool)>,
    /// `SSLCertificateFile`, one for each kind of key.
    pub certificates: Vec<NamedFile>,
    /// `SSLCertificateKeyFile`, in the order of the certificates; one that is missing lies with its certificate.
    pub keys: Vec<NamedFile>,
    /// `SSLCertificateChainFile`
    pub chain: Option<NamedFile>,
    /// `SSLStaplingFile`
    pub staple: Option<NamedFile>,
    /// `SSLProtocol`; `None`: all that we have.
    pub versions: Option<Versions>,
    /// `SSLCipherSuite` for TLS 1.2, by their names in the registry of IANA; `None`: all.
    pub suites: Option<Vec<&'static str>>,
    /// `SSLCipherSuite TLSv1.3 …`, likewise.
    pub suites_13: Option<Vec<&'static str>>,
    /// `SSLHonorCipherOrder`
    pub own_order: Option<bool>,
    /// `SSLSessionTickets`
    pub tickets: Option<bool>,
    /// `SSLSessionCache`: whether there is one.
    pub cache: Option<bool>,
    /// `SSLSessionCacheTimeout`
    pub session_life: Option<Duration>,
    /// Something is to be served over TLS in its name.
    pub used: bool,
}

/// A file and the line that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// Absolute.
    pub path: PathBuf,
    /// Where it is named.
    pub at: At,
    /// By which directive.
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
    /// What this host does not say, the main server says for it.
    pub fn inherit(&mut self, main: &Tls) {
        if self.certificates.is_empty() {
            self.certificates.clone_from(&main.certificates);
            self.keys.clone_from(&main.keys);
        }
        fn or<T: Clone>(own: &mut Option<T>, main: &Option<T>) {
            if own.is_none() {
                own.clone_from(main);
            }
        }
        or(&mut self.engine, &main.engine);
        or(&mut self.chain, &main.chain);
        or(&mut self.staple, &main.staple);
        or(&mut self.versions, &main.versions);
        or(&mut self.suites, &main.suites);
        or(&mut self.suites_13, &main.suites_13);
        or(&mut self.own_order, &main.own_order);
        or(&mut self.tickets, &main.tickets);
        or(&mut self.cache, &main.cache);
        or(&mut self.session_life, &main.session_life);
    }

    /// Whether TLS is to be spoken where this host is: it says so itself, or `Listen` does for it.
    pub fn is_on(&self, listens_for_it: bool) -> bool {
        self.engine.as_ref().map_or(listens_for_it, |(_, on)| *on)
    }
}
