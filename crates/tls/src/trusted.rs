//! Authorities that directories and databases are trusted by.

use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

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

fn add(roots: &mut RootCertStore, file: &Path, directive: &str) -> Result<(), String> {
    let (_, bytes) =
        regular::read(file, MAX_BYTES).map_err(|error| format!("{directive} {}: {error}", file.display()))?;
    let found = CertificateDer::pem_slice_iter(&bytes).flatten().collect::<Vec<_>>();
    match roots.add_parsable_certificates(found) {
        (0, _) => Err(format!("{directive} {} contains no certificate: expected PEM", file.display())),
        _ => Ok(()),
    }
}
