//! How strictly a host takes what clients send: `HttpProtocolOptions`, `StrictHostCheck`, `MergeSlashes`.

use super::draft::Draft;

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

/// `HttpProtocolOptions [Strict|Unsafe] [RegisteredMethods|LenientMethods] [Allow0.9|Require1.0]`
pub fn http_protocol_options(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    for word in words {
        match word.to_ascii_lowercase().as_str() {
            "strict" | "require1.0" => {}
            "unsafe" => draft.warn("Unsafe is not done: what HTTP does not allow is refused in any case"),
            "allow0.9" => draft.warn("Allow0.9 is not done: HTTP/0.9 is refused in any case"),
            "registeredmethods" => draft.host().strictness.registered_methods = Some(true),
            "lenientmethods" => draft.host().strictness.registered_methods = Some(false),
            _ => {
                return Err(format!(
                    "expected Strict, Unsafe, RegisteredMethods, LenientMethods, Allow0.9 or Require1.0, got \"{word}\""
                ));
            }
        }
    }
    Ok(())
}

/// `RegisterHttpMethod method…`
pub fn register_methods(draft: &mut Draft, methods: &[String]) {
    draft.config.methods.extend_from_slice(methods);
}

/// `TraceEnable on|off|extended`
pub fn trace_enable(draft: &mut Draft, word: &str) -> Result<(), String> {
    match word.to_ascii_lowercase().as_str() {
        "off" => Ok(()),
        "on" | "extended" => {
            draft.warn("TRACE is refused in any case: it shows what proxies and browsers hide");
            Ok(())
        }
        _ => Err(format!("expected On, Off or extended, got \"{word}\"")),
    }
}
