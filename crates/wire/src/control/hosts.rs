//! Virtual hosts in the status of the front.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Finished requests of a virtual host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStatus {
    /// `ServerName`; empty for hosts without one.
    pub name: String,
    /// Finished requests by class of their status: `1xx` to `5xx`.
    pub classes: BTreeMap<String, u64>,
    /// Bytes of response bodies.
    pub bytes: u64,
    /// Sum of the durations, in µs.
    pub took_us: u64,
}

/// A certificate that the server presents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateStatus {
    /// `ServerName` of the virtual host; empty for a host without one.
    pub host: String,
    /// End of the validity, in seconds since 1970.
    pub expires_s: u64,
}
