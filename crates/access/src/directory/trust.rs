//! TLS towards directories: whose certificates are trusted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::access::LdapServer;
use config::regular;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tls::BackendVerifier;

/// The authorities of the system, as Debian's package ca-certificates writes them.
const SYSTEM: &str = "/etc/ssl/certs/ca-certificates.crt";
/// Maximum size of a file of authorities in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// `LDAPVerifyServerCert Off`: a certificate need only belong to the key.
const ANY_CERTIFICATE: BackendVerifier = BackendVerifier { roots: None, name: false, expire: false };

/// Settings of a connection. Read for each new connection, because the files may have changed.
pub fn client(server: &LdapServer) -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(match server.verify {
        true => builder.with_root_certificates(authorities(&server.authorities)?).with_no_client_auth(),
        false => builder.dangerous().with_custom_certificate_verifier(Arc::new(ANY_CERTIFICATE)).with_no_client_auth(),
    })
}

fn authorities(files: &[PathBuf]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    match files {
        [] => add(&mut roots, Path::new(SYSTEM), "there is no LDAPTrustedGlobalCert, and the system's file")?,
        files => files.iter().try_for_each(|file| add(&mut roots, file, "LDAPTrustedGlobalCert"))?,
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
