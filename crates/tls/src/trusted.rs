//! Authorities that directories and databases are trusted by, and the certificate that a directory asks for.

use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::identity::private_key;
use config::regular;

/// The authorities of the system, as Debian's package ca-certificates writes them.
const SYSTEM: &str = "/etc/ssl/certs/ca-certificates.crt";
/// Maximum size of a file of authorities in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The authorities in these files, which `directive` names; those of the system without a file.
pub fn trusted(files: &[PathBuf], directive: &str) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    match files {
        [] => add(&mut roots, Path::new(SYSTEM), &format!("there is no {directive}, and the system's file"))?,
        files => files.iter().try_for_each(|file| add(&mut roots, file, directive))?,
    }
    Ok(roots)
}

/// The certificates in a file and the key in another or the same one, in PEM. The error begins with the file's path.
pub fn own_certificate(
    certificate: &Path,
    key: &Path,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), String> {
    let text = |path: &Path| {
        let read = regular::read(path, MAX_BYTES).map_err(|error| format!("{}: {error}", path.display()));
        read.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned())
    };
    let chain: Vec<_> = CertificateDer::pem_slice_iter(text(certificate)?.as_bytes()).flatten().collect();
    if chain.is_empty() {
        return Err(format!("{} contains no certificate: expected PEM", certificate.display()));
    }
    let key_text = text(key)?;
    let found = private_key(&key_text)
        .map_err(|_| format!("{} contains no key that can be used: expected PEM without a password", key.display()));
    Ok((chain, found?))
}

fn add(roots: &mut RootCertStore, file: &Path, directive: &str) -> Result<(), String> {
    let (_, bytes) =
        regular::read(file, MAX_BYTES).map_err(|error| format!("{directive} {}: {error}", file.display()))?;
    let found = CertificateDer::pem_slice_iter(&bytes).flatten().collect::<Vec<_>>();
    match roots.add_parsable_certificates(found) {
        (0, _) => Err(format!("{directive} {} contains no certificate: expected PEM", file.display())),
        _ => Ok(()),
    }
}
