//! The host and the path that a request asks for.

use crate::base::address::Address;
use config::without_port;

/// What a route is found by.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Our end of the connection.
    pub local: &'a Address,
    /// The `Host` header, or the host of an absolute target.
    pub host: &'a str,
    /// The target's path, as sent.
    pub path: &'a str,
}

/// The port of `example.org:80`.
pub fn port(host: &str) -> Option<u16> {
    host.strip_prefix(without_port(host))?.strip_prefix(':')?.parse().ok()
}
