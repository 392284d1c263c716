//! How strictly requests of a host are checked: `HttpProtocolOptions`, `StrictHostCheck`, `MergeSlashes`,
//! `AllowEncodedSlashes`.

use crate::model::merge::{keep, settings};
use base::method::NUMBERED;
use base::path::EncodedSlashes;

settings! {
    /// Settings of a host. `None`: the main server's value.
    #[derive(Clone, Copy, PartialEq, Eq, Default)]
    host struct Strictness {
        /// `StrictHostCheck`: requests must name a configured host.
        pub known_hosts: Option<bool>, keep;
        /// `HttpProtocolOptions RegisteredMethods`
        pub registered_methods: Option<bool>, keep;
        /// `HttpProtocolOptions Strict`, if explicit: targets may contain only bytes that browsers send.
        pub plain_targets: Option<bool>, keep;
        /// `MergeSlashes`; default on.
        pub merge_slashes: Option<bool>, keep;
        /// `AllowEncodedSlashes`; default off, for PSGI applications on.
        pub encoded_slashes: Option<EncodedSlashes>, keep;
        /// `SSLStrictSNIVHostCheck`: TLS clients must name the host.
        pub named_by_tls: Option<bool>, keep;
    }
}

/// Registered methods of httpd without a number. Modules and `RegisterHttpMethod` add others.
const UNNUMBERED: &str = "HEAD VERSION-CONTROL CHECKOUT UNCHECKOUT CHECKIN UPDATE LABEL REPORT \
    MKWORKSPACE MKACTIVITY BASELINE-CONTROL MERGE BREW WHEN";

/// Whether `method` is registered in httpd, or contained in `more`.
pub fn is_registered(method: &str, more: &[String]) -> bool {
    let mut known = NUMBERED.split(' ').chain(UNNUMBERED.split(' '));
    known.any(|known| known == method) || more.iter().any(|known| known == method)
}
