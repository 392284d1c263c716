//! TLS client connections.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_rustls::TlsConnector;

use super::plan::ConnectionPlan;

/// The trusted authorities of Debian, Red Hat, SUSE and Alpine.
const SYSTEM: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The TLS connector of a run. With `insecure` it accepts any certificate.
pub fn connector(transport: &ConnectionPlan) -> anyhow::Result<TlsConnector> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let builder = match transport.insecure {
        true => builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
        false => builder.with_root_certificates(authorities(transport.authorities.as_deref())?),
    };
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![if transport.http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
    Ok(TlsConnector::from(Arc::new(config)))
}

fn authorities(own: Option<&Path>) -> anyhow::Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    let system = SYSTEM.iter().find_map(|path| fs::read(path).ok()).unwrap_or_default();
    store.add_parsable_certificates(CertificateDer::pem_slice_iter(&system).flatten());
    if let Some(path) = own {
        let pem = fs::read(path).with_context(|| path.display().to_string())?;
        let (added, _) = store.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem).flatten());
        anyhow::ensure!(added > 0, "{}: contains no certificate", path.display());
    }
    anyhow::ensure!(
        !store.is_empty(),
        "this system has no list of trusted certificate authorities; name one with --cacert, or use --insecure"
    );
    Ok(store)
}

/// `--insecure`: accepts any certificate.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
