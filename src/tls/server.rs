//! How the hosts of a site speak TLS.

use std::collections::HashMap;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::server::{
    ClientHello, NoServerSessionStorage, ProducesTickets, ResolvesServerCert, ServerConfig, ServerSessionMemoryCache,
    StoresServerSessions,
};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{SupportedCipherSuite, SupportedProtocolVersion};

use super::Identity;
use super::identity::Wrong;
use crate::config::protocols::Protocol;
use crate::config::tls::{Tls, Versions};
use crate::config::{Config, Host};

/// Sessions of clients without tickets that are kept.
const KEPT: usize = 4096;

/// What clients resume with. It outlives configurations, so that a reload costs no client a handshake.
pub struct Sessions {
    tickets: Arc<dyn ProducesTickets>,
    cache: Arc<dyn StoresServerSessions>,
}

impl Sessions {
    /// With keys of its own.
    pub fn new() -> Result<Sessions, rustls::Error> {
        Ok(Sessions { tickets: ring::Ticketer::new()?, cache: ServerSessionMemoryCache::new(KEPT) })
    }
}

/// One for each host that has a certificate.
#[derive(Default)]
pub struct Servers(HashMap<u16, Arc<ServerConfig>>);

impl Servers {
    /// As `config` says, with what the master has read.
    pub fn new(config: &Config, identities: &[Identity], sessions: &Sessions) -> anyhow::Result<Servers> {
        let mut keys: HashMap<u16, Vec<Arc<CertifiedKey>>> = HashMap::new();
        for identity in identities {
            let certified = identity.certified().map_err(|wrong| match wrong {
                Wrong::Certificate(why) => anyhow::anyhow!("a certificate {why}"),
                Wrong::Key(why) => anyhow::anyhow!("a key {why}"),
            })?;
            keys.entry(identity.host).or_default().push(Arc::new(certified));
        }
        let cached = config.hosts.first().is_none_or(|main| main.tls.cache != Some(false));
        let made = keys.into_iter().filter_map(|(index, keys)| {
            let host = config.hosts.get(usize::from(index))?;
            Some(server(host, keys, sessions, cached).map(|server| (index, Arc::new(server))))
        });
        Ok(Servers(made.collect::<Result<_, _>>()?))
    }

    /// Those of a host.
    pub fn of(&self, host: u16) -> Option<&Arc<ServerConfig>> {
        self.0.get(&host)
    }
}

fn server(
    host: &Host,
    keys: Vec<Arc<CertifiedKey>>,
    sessions: &Sessions,
    cached: bool,
) -> Result<ServerConfig, rustls::Error> {
    let tls = &host.tls;
    let provider = CryptoProvider { cipher_suites: suites(tls), ..ring::default_provider() };
    let mut server = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&versions(tls.versions.unwrap_or(Versions::ALL)))?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Keys(keys)));
    server.ignore_client_order = tls.own_order == Some(true);
    server.alpn_protocols = alpn(host);
    server.session_storage = if cached { sessions.cache.clone() } else { Arc::new(NoServerSessionStorage {}) };
    if tls.tickets != Some(false) {
        server.ticketer = sessions.tickets.clone();
    }
    Ok(server)
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

/// The certificates of a host, one for each kind of key.
#[derive(Debug)]
struct Keys(Vec<Arc<CertifiedKey>>);

impl ResolvesServerCert for Keys {
    /// The first whose signatures the client understands.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let offered = hello.signature_schemes();
        self.0.iter().find(|key| key.key.choose_scheme(offered).is_some()).or(self.0.first()).cloned()
    }
}
