//! Versions of TLS, as rustls names them.

use rustls::SupportedProtocolVersion;
use rustls::version::{TLS12, TLS13};

use config::tls::Versions;

/// The enabled versions, the newest first.
pub fn versions(versions: Versions) -> Vec<&'static SupportedProtocolVersion> {
    let both = [(versions.tls13, &TLS13), (versions.tls12, &TLS12)];
    both.into_iter().filter(|(spoken, _)| *spoken).map(|(_, version)| version).collect()
}
