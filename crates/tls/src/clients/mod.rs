//! Certificates of clients: the files that decide about them, the check in the handshake, and its result.
//!
//! ```text
//!   master: ClientFiles ──▶ front: Authorities ──▶ ClientTrust of a host ─▶ ClientVerifier in the handshake
//!                                                        └─▶ ClientCertificate with its Verdict, for requests
//! ```

mod authorities;
mod certificate;
mod chain;
mod fields;
mod verdict;
mod verifier;

use serde::{Deserialize, Serialize};

pub use authorities::{Authorities, ClientTrust};
pub use certificate::ClientCertificate;
pub use verdict::{Rejection, Verdict};
pub use verifier::ClientVerifier;

use super::pem_files::{PemFiles, complaint};
use config::tls::client_auth::{ClientAuth, ClientVerify};
use config::{Config, ConfigError};

/// The contents of the files that `SSLCA…` names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClientFiles(PemFiles);

impl ClientFiles {
    /// Reads the files of all hosts that ask for certificates. Returns them with warnings and errors.
    pub fn read(config: &Config) -> (ClientFiles, Vec<ConfigError>, Vec<ConfigError>) {
        let (mut files, mut warnings, mut errors) = (ClientFiles::default(), Vec::new(), Vec::new());
        let mut known: Vec<&ClientAuth> = Vec::new();
        for clients in config.hosts.iter().map(|host| &host.tls.clients).filter(|clients| clients.asked.is_some()) {
            if known.contains(&clients) {
                continue;
            }
            known.push(clients);
            let unread: Vec<ConfigError> = clients.files().filter_map(|file| files.0.read(file).err()).collect();
            if !unread.is_empty() {
                errors.extend(unread);
                continue;
            }
            match Authorities::new(&files, clients) {
                Ok((authorities, odd)) => {
                    warnings.extend(odd);
                    warnings.extend(without_authorities(clients, &authorities));
                }
                Err(wrong) => errors.push(wrong),
            }
        }
        errors.dedup();
        warnings.dedup();
        (files, warnings, errors)
    }
}

/// A warning if no certificate of a client can be valid.
fn without_authorities(clients: &ClientAuth, authorities: &Authorities) -> Option<ConfigError> {
    let trusts_anybody = clients.asked.is_some_and(|requested| requested.enforced == ClientVerify::OptionalNoCa);
    if authorities.has_roots() || trusts_anybody {
        return None;
    }
    let file = clients.of_authorities().next();
    Some(match file {
        Some(file) => complaint(file, "has no self-signed certificate, so no certificate of a client is valid"),
        None => ConfigError {
            at: None,
            message: "SSLVerifyClient: no certificate of a client is valid without SSLCACertificateFile or SSLCACertificatePath"
                .to_owned(),
        },
    })
}
