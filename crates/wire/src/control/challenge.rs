//! Challenges of certificate authorities, which the front answers.

use serde::{Deserialize, Serialize};

/// A way to show an authority that a name leads to this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChallengeType {
    /// A file that the authority reads by HTTP.
    Http01,
    /// A certificate that the authority reads in a TLS handshake.
    TlsAlpn01,
}

impl ChallengeType {
    /// The name in RFC 8555 and RFC 8737.
    pub fn name(self) -> &'static str {
        match self {
            ChallengeType::Http01 => "http-01",
            ChallengeType::TlsAlpn01 => "tls-alpn-01",
        }
    }
}

/// A challenge of an authority, with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    /// The name that the authority checks.
    pub name: String,
    /// How it checks the name.
    pub kind: ChallengeType,
    /// The last part of the path that the authority requests, for `http-01`.
    pub token: String,
    /// Content of the response, for `http-01`.
    pub answer: String,
    /// SHA-256 of the answer, for `tls-alpn-01`.
    pub digest: Vec<u8>,
}
