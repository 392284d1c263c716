//! TLS: identities of hosts (read and checked by the master, as root), and their server settings (used by the
//! front). No sockets and no protocol code, which rustls provides.
//!
//! Start at [`read`] for the master, at [`Servers`] for the front.

#![forbid(unsafe_code)]

pub mod development;
pub mod identity;
pub mod names;
pub mod server;
pub mod sessions;
pub mod staple;

pub use identity::Identity;
pub use server::Servers;
pub use sessions::Sessions;

use config::{Config, ConfigError};

/// Reads the identities of all hosts. Returns them with warnings, or all errors.
pub fn read(config: &Config) -> Result<(Vec<Identity>, Vec<ConfigError>), Vec<ConfigError>> {
    let (mut identities, mut warnings, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for (index, host) in (0..).zip(&config.hosts).filter(|(_, host)| host.tls.used) {
        match identity::read(index, host) {
            Ok((mut found, mut odd)) => {
                identities.append(&mut found);
                warnings.append(&mut odd);
            }
            Err(mut wrong) => errors.append(&mut wrong),
        }
    }
    if errors.is_empty() { Ok((identities, warnings)) } else { Err(errors) }
}
