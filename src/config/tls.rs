//! What hosts say about TLS, and on which addresses it is spoken. Only names of files stand here; the master reads them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::draft::Draft;
use super::{At, Config, ConfigError, Host, Listen};

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
    pub(super) fn inherit(&mut self, main: &Tls) {
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
    fn is_on(&self, listens_for_it: bool) -> bool {
        self.engine.as_ref().map_or(listens_for_it, |(_, on)| *on)
    }
}

impl Config {
    /// Whether a connection to this address is one of TLS: a host there says so, or its `Listen`.
    pub fn speaks_tls(&self, local: Option<SocketAddr>) -> bool {
        let Some(local) = local else { return false };
        let listens = self.https.iter().any(|(listen, _)| covers(listen, local));
        if !listens && !self.hosts.iter().any(|host| host.tls.used) {
            return false;
        }
        self.hosts_at(Some(local)).any(|host| self.hosts[usize::from(host)].tls.is_on(listens))
    }

    /// What must be known before a certificate is looked for.
    pub(super) fn uses_tls(&self, host: &Host) -> bool {
        let https = self.https.iter().map(|(listen, _)| listen);
        let listens = https.clone().any(|listen| host.addresses.is_empty() || host.may_be_at(listen));
        host.tls.is_on(listens)
    }
}

/// Whether connections to `local` come in by `listen`.
fn covers(listen: &Listen, local: SocketAddr) -> bool {
    match listen {
        Listen::Unix(_) => false,
        Listen::Tcp(listen) => {
            listen.port() == local.port() && (listen.ip().is_unspecified() || listen.ip() == local.ip().to_canonical())
        }
    }
}

/// Every host that speaks TLS has something to prove itself with.
pub(super) fn finish(draft: &mut Draft) {
    for index in 0..draft.config.hosts.len() {
        let used = draft.config.uses_tls(&draft.config.hosts[index]);
        let tls = &mut draft.config.hosts[index].tls;
        tls.used = used && !tls.certificates.is_empty();
        if let (Some((at, true)), true) = (&tls.engine, tls.certificates.is_empty()) {
            let advice =
                "On, but there is no certificate: name one by SSLCertificateFile, and its key by SSLCertificateKeyFile";
            draft.errors.push(ConfigError::at(at, format!("SSLEngine: {advice}")));
        }
    }
    for (listen, at) in &draft.config.https {
        let served = draft
            .config
            .hosts
            .iter()
            .any(|host| host.tls.used && (host.addresses.is_empty() || host.may_be_at(listen)));
        if !served {
            let advice = "https, but no host there has a certificate: name one by SSLCertificateFile";
            draft.errors.push(ConfigError::at(at, format!("Listen: {advice}")));
        }
    }
}

/// `SSLProtocol [+|-]version…`
pub fn versions(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let mut versions = Versions { tls12: false, tls13: false };
    for arg in args {
        let (on, name) = match arg.as_bytes().first() {
            Some(b'-') => (false, &arg[1..]),
            Some(b'+') => (true, &arg[1..]),
            _ => (true, arg.as_str()),
        };
        match name.to_ascii_lowercase().as_str() {
            "all" => versions = Versions { tls12: on, tls13: on },
            "tlsv1.2" => versions.tls12 = on,
            "tlsv1.3" => versions.tls13 = on,
            "sslv2" | "sslv3" | "tlsv1" | "tlsv1.1" if on => {
                draft.warn(&format!("{name} is broken and not spoken here: remove it"));
            }
            "sslv2" | "sslv3" | "tlsv1" | "tlsv1.1" => {}
            _ => return Err(format!("expected all, TLSv1.2 or TLSv1.3, with + or - before, got \"{arg}\"")),
        }
    }
    if !versions.tls12 && !versions.tls13 {
        return Err("leaves no version that is spoken here: allow TLSv1.2 or TLSv1.3".to_owned());
    }
    draft.host().tls.versions = Some(versions);
    Ok(())
}
