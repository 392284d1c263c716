//! TLS towards directories: whose certificates are trusted, and the server's own.

use std::sync::Arc;

use config::access::LdapServer;
use rustls::ClientConfig;
use rustls::crypto::ring;
use tls::{BackendVerifier, own_certificate, trusted};

/// `LDAPVerifyServerCert Off`: a certificate need only belong to the key.
const ANY_CERTIFICATE: BackendVerifier = BackendVerifier { roots: None, name: false, expire: false };

/// Settings of a connection. Read for each new connection, because the files may have changed.
pub fn client(server: &LdapServer) -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match server.verify {
        true => builder.with_root_certificates(trusted(&server.authorities, "LDAPTrustedGlobalCert")?),
        false => builder.dangerous().with_custom_certificate_verifier(Arc::new(ANY_CERTIFICATE)),
    };
    let certificate = match (&server.own.certificate, &server.own.key) {
        (Some(certificate), _) => certificate,
        (None, None) => return Ok(builder.with_no_client_auth()),
        (None, Some(key)) => {
            let key = key.display();
            return Err(format!("LDAPTrustedClientCert KEY_BASE64 {key} has no certificate; add CERT_BASE64"));
        }
    };
    let key = server.own.key.as_ref().unwrap_or(certificate);
    let (chain, key) = own_certificate(certificate, key).map_err(|why| format!("LDAPTrustedClientCert {why}"))?;
    builder.with_client_auth_cert(chain, key).map_err(|error| format!("LDAPTrustedClientCert: {error}"))
}
