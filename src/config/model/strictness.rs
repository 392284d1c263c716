//! How strictly a host takes what clients send: `HttpProtocolOptions`, `StrictHostCheck`, `MergeSlashes`.

/// What a host says; `None`: as the main server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Strictness {
    /// `StrictHostCheck`: only names that a host is configured with.
    pub known_hosts: Option<bool>,
    /// `HttpProtocolOptions RegisteredMethods`
    pub registered_methods: Option<bool>,
    /// `MergeSlashes`; default on.
    pub merge_slashes: Option<bool>,
    /// `SSLStrictSNIVHostCheck`: who speaks TLS must name the host.
    pub named_by_tls: Option<bool>,
}

impl Strictness {
    /// Takes what it does not say itself from `outer`.
    pub fn inherit(&mut self, outer: &Strictness) {
        self.known_hosts = self.known_hosts.or(outer.known_hosts);
        self.registered_methods = self.registered_methods.or(outer.registered_methods);
        self.merge_slashes = self.merge_slashes.or(outer.merge_slashes);
        self.named_by_tls = self.named_by_tls.or(outer.named_by_tls);
    }
}

/// Methods that httpd knows; modules and `RegisterHttpMethod` add to them.
const REGISTERED: &[&str] = &[
    "GET",
    "HEAD",
    "PUT",
    "POST",
    "DELETE",
    "CONNECT",
    "OPTIONS",
    "TRACE",
    "PATCH",
    "PROPFIND",
    "PROPPATCH",
    "MKCOL",
    "COPY",
    "MOVE",
    "LOCK",
    "UNLOCK",
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
    REGISTERED.contains(&method) || more.iter().any(|known| known == method)
}
