//! Heads of requests that may stay for hours. hyper reads a head into a buffer of 8 KiB, which lives as long as one of
//! the head's values.

use bytes::BytesMut;
use http::Uri;
use http::header::{ACCEPT, HeaderMap, HeaderValue, UPGRADE};
use http::request::Parts;
use hyper::upgrade::OnUpgrade;

/// Gives the head memory of its own if its request probably lasts: it asks for another protocol or for events.
pub fn own_if_it_lasts(head: &mut Parts) {
    let has_events = |value: &HeaderValue| value.as_bytes().starts_with(b"text/event-stream");
    if head.headers.contains_key(UPGRADE) || head.headers.get(ACCEPT).is_some_and(has_events) {
        own(head);
        // The front takes the connection by itself.
        head.extensions.remove::<OnUpgrade>();
    }
}

/// Copies target and values.
fn own(head: &mut Parts) {
    if let Ok(target) = head.uri.to_string().parse::<Uri>()
        && target == head.uri
    {
        head.uri = target;
    }
    own_values(&mut head.headers);
}

fn own_values(headers: &mut HeaderMap) {
    let mut all = BytesMut::with_capacity(headers.values().map(HeaderValue::len).sum());
    headers.values().for_each(|value| all.extend_from_slice(value.as_bytes()));
    let mut all = all.freeze();
    for value in headers.values_mut() {
        let is_sensitive = value.is_sensitive();
        if let Ok(own) = HeaderValue::from_maybe_shared(all.split_to(value.len())) {
            *value = own;
            value.set_sensitive(is_sensitive);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copied_head_equals_the_original() {
        let request = http::Request::get("/a?b=%20c").header("A", "1").header("A", "").header("B", "x\u{e4}");
        let head = request.body(()).expect("a request").into_parts().0;
        let mut copy = head.clone();
        own(&mut copy);
        assert_eq!((copy.uri, copy.headers), (head.uri, head.headers));
    }
}
