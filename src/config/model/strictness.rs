//! How strictly a host takes what clients send: `HttpProtocolOptions`, `StrictHostCheck`, `MergeSlashes`, `AllowEncodedSlashes`.

use crate::config::model::access::NUMBERED;
use crate::config::model::merge::{keep, settings};
use crate::path::EncodedSlashes;

settings! {
    /// What a host says; `None`: as the main server.
    #[derive(Clone, Copy, PartialEq, Eq, Default)]
    host struct Strictness {
        /// `StrictHostCheck`: only names that a host is configured with.
        pub known_hosts: Option<bool>, keep;
        /// `HttpProtocolOptions RegisteredMethods`
        pub registered_methods: Option<bool>, keep;
        /// `HttpProtocolOptions Strict`, written out: targets have no bytes but those that browsers send.
        pub plain_targets: Option<bool>, keep;
        /// `MergeSlashes`; default on.
        pub merge_slashes: Option<bool>, keep;
        /// `AllowEncodedSlashes`; default off, for PSGI applications on.
        pub encoded_slashes: Option<EncodedSlashes>, keep;
        /// `SSLStrictSNIVHostCheck`: who speaks TLS must name the host.
        pub named_by_tls: Option<bool>, keep;
    }
}

/// Methods that httpd knows besides those with a number of their own; modules and `RegisterHttpMethod` add to them.
const UNNUMBERED: &[&str] = &[
    "HEAD",
    "VERSION-CONTROL",
    "CHECKOUT",
    "UNCHECKOUT",
    "CHECKIN",
    "UPDATE",
    "LABEL",
    "REPORT",
    "MKWORKSPACE",
    "MKACTIVITY",
    "BASELINE-CONTROL",
    "MERGE",
    "BREW",
    "WHEN",
];

/// Whether it is one of httpd's methods, or one of `more`.
pub fn is_registered(method: &str, more: &[String]) -> bool {
    NUMBERED.contains(&method) || UNNUMBERED.contains(&method) || more.iter().any(|known| known == method)
}
