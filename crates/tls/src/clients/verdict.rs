//! The result of a check of a client's certificate.

use std::borrow::Cow;

use rustls::CertificateError;

use config::response::ssl::Ssl;
use config::tls::client_auth::ClientVerify;

/// The text of OpenSSL for a chain that `SSLVerifyDepth` does not allow.
const TOO_LONG: &str = "certificate chain too long";

/// Whether the certificate of a client is valid.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// An authority is this number of certificates above it.
    Valid {
        /// Number of certificates above the client's.
        depth: u8,
    },
    /// The authority of the certificate is unknown; nothing else is wrong.
    Untrusted(Rejection),
    /// Expired, revoked, or with another fault.
    Invalid(Rejection),
}

/// Why a certificate is not valid.
#[derive(Debug, Clone)]
pub struct Rejection {
    /// For `SSL_CLIENT_VERIFY`, in OpenSSL's words where it has some.
    pub reason: Cow<'static, str>,
    /// Selects the TLS alert that the client gets.
    pub error: CertificateError,
}

impl Rejection {
    /// The rejection with a reason of OpenSSL.
    pub fn new(reason: &'static str, error: CertificateError) -> Rejection {
        Rejection { reason: reason.into(), error }
    }
}

impl Verdict {
    /// Why a host or place with this `SSLVerifyClient` and `SSLVerifyDepth` refuses the certificate.
    pub fn refused_by(&self, verify: ClientVerify, most: u8) -> Option<Rejection> {
        match self {
            Verdict::Valid { depth } if *depth > most => {
                Some(Rejection::new(TOO_LONG, CertificateError::ApplicationVerificationFailure))
            }
            Verdict::Valid { .. } => None,
            Verdict::Untrusted(_) if verify == ClientVerify::OptionalNoCa => None,
            Verdict::Untrusted(rejection) | Verdict::Invalid(rejection) => Some(rejection.clone()),
        }
    }

    /// Whether the certificate is valid at a place.
    pub fn is_valid_at(&self, place: &Ssl) -> bool {
        matches!(self, Verdict::Valid { depth } if *depth <= place.depth())
    }

    /// `SSL_CLIENT_VERIFY` at a place.
    pub fn text_at(&self, place: &Ssl) -> String {
        match self.refused_by(place.verify(), place.depth()) {
            Some(rejection) => format!("FAILED:{}", rejection.reason),
            None if self.is_valid_at(place) => "SUCCESS".to_owned(),
            None => "GENEROUS".to_owned(),
        }
    }
}
