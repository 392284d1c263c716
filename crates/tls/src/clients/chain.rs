//! Verification of a chain: from the client's certificate to an authority, with the lists of revoked certificates.

use std::time::{Duration, UNIX_EPOCH};

use rustls::CertificateError;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, UnixTime};
use webpki::{
    CertRevocationList, EndEntityCert, Error, ExpirationPolicy, KeyUsage, RevocationCheckDepth, RevocationOptions,
    RevocationOptionsBuilder, UnknownStatusPolicy,
};
use x509_cert::Certificate;
use x509_cert::der::asn1::AnyRef;
use x509_cert::der::{Decode, Encode};

use super::fields::is_self_issued;
use super::{ClientTrust, Rejection, Verdict};
use config::tls::client_auth::{ClientVerify, MAX_DEPTH, RevocationDepth};

/// Maximum number of certificates behind the client's own that are looked at. More would only cost signatures: a chain
/// has at most six.
pub const MAX_SENT: usize = 10;

impl ClientTrust {
    /// Checks a client's certificate. `intermediates` are those that the client has sent. The number of signatures that
    /// are checked is limited by the verifier.
    pub fn judge(&self, leaf: &CertificateDer<'_>, intermediates: &[CertificateDer<'_>], now: UnixTime) -> Verdict {
        let verdict = match self.verified_depth(leaf, intermediates, now) {
            // A root that signs itself is no authority above itself.
            Ok(_) if self.is_root(leaf) => Verdict::Valid { depth: 0 },
            Ok(depth) => Verdict::Valid { depth },
            Err(Error::CaUsedAsEndEntity | Error::UnknownIssuer) if is_self_issued(leaf) => self.self_signed(leaf, now),
            Err(Error::UnknownIssuer) if intermediates.iter().any(is_self_issued) => Verdict::Untrusted(
                Rejection::new("self-signed certificate in certificate chain", CertificateError::UnknownIssuer),
            ),
            Err(Error::UnknownIssuer) => Verdict::Untrusted(Rejection::new(
                "unable to get local issuer certificate",
                CertificateError::UnknownIssuer,
            )),
            Err(error) => Verdict::Invalid(rejection(&error)),
        };
        match verdict.refused_by(ClientVerify::OptionalNoCa, self.asked.depth) {
            Some(rejection) => Verdict::Invalid(rejection),
            None => verdict,
        }
    }

    /// Why a connection ends after its handshake, if it does. `None` as verdict: the client has no certificate.
    pub fn refusal(&self, verdict: Option<&Verdict>) -> Option<String> {
        match verdict {
            None if self.asked.enforced == ClientVerify::Require => Some("the client has no certificate".to_owned()),
            None => None,
            Some(verdict) => {
                let rejection = self.refused(verdict)?;
                Some(format!("the client's certificate is refused: {}", rejection.reason))
            }
        }
    }

    /// Why the handshake fails, if it does.
    pub fn refused(&self, verdict: &Verdict) -> Option<Rejection> {
        let enforced = self.asked.enforced;
        if enforced == ClientVerify::None { None } else { verdict.refused_by(enforced, self.asked.depth) }
    }

    fn is_root(&self, leaf: &CertificateDer<'_>) -> bool {
        self.authorities.roots.iter().any(|root| **root == **leaf)
    }

    /// Number of certificates above the client's.
    fn verified_depth(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<u8, Error> {
        let end_entity = EndEntityCert::try_from(leaf)?;
        let ours = &self.authorities.intermediates;
        let all: Vec<CertificateDer<'_>> =
            intermediates.iter().take(MAX_SENT).chain(ours).map(|it| CertificateDer::from_slice(it)).collect();
        let lists: Vec<&CertRevocationList<'_>> = self.authorities.revoked.iter().map(|it| &it.list).collect();
        let algorithms = ring::default_provider().signature_verification_algorithms.all;
        let path = end_entity.verify_for_usage(
            algorithms,
            &self.authorities.anchors,
            &all,
            now,
            KeyUsage::client_auth(),
            self.revocation(&lists),
            None,
        )?;
        Ok(u8::try_from(path.intermediate_certificates().count()).unwrap_or(MAX_DEPTH).saturating_add(1))
    }

    fn revocation<'a>(&self, lists: &'a [&'a CertRevocationList<'a>]) -> Option<RevocationOptions<'a>> {
        let depth = match self.check.depth {
            RevocationDepth::None => return None,
            RevocationDepth::Leaf => RevocationCheckDepth::EndEntity,
            RevocationDepth::Chain => RevocationCheckDepth::Chain,
        };
        let unknown = match self.check.list_may_be_missing {
            true => UnknownStatusPolicy::Allow,
            false => UnknownStatusPolicy::Deny,
        };
        let builder = RevocationOptionsBuilder::new(lists).ok()?;
        Some(
            builder
                .with_depth(depth)
                .with_status_policy(unknown)
                .with_expiration_policy(ExpirationPolicy::Enforce)
                .build(),
        )
    }

    /// A self-signed certificate is valid if it is itself one of the authorities, as with OpenSSL.
    fn self_signed(&self, leaf: &CertificateDer<'_>, now: UnixTime) -> Verdict {
        let Ok(certificate) = Certificate::from_der(leaf) else { return Verdict::Invalid(rejection(&Error::BadDer)) };
        let body = certificate.tbs_certificate();
        let now = UNIX_EPOCH + Duration::from_secs(now.as_secs());
        if body.validity().not_after.to_system_time() < now {
            return Verdict::Invalid(Rejection::new("certificate has expired", CertificateError::Expired));
        }
        if body.validity().not_before.to_system_time() > now {
            return Verdict::Invalid(Rejection::new("certificate is not yet valid", CertificateError::NotValidYet));
        }
        if !self.is_root(leaf) {
            return Verdict::Untrusted(Rejection::new("self-signed certificate", CertificateError::UnknownIssuer));
        }
        let name = body.issuer().to_der().unwrap_or_default();
        let name = AnyRef::from_der(&name).map(|name| name.value()).unwrap_or_default();
        let of_it = self.authorities.revoked.iter().filter(|it| it.list.issuer() == name);
        let (mut is_listed, mut has_current) = (false, false);
        for it in of_it {
            is_listed = true;
            has_current |= it.is_current(now);
            if !matches!(it.list.find_serial(body.serial_number().as_bytes()), Ok(None)) {
                return Verdict::Invalid(rejection(&Error::CertRevoked));
            }
        }
        if is_listed && !has_current {
            return Verdict::Invalid(Rejection::new("CRL has expired", CertificateError::UnknownRevocationStatus));
        }
        match self.check.depth != RevocationDepth::None && !is_listed && !self.check.list_may_be_missing {
            true => Verdict::Invalid(rejection(&Error::UnknownRevocationStatus)),
            false => Verdict::Valid { depth: 0 },
        }
    }
}

/// An error of the verifier in OpenSSL's words, where OpenSSL has the same error.
fn rejection(error: &Error) -> Rejection {
    let (reason, alert) = match error {
        Error::CertExpired { .. } => ("certificate has expired", CertificateError::Expired),
        Error::CertNotValidYet { .. } => ("certificate is not yet valid", CertificateError::NotValidYet),
        Error::CertRevoked => ("certificate revoked", CertificateError::Revoked),
        Error::UnknownRevocationStatus => ("unable to get certificate CRL", CertificateError::UnknownRevocationStatus),
        Error::CrlExpired { .. } => ("CRL has expired", CertificateError::UnknownRevocationStatus),
        Error::InvalidCrlSignatureForPublicKey => ("CRL signature failure", CertificateError::UnknownRevocationStatus),
        Error::InvalidSignatureForPublicKey => ("certificate signature failure", CertificateError::BadSignature),
        Error::RequiredEkuNotFoundContext(_) => ("unsuitable certificate purpose", CertificateError::InvalidPurpose),
        Error::MaximumPathDepthExceeded
        | Error::MaximumPathBuildCallsExceeded
        | Error::MaximumSignatureChecksExceeded => {
            ("certificate chain too long", CertificateError::ApplicationVerificationFailure)
        }
        Error::PathLenConstraintViolated => {
            ("path length constraint exceeded", CertificateError::ApplicationVerificationFailure)
        }
        error => {
            let reason = format!("the certificate cannot be used ({error:?})").into();
            return Rejection { reason, error: CertificateError::BadEncoding };
        }
    };
    Rejection::new(reason, alert)
}
