//! Certificates of managed domains, which lie in `MDStoreDir` as mod_md lays them out:
//! `domains/NAME/pubcert.secp256r1.pem` and `privkey.secp256r1.pem`. A self-signed certificate takes the place of one
//! that is not there yet.

use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use x509_cert::der::Decode;

use super::identity::{Identity, MAX_BYTES};
use config::tls::managed::{KeyType, ManagedDomain};
use config::{Config, ConfigError, Host, regular};

/// When a certificate begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    /// The begin.
    pub from: SystemTime,
    /// The end.
    pub until: SystemTime,
}

impl Validity {
    /// Time from the first to the last moment of validity; zero if they are reversed.
    pub fn life(&self) -> Duration {
        self.until.duration_since(self.from).unwrap_or_default()
    }
}

/// The certificates of a host of a managed domain, with warnings about files that cannot be used.
pub fn read(index: u16, host: &Host, config: &Config) -> (Vec<Identity>, Vec<ConfigError>) {
    let domain = host.managed.and_then(|number| config.managed.domains.get(usize::from(number)));
    let Some(domain) = domain else { return (Vec::new(), Vec::new()) };
    let (mut found, mut odd) = (Vec::new(), Vec::new());
    for key in &domain.settings.keys {
        match stored(&config.certificate_store(), domain, *key) {
            Ok(Some((chain, key))) => found.push(Identity::of(index, chain, key)),
            Ok(None) => {}
            Err(why) => odd.push(ConfigError::at(&domain.at, why)),
        }
    }
    if found.is_empty() {
        found.push(Identity::fallback(index, domain.names.clone()));
    }
    (found, odd)
}

/// Certificate and key of one type, in PEM. `None`: there is none. The error says which file cannot be used, and why.
fn stored(store: &Path, domain: &ManagedDomain, key: KeyType) -> Result<Option<(String, String)>, String> {
    let [chain, key] = key.files().map(|name| domain.folder(store).join(name));
    let read = |path: &Path| match regular::read(path, MAX_BYTES) {
        Ok((_, bytes)) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("MDomain {}: {} cannot be read: {error}", domain.name(), path.display())),
    };
    let (Some(chain_pem), Some(key_pem)) = (read(&chain)?, read(&key)?) else { return Ok(None) };
    match Identity::of(0, chain_pem.clone(), key_pem.clone()).certified() {
        Ok(_) => Ok(Some((chain_pem, key_pem))),
        Err(_) => Err(format!(
            "MDomain {}: {} and {} cannot be used, and a new certificate is requested",
            domain.name(),
            chain.display(),
            key.display()
        )),
    }
}

/// The validity of the stored certificate that ends first. `None`: one is missing, cannot be used, or is for fewer
/// names, so that new ones are due.
pub fn validity(config: &Config, domain: &ManagedDomain) -> Option<Validity> {
    let store = config.certificate_store();
    let mut first: Option<Validity> = None;
    for key in &domain.settings.keys {
        let (chain, _) = stored(&store, domain, *key).ok()??;
        let validity = of_chain(&chain, &domain.names)?;
        first = Some(first.filter(|first| first.until <= validity.until).unwrap_or(validity));
    }
    first
}

/// Whether a certificate of the domain is stored and can be used, even if others are due.
pub fn is_stored(config: &Config, domain: &ManagedDomain) -> bool {
    let store = config.certificate_store();
    domain.settings.keys.iter().any(|key| matches!(stored(&store, domain, *key), Ok(Some(_))))
}

/// The validity of a certificate in PEM, if it is for all `names`.
pub fn of_chain(chain: &str, names: &[String]) -> Option<Validity> {
    let leaf = CertificateDer::from_pem_slice(chain.as_bytes()).ok()?;
    let parsed = ParsedCertificate::try_from(&leaf).ok()?;
    let is_for = |name: &String| {
        ServerName::try_from(name.as_str()).is_ok_and(|name| rustls::client::verify_server_name(&parsed, &name).is_ok())
    };
    if !names.iter().all(is_for) {
        return None;
    }
    let certificate = x509_cert::Certificate::from_der(&leaf).ok()?;
    let validity = certificate.tbs_certificate().validity();
    Some(Validity { from: validity.not_before.to_system_time(), until: validity.not_after.to_system_time() })
}
