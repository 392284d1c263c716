//! What a connection to a store needs from disk: the password and the authorities.

use std::path::PathBuf;
use std::sync::Arc;

use config::{StoreUrl, regular};
use rustls::ClientConfig;
use rustls::crypto::ring;
use tokio_rustls::TlsConnector;

/// Maximum size of a file with a password in bytes.
const MAX_PASSWORD: u64 = 4096;

/// Password and TLS settings of a store, read anew for each connection.
pub struct StoreLogin {
    /// Empty without a password.
    pub password: String,
    /// `None`: the connection has no TLS.
    pub connector: Option<TlsConnector>,
}

impl StoreLogin {
    /// Reads the files that the URL names. It may block on a disk for long. Fails with the reason.
    pub fn read(store: &StoreUrl) -> Result<StoreLogin, String> {
        let connector = store.tls.then(|| connector(store)).transpose()?;
        Ok(StoreLogin { password: password(store)?, connector })
    }
}

/// The certificate of a store must be valid for the host of the URL.
fn connector(store: &StoreUrl) -> Result<TlsConnector, String> {
    let files: Vec<PathBuf> = store.ca_file.iter().cloned().collect();
    let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(tls::trusted(&files, "ca_file")?)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(client)))
}

/// The password, from the URL or its file.
fn password(store: &StoreUrl) -> Result<String, String> {
    let Some(file) = &store.password_file else { return Ok(store.password.0.clone()) };
    let failed = |error: String| format!("password_file {}: {error}", file.display());
    let (_, bytes) = regular::read(file, MAX_PASSWORD).map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| failed("the password is no UTF-8".to_owned()))?;
    match text.lines().next() {
        Some(password) if !password.is_empty() => Ok(password.to_owned()),
        _ => Err(failed("the first line is empty".to_owned())),
    }
}
