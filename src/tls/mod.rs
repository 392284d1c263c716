//! TLS: what hosts prove themselves with (read and checked by the master, who is root), and how they speak (used by the
//! front). No sockets here, and no protocol: that is rustls' work.

pub mod development;
pub mod identity;
pub mod names;
pub mod server;
pub mod sessions;
pub mod staple;

pub use identity::Identity;
pub use server::Servers;
pub use sessions::Sessions;

use crate::config::{Config, ConfigError};

/// What the hosts of a configuration prove themselves with, and what is odd about it; or all that is wrong.
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
