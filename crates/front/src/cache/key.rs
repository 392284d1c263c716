//! The cache key: the parts of a request that select its response.

use std::collections::HashSet;

use http::HeaderMap;
use http::header::HeaderName;

/// The resource, and every other part of a request that clients choose and programs see.
/// Each such part separates the stored responses, so that a client cannot poison the cache for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The virtual host, the path as routed, and the query. A purge removes all responses of a resource.
    pub resource: Box<[u8]>,
    /// The URL as sent: scheme, port, host name and target, headers by which proxies rewrite them, and variables.
    pub asked: Vec<u8>,
}

impl Key {
    /// The resource for a path and query of a virtual host.
    pub fn resource(host: u16, path: &[u8], query: Option<&str>) -> Box<[u8]> {
        let mut resource = host.to_le_bytes().to_vec();
        resource.extend_from_slice(path);
        if let Some(query) = query {
            // Separates path and query: a path contains no zero byte.
            resource.push(0);
            resource.extend_from_slice(query.as_bytes());
        }
        resource.into()
    }

    /// The key of a variant within its resource, with the request's values of the headers in `vary` (RFC 9111, section
    /// 4.1).
    pub fn variant(&self, vary: &[HeaderName], headers: &HeaderMap) -> Vec<u8> {
        let mut variant = self.asked.clone();
        for name in vary {
            add_header(&mut variant, name, headers);
        }
        variant
    }
}

/// Whether the resource belongs to one of `hosts` and starts like `beginning`, whose own host is ignored.
pub fn is_below(resource: &[u8], hosts: &HashSet<u16>, beginning: &[u8]) -> bool {
    let (Some((host, rest)), Some((_, beginning))) = (resource.split_first_chunk(), beginning.split_first_chunk::<2>())
    else {
        return false;
    };
    hosts.contains(&u16::from_le_bytes(*host)) && rest.starts_with(beginning)
}

/// Appends a part with its length in front, so that different lists of parts never encode alike.
pub fn add(to: &mut Vec<u8>, part: &[u8]) {
    to.extend_from_slice(&part.len().to_le_bytes());
    to.extend_from_slice(part);
}

/// Appends all fields of a header. A missing header and an empty one encode differently.
pub fn add_header(to: &mut Vec<u8>, name: &HeaderName, headers: &HeaderMap) {
    add(to, name.as_str().as_bytes());
    for value in headers.get_all(name) {
        to.push(b'=');
        add(to, value.as_bytes());
    }
    to.push(b';');
}

/// Headers in which a proxy passes the original request, and from which programs take another URL. All are part of the
/// key. `X-Forwarded-For` and `X-Forwarded-By` are left out: they would give each client its own cache.
pub fn names_the_resource(name: &HeaderName) -> bool {
    const OTHERS: &str = "front-end-https x-base-url x-host x-http-destinationurl \
        x-http-host-override x-http-method x-http-method-override x-method-override x-original-host x-original-uri \
        x-original-url x-proxy-url x-request-base x-rewrite-url x-script-name x-traversal-path";
    let name = name.as_str();
    let is_forwarded = name.starts_with("x-forwarded-") && !matches!(name, "x-forwarded-for" | "x-forwarded-by");
    is_forwarded || name == "x-url-scheme" || OTHERS.split(' ').any(|other| other == name)
}

/// Appends the parameters of `Forwarded` (RFC 7239), for example host and proto, except `for` and `by`.
pub fn add_forwarded(to: &mut Vec<u8>, headers: &HeaderMap) {
    for value in headers.get_all(http::header::FORWARDED) {
        for pair in value.as_bytes().split(|byte| matches!(byte, b';' | b',')).map(<[u8]>::trim_ascii) {
            let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
            if !name.eq_ignore_ascii_case(b"for") && !name.eq_ignore_ascii_case(b"by") {
                add(to, pair);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use http::header::{ACCEPT, ACCEPT_LANGUAGE, HeaderValue};

    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let variant = |values: &[(HeaderName, &'static str)]| {
            let key = Key { resource: Box::default(), asked: Vec::new() };
            let values = values.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
            key.variant(&[ACCEPT, ACCEPT_LANGUAGE], &values.collect())
        };
        let all = [
            variant(&[]),
            variant(&[(ACCEPT, "")]),
            variant(&[(ACCEPT, "a"), (ACCEPT_LANGUAGE, "b")]),
            variant(&[(ACCEPT, "ab")]),
            variant(&[(ACCEPT, "b"), (ACCEPT_LANGUAGE, "a")]),
            variant(&[(ACCEPT_LANGUAGE, "ab")]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all.iter().skip(at + 1).all(|other| other != one), "{at}");
        }
    }

    #[test]
    fn a_query_is_no_part_of_a_path() {
        assert_ne!(Key::resource(0, b"/a", Some("b")), Key::resource(0, b"/a?b", None));
        assert_ne!(Key::resource(0, b"/a", Some("")), Key::resource(0, b"/a", None));
        assert_ne!(Key::resource(0, b"/a", None), Key::resource(1, b"/a", None));
    }

    #[test]
    fn a_beginning_is_of_path_or_query_and_of_its_hosts() {
        let is_below = |host, resource: (&[u8], Option<&str>), beginning: (&[u8], Option<&str>)| {
            let beginning = Key::resource(7, beginning.0, beginning.1);
            super::is_below(&Key::resource(host, resource.0, resource.1), &HashSet::from([1, 2]), &beginning)
        };
        assert!(
            is_below(2, (b"/a/b", Some("c")), (b"/a", None)) && is_below(1, (b"/a", Some("bc")), (b"/a", Some("b")))
        );
        assert!(!is_below(3, (b"/a/b", None), (b"/a", None)), "another host");
        assert!(!is_below(1, (b"/a/b", Some("b")), (b"/a", Some("b"))), "another path");
        assert!(!super::is_below(b"", &HashSet::from([0]), b""));
    }
}
