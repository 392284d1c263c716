//! The authorities of a host and their lists of revoked certificates, parsed once for each configuration.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::SystemTime;

use rustls::DistinguishedName;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, TrustAnchor};
use webpki::{CertRevocationList, OwnedCertRevocationList, anchor_from_trusted_cert};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};

use super::ClientFiles;
use super::fields::{is_self_issued, updates};
use crate::pem_files::complaint;
use config::ConfigError;
use config::tls::NamedFile;
use config::tls::client_auth::{AskedCertificate, ClientAuth, RevocationCheck, RevocationDepth};

/// Maximum number of bytes of the names of authorities in a handshake. Clients limit the length of the message.
const MAX_NAMES_BYTES: usize = 48 << 10;

/// How a host checks certificates of clients.
#[derive(Debug)]
pub struct ClientTrust {
    /// Whether the handshake or only places refuse a certificate.
    pub asked: AskedCertificate,
    /// `SSLCARevocationCheck`
    pub check: RevocationCheck,
    /// The authorities of the host.
    pub authorities: Arc<Authorities>,
}

/// The files of a host about certificates of clients.
pub struct Authorities {
    /// Self-signed certificates: a chain must end in one of them, as with OpenSSL.
    pub(super) roots: Vec<CertificateDer<'static>>,
    /// The same for the verifier.
    pub(super) anchors: Vec<TrustAnchor<'static>>,
    /// The other certificates, which complete the chains of clients.
    pub(super) intermediates: Vec<CertificateDer<'static>>,
    /// Names that the handshake sends to clients.
    pub(super) names: Vec<DistinguishedName>,
    /// Lists of revoked certificates, newest first: the verifier takes the first one of an authority.
    pub(super) revoked: Vec<RevocationList>,
}

/// A list of revoked certificates.
pub(super) struct RevocationList {
    pub list: CertRevocationList<'static>,
    /// When the authority made it.
    made: Option<SystemTime>,
    /// When the next one is due.
    next: Option<SystemTime>,
}

impl RevocationList {
    /// Whether the next list is not due yet.
    pub fn is_current(&self, now: SystemTime) -> bool {
        self.next.is_none_or(|next| next >= now)
    }
}

/// Omits the contents, which may be large.
impl std::fmt::Debug for Authorities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorities").field("roots", &self.roots.len()).finish_non_exhaustive()
    }
}

impl Authorities {
    /// Parses the files of a host. Returns warnings, too.
    pub fn new(files: &ClientFiles, clients: &ClientAuth) -> Result<(Authorities, Vec<ConfigError>), ConfigError> {
        let mut warnings = Vec::new();
        let certificates = certificates(files, clients.of_authorities())?;
        let of_names = certificates_of_names(files, clients)?;
        let names = names(of_names.as_ref().unwrap_or(&certificates));
        let length: usize = names.iter().map(|name| name.as_ref().len()).sum();
        if length > MAX_NAMES_BYTES {
            let file = clients.of_names().chain(clients.of_authorities()).next();
            warnings.extend(file.map(|file| complaint(file, &unsent(names.len(), length))));
        }
        let (roots, intermediates): (Vec<_>, Vec<_>) = certificates.into_iter().partition(is_self_issued);
        let anchors = roots.iter().filter_map(|root| Some(anchor_from_trusted_cert(root).ok()?.to_owned())).collect();
        let mut revoked = Vec::new();
        if clients.revocation_check().depth != RevocationDepth::None {
            for file in clients.of_revoked() {
                revoked.extend(lists(files, file, &mut warnings)?);
            }
        }
        revoked.sort_by_key(|it: &RevocationList| Reverse(it.made));
        let names = if length > MAX_NAMES_BYTES { Vec::new() } else { names };
        Ok((Authorities { roots, anchors, intermediates, names, revoked }, warnings))
    }

    /// Whether a certificate of a client can be valid.
    pub fn has_roots(&self) -> bool {
        !self.anchors.is_empty()
    }
}

fn unsent(count: usize, length: usize) -> String {
    format!(
        "has {count} authorities whose names have {length} bytes, more than the {MAX_NAMES_BYTES} that a handshake sends: none \
         is sent, and clients choose a certificate without them; name fewer with SSLCADNRequestFile"
    )
}

/// The certificates of files that must each contain one.
fn certificates<'a>(
    files: &ClientFiles,
    named: impl Iterator<Item = &'a NamedFile>,
) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let mut all: Vec<CertificateDer<'static>> = Vec::new();
    for file in named {
        let found = CertificateDer::pem_slice_iter(files.0.text(&file.path).as_bytes()).flatten();
        let usable: Vec<_> = found.filter(|it| Certificate::from_der(it).is_ok()).collect();
        if usable.is_empty() {
            return Err(complaint(file, "contains no certificate that can be used: expected PEM"));
        }
        all.extend(usable);
    }
    all.sort_by(|one, other| one.as_ref().cmp(other.as_ref()));
    all.dedup();
    Ok(all)
}

fn certificates_of_names(
    files: &ClientFiles,
    clients: &ClientAuth,
) -> Result<Option<Vec<CertificateDer<'static>>>, ConfigError> {
    let is_set = clients.of_names().next().is_some();
    is_set.then(|| certificates(files, clients.of_names())).transpose()
}

/// The subjects of certificates, each once.
fn names(certificates: &[CertificateDer<'static>]) -> Vec<DistinguishedName> {
    let subject =
        |it: &CertificateDer<'static>| Certificate::from_der(it).ok()?.tbs_certificate().subject().to_der().ok();
    let mut names: Vec<Vec<u8>> = certificates.iter().filter_map(subject).collect();
    names.sort();
    names.dedup();
    names.into_iter().map(DistinguishedName::from).collect()
}

/// The lists of revoked certificates in a file. A list that cannot be used is an error: its certificates would be
/// valid.
fn lists(
    files: &ClientFiles,
    file: &NamedFile,
    warnings: &mut Vec<ConfigError>,
) -> Result<Vec<RevocationList>, ConfigError> {
    let mut found = Vec::new();
    for list in CertificateRevocationListDer::pem_slice_iter(files.0.text(&file.path).as_bytes()) {
        let list =
            list.map_err(|error| complaint(file, &format!("contains an invalid list ({error}): expected PEM")))?;
        let parsed = OwnedCertRevocationList::from_der(&list).map_err(|error| complaint(file, &unusable(&error)))?;
        let [made, next] = updates(&list);
        if let Some(end) = next.filter(|end| *end < SystemTime::now()) {
            let end = chrono::DateTime::<chrono::Utc>::from(end).format("%Y-%m-%d");
            warnings.push(complaint(
                file,
                &format!(
                    "contains a list that expired on {end}: certificates of its authority are refused; get a new one"
                ),
            ));
        }
        found.push(RevocationList { list: CertRevocationList::Owned(parsed), made, next });
    }
    if found.is_empty() {
        return Err(complaint(
            file,
            "contains no list of revoked certificates: expected PEM, which begins with -----BEGIN X509 CRL-----",
        ));
    }
    Ok(found)
}

fn unusable(error: &webpki::Error) -> String {
    match error {
        webpki::Error::UnsupportedCrlVersion => {
            "contains a list of version 1, which is not supported; make one of version 2 (crl_extensions of openssl.cnf)".to_owned()
        }
        error => format!("contains a list that cannot be used: {error:?}"),
    }
}
