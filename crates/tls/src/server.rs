//! TLS server settings of hosts.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use rustls::crypto::{CryptoProvider, ring};
use rustls::server::{
    ClientHello, NoServerSessionStorage, ProducesTickets, ResolvesServerCert, ServerConfig, StoresServerSessions,
};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{SignatureScheme, SupportedCipherSuite};

use super::clients::{Authorities, ClientTrust, ClientVerifier};
use super::identity::{self, Wrong};
use super::names::{self, CertificateVariables};
use super::sessions::{self, MAX_SESSION};
use super::staple::Good;
use super::versions::versions;
use super::{BackendClients, Sessions, TicketKeys, TlsFiles};
use config::protocols::Protocol;
use config::tls::client_auth::ClientAuth;
use config::tls::{Tls, Versions};
use config::{Config, Host};

/// Signature schemes that take less than 0.1 ms.
const QUICK: &[SignatureScheme] = &[SignatureScheme::ECDSA_NISTP256_SHA256, SignatureScheme::ED25519];

/// TLS settings of all hosts with a certificate, by host index, and of connections to backends.
#[derive(Default)]
pub struct Servers {
    hosts: HashMap<u16, HostTls>,
    /// Managed domains with a certificate, and when the first of their certificates ends.
    managed: HashMap<u16, SystemTime>,
    /// Settings of connections to backends.
    pub backends: BackendClients,
}

/// A host may have several certificates, such as RSA and ECDSA.
pub struct HostTls {
    /// Whether the certificate stands for one that is not there yet.
    pub is_fallback: bool,
    config: Arc<ServerConfig>,
    keys: Vec<Key>,
    /// Computed once per configuration, not per handshake.
    certificates: Vec<Arc<CertificateVariables>>,
    /// End of the validity of each certificate, in seconds since 1970.
    expiries: Vec<u64>,
    /// How certificates of clients are checked, if they are asked for.
    clients: Option<Arc<ClientTrust>>,
}

/// A handshake with a host.
pub struct Handshake<'a> {
    /// Settings of the handshake.
    pub config: Arc<ServerConfig>,
    server: &'a HostTls,
    chosen: Option<Arc<Chosen>>,
}

impl Servers {
    /// Creates the settings from the configuration and the identities that the master has read.
    pub fn new(config: &Config, certificates: TlsFiles, sessions: &Sessions) -> anyhow::Result<Servers> {
        let mut keys: HashMap<u16, Vec<Key>> = HashMap::new();
        let fallback: HashSet<u16> =
            certificates.hosts.iter().filter(|identity| identity.is_fallback()).map(|identity| identity.host).collect();
        for identity in &certificates.hosts {
            let certified = identity.certified().map_err(|wrong| match wrong {
                Wrong::Certificate(why) => anyhow::anyhow!("a certificate {why}"),
                Wrong::Key(why) => anyhow::anyhow!("a key {why}"),
            })?;
            keys.entry(identity.host).or_default().push(Key::new(certified, identity.staple_is_good()));
        }
        let mut known = Vec::new();
        let mut clients = |host: &Host| trust(&host.tls.clients, &certificates, &mut known);
        let cached = config.hosts.first().is_none_or(|main| main.tls.cache != Some(false));
        let made = keys.into_iter().filter_map(|(index, keys)| {
            let host = config.hosts.get(usize::from(index))?;
            let tickets = certificates.tickets.iter().find(|keys| keys.host == index);
            let resumption = Resumption { sessions, cached, tickets };
            let server = clients(host).and_then(|clients| Ok(HostTls::new(host, keys, &resumption, clients)?));
            let server = server.map(|server| HostTls { is_fallback: fallback.contains(&index), ..server });
            Some(server.map(|server| (index, server)))
        });
        let hosts: HashMap<u16, HostTls> = made.collect::<anyhow::Result<_>>()?;
        let mut managed = HashMap::new();
        for (index, server) in hosts.iter().filter(|(_, server)| !server.is_fallback) {
            let Some(domain) = config.hosts.get(usize::from(*index)).and_then(|host| host.managed) else { continue };
            let until =
                SystemTime::UNIX_EPOCH + Duration::from_secs(server.expiries.iter().min().copied().unwrap_or(0));
            managed.entry(domain).and_modify(|first: &mut SystemTime| *first = until.min(*first)).or_insert(until);
        }
        Ok(Servers { hosts, managed, backends: BackendClients::new(certificates.backends) })
    }

    /// When the certificate of the managed domain with this number ends; of several, the first. `None`: it has none.
    pub fn certificate_end(&self, domain: u16) -> Option<SystemTime> {
        self.managed.get(&domain).copied()
    }

    /// `None`: the host has no certificate.
    pub fn of(&self, host: u16) -> Option<&HostTls> {
        self.hosts.get(&host)
    }
}

/// The checks of a host's clients; `None`: they are not asked for certificates. Hosts with the same files share them,
/// because lists of revoked certificates may be large.
fn trust(
    clients: &ClientAuth,
    files: &TlsFiles,
    known: &mut Vec<(ClientAuth, Arc<Authorities>)>,
) -> anyhow::Result<Option<Arc<ClientTrust>>> {
    let Some(requested) = clients.asked else { return Ok(None) };
    let key = ClientAuth { asked: None, ..clients.clone() };
    let shared = known.iter().find(|(known, _)| *known == key).map(|(_, authorities)| authorities.clone());
    let authorities = match shared {
        Some(authorities) => authorities,
        None => {
            let authorities = Arc::new(Authorities::new(&files.clients, clients)?.0);
            known.push((key, authorities.clone()));
            authorities
        }
    };
    Ok(Some(Arc::new(ClientTrust { asked: requested, check: clients.revocation_check(), authorities })))
}

/// How sessions of a host are resumed.
struct Resumption<'a> {
    sessions: &'a Sessions,
    /// Whether sessions are stored for clients without tickets.
    cached: bool,
    /// Keys that other servers have as well.
    tickets: Option<&'a TicketKeys>,
}

impl Resumption<'_> {
    fn cache(&self, life: Duration, asks: bool) -> Arc<dyn StoresServerSessions> {
        if self.cached { self.sessions.cache(life, asks) } else { Arc::new(NoServerSessionStorage {}) }
    }

    fn tickets(&self, life: Duration, asks: bool) -> Arc<dyn ProducesTickets> {
        match self.tickets {
            Some(keys) => sessions::limited(keys.ticketer(), life, asks),
            None => self.sessions.tickets(life, asks),
        }
    }
}

impl HostTls {
    fn new(
        host: &Host,
        keys: Vec<Key>,
        resumption: &Resumption<'_>,
        clients: Option<Arc<ClientTrust>>,
    ) -> Result<HostTls, rustls::Error> {
        let tls = &host.tls;
        let provider = CryptoProvider { cipher_suites: suites(tls), ..ring::default_provider() };
        let builder = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&versions(tls.versions.unwrap_or(Versions::ALL)))?;
        let builder = match &clients {
            Some(trust) => builder.with_client_cert_verifier(Arc::new(ClientVerifier(trust.clone()))),
            None => builder.with_no_client_auth(),
        };
        let mut config = builder.with_cert_resolver(Arc::new(Chosen::of(&keys)));
        let life = tls.session_life.unwrap_or(MAX_SESSION);
        config.ignore_client_order = tls.own_order == Some(true);
        config.alpn_protocols = alpn(host);
        config.session_storage = resumption.cache(life, clients.is_some());
        if tls.tickets != Some(false) {
            config.ticketer = resumption.tickets(life, clients.is_some());
        }
        let variables = |leaf| names::variables("SSL_SERVER", leaf);
        let leaves = keys.iter().map(|key| key.bare.cert.first().map(variables).unwrap_or_default());
        let certificates = leaves.map(Arc::new).collect();
        let expiries = keys.iter().filter_map(|key| identity::expiry(key.bare.cert.first()?)).collect();
        Ok(HostTls { is_fallback: false, config: Arc::new(config), certificates, expiries, keys, clients })
    }

    /// Whether a signature may take more than 0.1 ms: with all keys except Ed25519 and P-256.
    pub fn signs_slowly(&self) -> bool {
        self.keys.iter().any(|key| key.bare.key.choose_scheme(QUICK).is_none())
    }

    /// End of the validity of each certificate, in seconds since 1970.
    pub fn expiries(&self) -> Vec<u64> {
        self.expiries.clone()
    }

    /// How certificates of clients are checked, if they are asked for.
    pub fn clients(&self) -> Option<&Arc<ClientTrust>> {
        self.clients.as_ref()
    }

    /// Settings for a new client.
    pub fn handshake(&self) -> Handshake<'_> {
        if self.keys.len() == 1 {
            return Handshake { config: self.config.clone(), server: self, chosen: None };
        }
        // With several certificates only the resolver knows which one is used.
        let chosen = Arc::new(Chosen::of(&self.keys));
        let mut config = (*self.config).clone();
        config.cert_resolver = chosen.clone();
        Handshake { config: Arc::new(config), server: self, chosen: Some(chosen) }
    }
}

impl Handshake<'_> {
    /// Variables of the certificate that the client got.
    pub fn certificate(&self) -> Option<Arc<CertificateVariables>> {
        self.server.certificates.get(self.number()).cloned()
    }

    /// The certificate that the client got, with its chain.
    pub fn chain(&self) -> Option<Arc<CertifiedKey>> {
        self.server.keys.get(self.number()).map(|key| key.bare.clone())
    }

    fn number(&self) -> usize {
        self.chosen.as_ref().map_or(0, |chosen| chosen.number.load(Ordering::Relaxed))
    }
}

fn suites(tls: &Tls) -> Vec<SupportedCipherSuite> {
    let all = ring::ALL_CIPHER_SUITES;
    let chosen = |names: &Option<Vec<&'static str>>, is_13: bool| -> Vec<SupportedCipherSuite> {
        let ours = all.iter().filter(|suite| (suite.version() == &TLS13) == is_13);
        match names {
            None => ours.copied().collect(),
            Some(names) => {
                let find = |name: &&str| ours.clone().find(|suite| suite.suite().as_str() == Some(name)).copied();
                names.iter().filter_map(find).collect()
            }
        }
    };
    [chosen(&tls.suites_13, true), chosen(&tls.suites, false)].concat()
}

fn alpn(host: &Host) -> Vec<Vec<u8>> {
    let spoken = host.protocols.spoken.as_deref().unwrap_or(&[Protocol::Http1]);
    let mut names: Vec<Vec<u8>> = Vec::new();
    for protocol in spoken {
        match protocol {
            Protocol::H2 => names.push(b"h2".to_vec()),
            Protocol::Http1 => names.push(b"http/1.1".to_vec()),
            Protocol::H2c => {}
        }
    }
    names
}

/// A certificate, and the same with its OCSP response while that is valid.
#[derive(Debug, Clone)]
struct Key {
    bare: Arc<CertifiedKey>,
    stapled: Option<(Arc<CertifiedKey>, Good)>,
}

impl Key {
    fn new(certified: CertifiedKey, good: Good) -> Key {
        let bare = CertifiedKey { ocsp: None, ..certified.clone() };
        let stapled = certified.ocsp.is_some().then(|| (Arc::new(certified), good));
        Key { bare: Arc::new(bare), stapled }
    }

    /// The certificate to send now.
    fn now(&self) -> Arc<CertifiedKey> {
        match &self.stapled {
            Some((stapled, good)) if good.is_good(SystemTime::now()) => stapled.clone(),
            _ => self.bare.clone(),
        }
    }
}

/// Certificates of a host, one per key type, and the index of the one used last.
#[derive(Debug)]
struct Chosen {
    keys: Vec<Key>,
    number: AtomicUsize,
}

impl Chosen {
    fn of(keys: &[Key]) -> Chosen {
        Chosen { keys: keys.to_vec(), number: AtomicUsize::new(0) }
    }
}

impl ResolvesServerCert for Chosen {
    /// Selects the first certificate whose signature schemes the client supports.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let offered = hello.signature_schemes();
        let number = self.keys.iter().position(|key| key.bare.key.choose_scheme(offered).is_some()).unwrap_or(0);
        self.number.store(number, Ordering::Relaxed);
        self.keys.get(number).map(Key::now)
    }
}
