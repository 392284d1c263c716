//! TLS towards directories: whose certificates are trusted.

use std::sync::Arc;

use config::access::LdapServer;
use rustls::ClientConfig;
use rustls::crypto::ring;
use tls::{BackendVerifier, trusted};

/// `LDAPVerifyServerCert Off`: a certificate need only belong to the key.
const ANY_CERTIFICATE: BackendVerifier = BackendVerifier { roots: None, name: false, expire: false };

/// Settings of a connection. Read for each new connection, because the files may have changed.
pub fn client(server: &LdapServer) -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(match server.verify {
        true => {
            builder.with_root_certificates(trusted(&server.authorities, "LDAPTrustedGlobalCert")?).with_no_client_auth()
        }
        false => builder.dangerous().with_custom_certificate_verifier(Arc::new(ANY_CERTIFICATE)).with_no_client_auth(),
    })
}
