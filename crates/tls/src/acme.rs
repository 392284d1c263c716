//! The messages between the master and the process that gets certificates from authorities by ACME.
//!
//! ```text
//!   master ── Work ──▶ acme           the domains whose certificates are due; one process for each such list
//!          ◀─ Account ─               a new account with an authority: the master stores it
//!          ◀─ Challenges              the front is to answer these
//!          ── Placed ─▶               it does
//!          ◀─ Issued, Failed          for each domain; after the last one the process ends
//! ```

use serde::{Deserialize, Serialize};
use wire::control::{Challenge, ChallengeType};

use config::tls::http_proxy::HttpProxy;
use config::tls::managed::KeyType;
use sys::privileges::Account;

/// Maximum length of an error in characters. An authority's answers have up to 1 MiB.
const MAX_ERROR_CHARS: usize = 300;

/// Cuts an error that contains an authority's own words to 300 characters, for logs and the status.
pub fn shorten(error: &str) -> String {
    match error.char_indices().nth(MAX_ERROR_CHARS) {
        Some((end, _)) => format!("{}…", error.get(..end).unwrap_or_default()),
        None => error.to_owned(),
    }
}

/// Messages to the process.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToAcme {
    /// The first message. Descriptor: a memfd with a [`AcmeJob`].
    Work,
    /// The front answers the challenges.
    Placed {
        /// Number of the list.
        serial: u64,
    },
}

/// Messages from the process.
#[derive(Serialize, Deserialize)]
pub enum FromAcme {
    /// A new account with an authority.
    Account {
        /// URL of the authority's directory.
        authority: String,
        /// The account with its key, as JSON.
        credentials: String,
    },
    /// All challenges that are to be answered now.
    Challenges {
        /// Number of the list, from 1.
        serial: u64,
        /// None, once an order has ended.
        challenges: Vec<Challenge>,
    },
    /// New certificates of a domain.
    Issued {
        /// The first of its names.
        domain: String,
        /// A certificate for each key type.
        certificates: Vec<IssuedCertificate>,
    },
    /// No certificate could be got.
    Failed {
        /// The first name of the domain.
        domain: String,
        /// The reason.
        error: String,
        /// The wait that the authority asks for, in seconds.
        retry_after_s: Option<u64>,
    },
}

/// Omits keys and accounts, which must not appear in a log.
impl std::fmt::Debug for FromAcme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FromAcme::Account { .. } => "Account",
            FromAcme::Challenges { .. } => "Challenges",
            FromAcme::Issued { .. } => "Issued",
            FromAcme::Failed { .. } => "Failed",
        })
    }
}

/// A certificate from an authority.
#[derive(Serialize, Deserialize)]
pub struct IssuedCertificate {
    /// As the configuration wants it.
    pub key_type: KeyType,
    /// PEM: the certificate, then intermediate certificates.
    pub chain: String,
    /// PEM: the private key.
    pub key: String,
}

/// The work of a process.
#[derive(Serialize, Deserialize)]
pub struct AcmeJob {
    /// The account that the process switches to before it sends anything.
    pub user: Option<Account>,
    /// PEM: authorities that may sign the certificates of the authorities' servers; `None`: those of the system.
    pub trust: Option<String>,
    /// The proxy through which the authorities are reached.
    pub proxy: Option<HttpProxy>,
    /// Domains whose certificates are due.
    pub domains: Vec<DomainJob>,
}

/// A domain whose certificates are due.
#[derive(Serialize, Deserialize)]
pub struct DomainJob {
    /// The first of its names, for messages.
    pub name: String,
    /// All names of the certificate, in lower case.
    pub names: Vec<String>,
    /// URL of the authority's directory.
    pub authority: String,
    /// The account with the authority, if there is one.
    pub account: Option<String>,
    /// Address of the site's administrator, for the authority.
    pub contact: Option<String>,
    /// An account outside of ACME.
    pub binding: Option<Binding>,
    /// Key types for which certificates are due.
    pub keys: Vec<KeyType>,
    /// Challenges that can be answered, in the order in which they are tried.
    pub challenges: Vec<ChallengeType>,
}

/// `MDExternalAccountBinding`
#[derive(Clone, Serialize, Deserialize)]
pub struct Binding {
    /// The key's identifier.
    #[serde(rename = "kid")]
    pub id: String,
    /// The secret, in base64url.
    pub hmac: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_error_is_cut_between_characters() {
        assert_eq!(shorten("refused"), "refused");
        assert_eq!(shorten(&"ü".repeat(MAX_ERROR_CHARS)), "ü".repeat(MAX_ERROR_CHARS));
        assert_eq!(shorten(&"ü".repeat(1_000_000)), format!("{}…", "ü".repeat(MAX_ERROR_CHARS)));
    }
}
