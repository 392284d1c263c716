//! How the hosts of a site speak TLS.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use rustls::crypto::{CryptoProvider, ring};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert, ServerConfig};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{SignatureScheme, SupportedCipherSuite, SupportedProtocolVersion};

use super::identity::Wrong;
use super::names::{self, Variables};
use super::staple::Good;
use super::{Identity, Sessions};
use crate::config::protocols::Protocol;
use crate::config::tls::{Tls, Versions};
use crate::config::{Config, Host};

/// As long as tickets have a key.
const LONGEST_SESSION: Duration = Duration::from_secs(12 * 60 * 60);
/// Signatures that a key makes at once.
const QUICK: &[SignatureScheme] = &[SignatureScheme::ECDSA_NISTP256_SHA256, SignatureScheme::ED25519];

/// One for each host that has a certificate.
#[derive(Default)]
pub struct Servers(HashMap<u16, Server>);

/// How a host speaks TLS.
pub struct Server {
    config: Arc<ServerConfig>,
    keys: Vec<Key>,
    /// What each certificate says of itself.
    certificates: Vec<Arc<Variables>>,
}

/// One handshake with a host.
pub struct Handshake<'a> {
    /// What is agreed on by.
    pub config: Arc<ServerConfig>,
    server: &'a Server,
    chosen: Option<Arc<Chosen>>,
}

impl Servers {
    /// As `config` says, with what the master has read.
    pub fn new(config: &Config, identities: &[Identity], sessions: &Sessions) -> anyhow::Result<Servers> {
        let mut keys: HashMap<u16, Vec<Key>> = HashMap::new();
        for identity in identities {
            let certified = identity.certified().map_err(|wrong| match wrong {
                Wrong::Certificate(why) => anyhow::anyhow!("a certificate {why}"),
                Wrong::Key(why) => anyhow::anyhow!("a key {why}"),
            })?;
            keys.entry(identity.host).or_default().push(Key::new(certified, identity.staple_is_good()));
        }
        let cached = config.hosts.first().is_none_or(|main| main.tls.cache != Some(false));
        let made = keys.into_iter().filter_map(|(index, keys)| {
            let host = config.hosts.get(usize::from(index))?;
            Some(Server::new(host, keys, sessions, cached).map(|server| (index, server)))
        });
        Ok(Servers(made.collect::<Result<_, _>>()?))
    }

    /// That of a host.
    pub fn of(&self, host: u16) -> Option<&Server> {
        self.0.get(&host)
    }
}

impl Server {
    fn new(host: &Host, keys: Vec<Key>, sessions: &Sessions, cached: bool) -> Result<Server, rustls::Error> {
        let tls = &host.tls;
        let provider = CryptoProvider { cipher_suites: suites(tls), ..ring::default_provider() };
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&versions(tls.versions.unwrap_or(Versions::ALL)))?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Chosen::of(&keys)));
        let life = tls.session_life.unwrap_or(LONGEST_SESSION);
        config.ignore_client_order = tls.own_order == Some(true);
        config.alpn_protocols = alpn(host);
        config.session_storage = if cached { sessions.cache(life) } else { Arc::new(NoServerSessionStorage {}) };
        if tls.tickets != Some(false) {
            config.ticketer = sessions.tickets(life);
        }
        let leaves = keys.iter().map(|key| key.bare.cert.first().map(names::variables).unwrap_or_default());
        Ok(Server { config: Arc::new(config), certificates: leaves.map(Arc::new).collect(), keys })
    }

    /// Whether a signature may take more than 0.1 ms: all but those of Ed25519 and of the curve P-256.
    pub fn signs_slowly(&self) -> bool {
        self.keys.iter().any(|key| key.bare.key.choose_scheme(QUICK).is_none())
    }

    /// For a client that is to be greeted.
    pub fn handshake(&self) -> Handshake<'_> {
        if self.keys.len() == 1 {
            return Handshake { config: self.config.clone(), server: self, chosen: None };
        }
        // Which of several is used only the one who chooses knows.
        let chosen = Arc::new(Chosen::of(&self.keys));
        let mut config = (*self.config).clone();
        config.cert_resolver = chosen.clone();
        Handshake { config: Arc::new(config), server: self, chosen: Some(chosen) }
    }
}

impl Handshake<'_> {
    /// What the certificate that the client was shown says of itself.
    pub fn certificate(&self) -> Option<Arc<Variables>> {
        let number = self.chosen.as_ref().map_or(0, |chosen| chosen.number.load(Ordering::Relaxed));
        self.server.certificates.get(number).cloned()
    }
}

fn versions(versions: Versions) -> Vec<&'static SupportedProtocolVersion> {
    let both = [(versions.tls13, &TLS13), (versions.tls12, &TLS12)];
    both.into_iter().filter(|(spoken, _)| *spoken).map(|(_, version)| version).collect()
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

/// A certificate, with an OCSP response as long as that is good.
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

    /// As it is to be shown now.
    fn now(&self) -> Arc<CertifiedKey> {
        match &self.stapled {
            Some((stapled, good)) if good.is_good(SystemTime::now()) => stapled.clone(),
            _ => self.bare.clone(),
        }
    }
}

/// The certificates of a host, one for each kind of key, and which of them was taken last.
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
    /// The first whose signatures the client understands.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let offered = hello.signature_schemes();
        let number = self.keys.iter().position(|key| key.bare.key.choose_scheme(offered).is_some()).unwrap_or(0);
        self.number.store(number, Ordering::Relaxed);
        self.keys.get(number).map(Key::now)
    }
}
