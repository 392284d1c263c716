//! Request targets with bytes that RFC 3986 excludes and httpd accepts: `<`, a quotation mark, Latin-1. `http::Uri`
//! refuses them, so they are percent-encoded there; rules, logs and programs see the original target.

use http::Uri;
use http::request::Parts;
use percent_encoding::percent_encode_byte;

/// Replaces a byte that hyper would refuse, until [`restore`] puts the target back.
const PLACEHOLDER: u8 = b'_';

/// The original target, if it differs from `uri`; an extension of a request's head.
#[derive(Clone)]
struct AsSent {
    target: Box<[u8]>,
    /// The URI when the request arrived. An internal redirect changes the head's URI.
    uri: Uri,
}

/// For each byte of `target`, whether it must be encoded for `http::Uri`.
fn odd(target: &[u8]) -> impl Iterator<Item = bool> {
    let is_text = target.is_ascii() || std::str::from_utf8(target).is_ok();
    let mut in_query = false;
    target.iter().map(move |byte| {
        in_query |= *byte == b'?';
        match byte {
            b'<' | b'>' => true,
            b'`' => !in_query,
            b'"' => in_query,
            0x80.. => !is_text,
            _ => false,
        }
    })
}

/// Number of bytes of `target` that must be encoded for `http::Uri`; 0 for targets of browsers.
pub fn count_odd(target: &[u8]) -> usize {
    odd(target).filter(|is_odd| *is_odd).count()
}

/// Replaces each byte that hyper would refuse by a placeholder.
pub fn tame(target: &mut [u8]) {
    let odd: Vec<bool> = odd(target).collect();
    target.iter_mut().zip(odd).filter(|(_, is_odd)| *is_odd).for_each(|(byte, _)| *byte = PLACEHOLDER);
}

/// Puts the original target, percent-encoded, into a request whose target has placeholders.
pub fn restore(head: &mut Parts, target: Box<[u8]>) {
    let mut written = Vec::with_capacity(target.len());
    for (byte, is_odd) in target.iter().zip(odd(&target)) {
        match is_odd {
            true => written.extend_from_slice(percent_encode_byte(*byte).as_bytes()),
            false => written.push(*byte),
        }
    }
    // `*` matches no path: a target that cannot be encoded must not leave the one with placeholders in its place.
    head.uri = Uri::try_from(written).unwrap_or_else(|_| Uri::from_static("*"));
    head.extensions.insert(AsSent { target, uri: head.uri.clone() });
}

/// The original target, if bytes of it are encoded in the URI.
pub fn as_sent(head: &Parts) -> Option<&[u8]> {
    head.extensions.get().map(|AsSent { target, .. }| &**target)
}

/// The original query, or the URI's query after an internal redirect.
pub fn query(head: &Parts) -> Option<&[u8]> {
    match head.extensions.get() {
        Some(AsSent { target, uri }) if *uri == head.uri => target.splitn(2, |byte| *byte == b'?').nth(1),
        _ => head.uri.query().map(str::as_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sent: &[u8], tamed: &str, uri: &str, query: Option<&[u8]>) {
        let mut in_place = sent.to_vec();
        tame(&mut in_place);
        assert_eq!(String::from_utf8_lossy(&in_place), tamed);
        assert_eq!(count_odd(sent), sent.iter().zip(&in_place).filter(|(a, b)| a != b).count());
        let mut head = http::Request::new(()).into_parts().0;
        restore(&mut head, sent.into());
        assert_eq!((head.uri.to_string().as_str(), super::query(&head), as_sent(&head)), (uri, query, Some(sent)));
        head.uri = Uri::from_static("/other?way");
        assert_eq!(super::query(&head), Some(&b"way"[..]));
    }

    #[test]
    fn odd_bytes_are_encoded_and_known_as_they_were_sent() {
        check(b"/a`<b>?q=\"<\xe9>`", "/a__b_?q=____`", "/a%60%3Cb%3E?q=%22%3C%E9%3E`", Some(b"q=\"<\xe9>`"));
        check("/é<?é".as_bytes(), "/é_?é", "/é%3C?é", Some("é".as_bytes()));
        check(b"/\xff/a\"b", "/_/a\"b", "/%FF/a\"b", None);
        check(b"http://a:80/<?b?>", "http://a:80/_?b?_", "http://a:80/%3C?b?%3E", Some(b"b?>"));
    }

    #[test]
    fn targets_of_browsers_need_no_encoding() {
        assert_eq!(count_odd("/a\"{}|^\\%zz/é?b`{}[]|^\\é".as_bytes()), 0);
    }
}
