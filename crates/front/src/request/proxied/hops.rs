//! Ends of chains of forward proxies: a request that comes back, and one that may go no further.
//!
//! `ProxyVia` may hide or remove `Via`. So each forwarded request has this server's mark in `CDN-Loop` (RFC 8586),
//! which other proxies leave alone.

use std::sync::LazyLock;

use http::header::{HeaderMap, HeaderName, MAX_FORWARDS};
use http::request::Parts;
use http::{HeaderValue, Method};

use crate::trace::random;
use proxy::fields;

const CDN_LOOP: HeaderName = HeaderName::from_static("cdn-loop");

/// The mark of this process.
static OWN: LazyLock<String> = LazyLock::new(|| format!("cameleer-{:016x}{:016x}", random(), random()));

/// Adds this process's entry of `CDN-Loop` (RFC 8586) to a request that is forwarded.
pub fn mark(headers: &mut HeaderMap) {
    fields::append(headers, CDN_LOOP, &OWN);
}

/// Copies the marks of a request to one that is forwarded in its place, and adds the own mark.
pub fn pass_marks(from: &HeaderMap, to: &mut HeaderMap) {
    for marks in from.get_all(CDN_LOOP) {
        to.append(CDN_LOOP, marks.clone());
    }
    mark(to);
}

/// Whether this server has forwarded the request before.
pub fn is_back(headers: &HeaderMap) -> bool {
    let entries = headers.get_all(CDN_LOOP).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    entries.map(name).any(|name| name.eq_ignore_ascii_case(OWN.as_bytes()))
}

/// The name of an entry, without its parameters.
fn name(entry: &[u8]) -> &[u8] {
    entry.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii()
}

/// Whether this server is the last that a request of `OPTIONS` may reach (RFC 9110, section 7.6.2). `TRACE` is refused
/// before.
pub fn ends_here(head: &Parts) -> bool {
    let left = head.headers.get(MAX_FORWARDS).map(HeaderValue::as_bytes).map(<[u8]>::trim_ascii);
    head.method == Method::OPTIONS
        && left.is_some_and(|left| !left.is_empty() && left.iter().all(|digit| *digit == b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_with_our_cdn_loop_mark_is_a_loop() {
        let mut headers = HeaderMap::new();
        headers.append(CDN_LOOP, HeaderValue::from_static("one.example; a=b, cameleer-0"));
        assert!(!is_back(&headers));
        mark(&mut headers);
        headers.append(CDN_LOOP, HeaderValue::from_static("two"));
        mark(&mut headers);
        assert!(is_back(&headers));
        let with_parameter = format!("one,{};x=y", OWN.to_uppercase());
        headers.insert(CDN_LOOP, HeaderValue::from_str(&with_parameter).expect("a value"));
        assert!(is_back(&headers));
    }
}
