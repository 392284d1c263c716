//! The check of a backend's certificate, by the parts that `SSLProxyVerify`, `SSLProxyCheckPeerName` and
//! `SSLProxyCheckPeerExpire` turn on and off.

use std::time::{Duration, UNIX_EPOCH};

use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, Error, RootCertStore};
use x509_cert::der::Decode;

use crate::signatures::signature_checks;

/// Which parts of a certificate are checked.
#[derive(Debug)]
pub struct BackendVerifier {
    /// Authorities of which one must have signed the certificate; `None`: anybody may have.
    pub roots: Option<RootCertStore>,
    /// Whether the certificate must be valid for the backend's host.
    pub name: bool,
    /// Whether the certificate must be valid now.
    pub expire: bool,
}

impl ServerCertVerifier for BackendVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.expire {
            is_valid_at(end_entity, now)?;
        }
        if self.roots.is_some() || self.name {
            let parsed = ParsedCertificate::try_from(end_entity)?;
            if let Some(roots) = &self.roots {
                let algorithms = ring::default_provider().signature_verification_algorithms.all;
                verify_server_cert_signed_by_trust_anchor(&parsed, roots, intermediates, now, algorithms)?;
            }
            if self.name {
                verify_server_name(&parsed, server_name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    signature_checks!();
}

fn is_valid_at(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let parsed = x509_cert::Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding)?;
    let validity = parsed.tbs_certificate().validity();
    let now = UNIX_EPOCH + Duration::from_secs(now.as_secs());
    if validity.not_after.to_system_time() < now {
        return Err(CertificateError::Expired.into());
    }
    if validity.not_before.to_system_time() > now {
        return Err(CertificateError::NotValidYet.into());
    }
    Ok(())
}
