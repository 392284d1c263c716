//! The host and path of a request.

use crate::base::address::Address;
use config::without_port;

#[derive(Debug, Clone, Copy)]
pub struct RouteKey<'a> {
    pub local: &'a Address,
    /// `Host` header, or host of an absolute target.
    pub host: &'a str,
    /// Path of the target, as sent.
    pub path: &'a str,
}

/// The port in `example.org:80`.
pub fn port(host: &str) -> Option<u16> {
    host.strip_prefix(without_port(host))?.strip_prefix(':')?.parse().ok()
}
