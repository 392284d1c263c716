//! The lines of certificates in `cameleer status`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use wire::control::{CertificateStatus, FrontStatus};

use base::printable;
use status::ManagedCertificateStatus;
use toolkit::units::duration;

/// Certificates of SSLCertificateFile. Managed domains have lines of their own.
pub fn of_files(status: &status::ServerStatus, front: &FrontStatus, text: &mut String) {
    let managed: BTreeSet<&String> = status.certificates.iter().flat_map(|one| &one.names).collect();
    let own = front.certificates.iter().filter(|one| !managed.contains(&one.host.to_lowercase()));
    for CertificateStatus { host, expires_s } in own {
        let host = if host.is_empty() { "-".into() } else { printable::line(host) };
        let _ = writeln!(text, "certificate {host}  {}", life(*expires_s));
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The time until `at`, in seconds since 1970.
fn left(at: u64) -> String {
    duration(at.saturating_sub(now()).saturating_mul(1000))
}

/// What is left of a certificate that ends at `end`, in seconds since 1970.
fn life(end: u64) -> String {
    if end > now() { format!("good for {}", left(end)) } else { "expired".to_owned() }
}

/// The certificate of a managed domain.
pub fn managed(of: &ManagedCertificateStatus, text: &mut String) {
    let life = of.expires_s.map_or_else(|| "not there yet".to_owned(), life);
    let renewal =
        of.renews_s.filter(|at| *at > now()).map(|at| format!("  renewed in {}", left(at))).unwrap_or_default();
    let _ = writeln!(text, "certificate {}  {life}{renewal}", printable::line(&of.host));
    if let Some(error) = &of.error {
        let _ = writeln!(text, "  {} failed requests, the last one: {}", of.failures, printable::line(error));
    }
}
