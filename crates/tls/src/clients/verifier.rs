//! The check of a client's certificate in the TLS handshake.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DistinguishedName, Error};

use super::ClientTrust;
use crate::signatures::signature_checks;
use config::tls::client_auth::ClientVerify;

/// Asks for certificates, and fails handshakes as `SSLVerifyClient` of the host demands.
#[derive(Debug)]
pub struct ClientVerifier(pub Arc<ClientTrust>);

impl ClientCertVerifier for ClientVerifier {
    fn client_auth_mandatory(&self) -> bool {
        self.0.asked.enforced == ClientVerify::Require
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.0.authorities.names
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        // A place that refuses the certificate does so later, with 403.
        if self.0.asked.enforced != ClientVerify::None
            && let Some(rejection) = self.0.refused(&self.0.judge(end_entity, intermediates, now))
        {
            return Err(rejection.error.into());
        }
        Ok(ClientCertVerified::assertion())
    }

    signature_checks!();
}
