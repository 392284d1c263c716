//! Certificates and keys: from files to rustls' signing keys.

use std::time::SystemTime;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use serde::{Deserialize, Serialize};
use x509_cert::der::Decode;

use super::self_signed;
use super::staple::Good;
use config::tls::NamedFile;
use config::{ConfigError, Host, regular};

/// Maximum size of a certificate, key or chain file, in bytes.
pub(super) const MAX_BYTES: u64 = 16 << 20;

/// A certificate of a host with its key, as file contents, so that it can be sent to the front.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Index of the host of the certificate.
    pub host: u16,
    /// PEM: the certificate, then intermediate certificates.
    chain: String,
    /// PEM: the private key.
    key: String,
    /// DER: an OCSP response.
    staple: Option<Vec<u8>>,
    /// Names of a managed domain without a certificate: a self-signed one is made, and chain and key are empty.
    #[serde(default)]
    fallback: Vec<String>,
}

/// Omits the key, which must not appear in a log.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Identity {
    /// A certificate and its key, in PEM.
    pub(super) fn of(host: u16, chain: String, key: String) -> Identity {
        Identity { host, chain, key, staple: None, fallback: Vec::new() }
    }

    /// Stands for a certificate that is not there yet.
    pub(super) fn fallback(host: u16, names: Vec<String>) -> Identity {
        Identity { fallback: names, ..Identity::of(host, String::new(), String::new()) }
    }

    /// Whether this stands for a certificate that is not there yet.
    pub fn is_fallback(&self) -> bool {
        !self.fallback.is_empty()
    }

    /// Converts to rustls' form. The error names the wrong file and the problem.
    pub fn certified(&self) -> Result<CertifiedKey, Wrong> {
        if self.is_fallback() {
            let wrong = |error: String| Wrong::Certificate(format!("cannot be made: {error}"));
            let (certificate, key) =
                self_signed::certificate(&self.fallback, Vec::new()).map_err(|error| wrong(error.to_string()))?;
            let certified = CertifiedKey::from_der(vec![certificate], key, &ring::default_provider());
            return certified.map_err(|error| wrong(error.to_string()));
        }
        let chain: Vec<_> = CertificateDer::pem_slice_iter(self.chain.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|error| Wrong::Certificate(format!("contains an invalid certificate ({error}): expected PEM")))?;
        if chain.is_empty() {
            return Err(Wrong::Certificate(
                "contains no certificate: expected PEM, which begins with -----BEGIN CERTIFICATE-----".to_owned(),
            ));
        }
        let certified = CertifiedKey::from_der(chain, private_key(&self.key)?, &ring::default_provider());
        let mut certified = certified.map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                Wrong::Key("is the key of another certificate; use the certificate's own key".to_owned())
            }
            rustls::Error::InvalidCertificate(error) => Wrong::Certificate(format!("cannot be used: {error:?}")),
            error => Wrong::Key(format!("cannot be used: {error}")),
        })?;
        certified.ocsp.clone_from(&self.staple);
        Ok(certified)
    }

    /// Validity of the OCSP response.
    pub fn staple_is_good(&self) -> Good {
        self.staple.as_deref().map_or(Good::Never, Good::of)
    }
}

/// Whether certificate and key, in PEM, belong together and can be used.
pub fn fit(chain: &str, key: &str) -> bool {
    Identity::of(0, chain.to_owned(), key.to_owned()).certified().is_ok()
}

/// The unusable part of an identity.
#[derive(Debug)]
pub enum Wrong {
    /// The certificate is unusable, for this reason.
    Certificate(String),
    /// The key is unusable, for this reason.
    Key(String),
}

/// The private key in `pem`.
pub fn private_key(pem: &str) -> Result<PrivateKeyDer<'static>, Wrong> {
    if pem.contains("ENCRYPTED") {
        let advice =
            "is protected by a password, which the server cannot enter; remove it with `openssl pkey -in OLD -out NEW`";
        return Err(Wrong::Key(advice.to_owned()));
    }
    PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| {
        Wrong::Key("contains no private key: expected PEM, which begins with -----BEGIN PRIVATE KEY-----".to_owned())
    })
}

type Identities = (Vec<Identity>, Vec<ConfigError>);

/// Reads all identities of a host. Returns them with warnings, or all errors.
pub fn read(index: u16, host: &Host) -> Result<Identities, Vec<ConfigError>> {
    let tls = &host.tls;
    let (mut found, mut odd, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for (number, certificate) in tls.certificates.iter().enumerate() {
        let key = tls.keys.get(number).unwrap_or(certificate);
        match read_one(index, host, certificate, key) {
            Ok((identity, warnings)) => {
                found.push(identity);
                odd.extend(warnings);
            }
            Err(error) => wrong.push(error),
        }
    }
    if wrong.is_empty() { Ok((found, odd)) } else { Err(wrong) }
}

fn read_one(
    index: u16,
    host: &Host,
    certificate: &NamedFile,
    key: &NamedFile,
) -> Result<(Identity, Vec<ConfigError>), ConfigError> {
    let mut chain = text(certificate)?;
    if let Some(more) = &host.tls.chain {
        chain.push('\n');
        chain.push_str(&text(more)?);
    }
    let staple = host.tls.staple.as_ref().map(bytes).transpose()?;
    let identity = Identity { staple, ..Identity::of(index, chain, text(key)?) };
    let certified = identity.certified().map_err(|wrong| match wrong {
        Wrong::Certificate(why) => config_error(certificate, &why),
        Wrong::Key(why) => config_error(key, &why),
    })?;
    let odd = certified.cert.first().map(|leaf| oddities(leaf, host)).unwrap_or_default();
    let mut odd: Vec<ConfigError> = odd.iter().map(|odd| config_error(certificate, odd)).collect();
    odd.extend(host.tls.staple.as_ref().and_then(|file| Some(config_error(file, stale(identity.staple_is_good())?))));
    Ok((identity, odd))
}

fn stale(good: Good) -> Option<&'static str> {
    match good {
        Good::Never => {
            Some("contains no valid OCSP response, and is not sent: expected DER, as `openssl ocsp -respout` writes it")
        }
        good if !good.is_good(SystemTime::now()) => Some("has expired, and is not sent; get a new one"),
        _ => None,
    }
}

/// End of a certificate's validity, in seconds since 1970.
pub fn expiry(leaf: &CertificateDer<'_>) -> Option<u64> {
    let certificate = x509_cert::Certificate::from_der(leaf).ok()?;
    Some(certificate.tbs_certificate().validity().not_after.to_unix_duration().as_secs())
}

/// Warnings about properties that browsers reject.
fn oddities(leaf: &CertificateDer<'_>, host: &Host) -> Vec<String> {
    let mut odd = Vec::new();
    if let Ok(certificate) = x509_cert::Certificate::from_der(leaf) {
        let validity = certificate.tbs_certificate().validity();
        let now = SystemTime::now();
        if validity.not_after.to_system_time() < now {
            odd.push(format!("expired on {}: browsers refuse it", validity.not_after));
        }
        if validity.not_before.to_system_time() > now {
            odd.push(format!("is not valid before {}: browsers refuse it", validity.not_before));
        }
    }
    if let (Some(name), Ok(parsed)) = (&host.server_name, ParsedCertificate::try_from(leaf))
        && let Ok(server) = ServerName::try_from(name.as_str())
        && rustls::client::verify_server_name(&parsed, &server).is_err()
    {
        odd.push(format!("is not valid for ServerName {name}: browsers refuse it there"));
    }
    odd
}

fn text(file: &NamedFile) -> Result<String, ConfigError> {
    // Text between PEM blocks may have any encoding.
    Ok(String::from_utf8_lossy(&bytes(file)?).into_owned())
}

fn bytes(file: &NamedFile) -> Result<Vec<u8>, ConfigError> {
    let read = regular::read(&file.path, MAX_BYTES).map_err(|error| {
        config_error(file, &format!("cannot be read: {error}; correct the path, or make it readable"))
    });
    read.map(|(_, bytes)| bytes)
}

fn config_error(file: &NamedFile, why: &str) -> ConfigError {
    ConfigError { at: Some(file.at.clone()), message: format!("{}: {} {why}", file.directive, file.path.display()) }
}
