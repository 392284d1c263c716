//! TLS: identities of hosts (read and checked by the master, as root), and their server settings (used by the
//! front). No sockets and no protocol code, which rustls provides.
//!
//! Start at [`read`] for the master, at [`Servers`] for the front.

#![forbid(unsafe_code)]

pub mod acme;
pub mod backends;
pub mod challenges;
pub mod clients;
pub mod development;
pub mod identity;
pub mod issued;
pub mod managed;
pub mod names;
mod pem_files;
mod self_signed;
pub mod server;
pub mod sessions;
mod signatures;
pub mod staple;
mod ticket_keys;
mod trusted;
mod verifier;
mod versions;

pub use backends::{Alpn, BackendClients, BackendFiles};
pub use challenges::Challenges;
pub use clients::ClientFiles;
pub use identity::Identity;
pub use server::Servers;
pub use sessions::Sessions;
pub use ticket_keys::TicketKeys;
pub use trusted::{own_certificate, trusted};
pub use verifier::BackendVerifier;

use config::{Config, ConfigError};
use serde::{Deserialize, Serialize};

/// The contents of all files that the configuration names for TLS.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TlsFiles {
    /// Certificates and keys of hosts.
    pub hosts: Vec<Identity>,
    /// Files about certificates of clients.
    pub clients: ClientFiles,
    /// Files for connections to backends.
    pub backends: BackendFiles,
    /// Keys of session tickets.
    #[serde(default)]
    pub tickets: Vec<TicketKeys>,
}

/// Reads all files for TLS. Returns them with warnings, or all errors.
pub fn read(config: &Config) -> Result<(TlsFiles, Vec<ConfigError>), Vec<ConfigError>> {
    let (mut identities, mut warnings, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    let mut tickets = Vec::new();
    for (index, host) in (0..).zip(&config.hosts).filter(|(_, host)| host.tls.used) {
        match TicketKeys::read(index, host) {
            Ok(keys) => tickets.extend(keys),
            Err(wrong) => errors.push(wrong),
        }
        if host.tls.is_managed {
            let (mut found, mut odd) = managed::read(index, host, config);
            identities.append(&mut found);
            warnings.append(&mut odd);
            continue;
        }
        match identity::read(index, host) {
            Ok((mut found, mut odd)) => {
                identities.append(&mut found);
                warnings.append(&mut odd);
            }
            Err(mut wrong) => errors.append(&mut wrong),
        }
    }
    let (clients, mut odd, mut wrong) = ClientFiles::read(config);
    warnings.append(&mut odd);
    errors.append(&mut wrong);
    let backends = BackendFiles::read(config).unwrap_or_else(|mut wrong| {
        errors.append(&mut wrong);
        BackendFiles::default()
    });
    // Hosts that inherit a wrong file of the main server report the same.
    errors.dedup();
    let files = TlsFiles { hosts: identities, clients, backends, tickets };
    if errors.is_empty() { Ok((files, warnings)) } else { Err(errors) }
}
