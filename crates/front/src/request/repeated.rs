//! Repeated header fields. Fields of one name are joined, so that rules, the cache, logs and programs all see the same
//! complete value (RFC 9110, section 5.3).

use http::header::{COOKIE, HOST, HeaderMap, HeaderName, HeaderValue, SET_COOKIE};
use http::request::Parts;

/// The original `Cookie` fields of an HTTP/1 request with several of them.
#[derive(Clone)]
struct Cookies(Vec<HeaderValue>);

/// Joins fields of one name with commas, as httpd does, and cookies with semicolons (RFC 6265, section 4.2.1).
/// Repeated `Host` fields stay separate: they are refused.
pub fn join(head: &mut Parts) {
    if head.headers.len() == head.headers.keys_len() {
        return;
    }
    let is_repeated = |name: &&HeaderName| *name != HOST && head.headers.get_all(*name).iter().nth(1).is_some();
    let repeated: Vec<HeaderName> = head.headers.keys().filter(is_repeated).cloned().collect();
    for name in repeated {
        if name == COOKIE {
            head.extensions.insert(Cookies(head.headers.get_all(COOKIE).iter().cloned().collect()));
        }
        join_one(&mut head.headers, &name);
    }
}

fn join_one(headers: &mut HeaderMap, name: &HeaderName) {
    let values: Vec<&[u8]> = headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
    if let Ok(one) = HeaderValue::from_bytes(&values.join(separator(name))) {
        headers.insert(name, one);
    }
}

fn separator(name: &HeaderName) -> &'static [u8] {
    if name == COOKIE { b"; " } else { b", " }
}

/// Joins the Cookie fields of an HTTP/2 request (RFC 9113, section 8.2.3). Clients send each cookie as a field of its
/// own, which compresses better.
pub fn join_cookies(headers: &mut HeaderMap) {
    if headers.get_all(COOKIE).iter().nth(1).is_some() {
        join_one(headers, &COOKIE);
    }
}

/// The original `Cookie` fields of an HTTP/1 request, if there are several and the header is unchanged. A program's
/// `headers_in` joins them with commas, as in httpd.
pub fn cookies(head: &Parts) -> Option<&[HeaderValue]> {
    let Cookies(fields) = head.extensions.get()?;
    let came: Vec<&[u8]> = fields.iter().map(HeaderValue::as_bytes).collect();
    let mut now = head.headers.get_all(COOKIE).iter();
    let is_same = now.next().is_some_and(|now| now.as_bytes() == came.join(separator(&COOKIE))) && now.next().is_none();
    is_same.then_some(fields)
}

/// Adds fields in front of those of a response. Fields of one name are joined, but for Set-Cookie (RFC 9110, section
/// 5.3).
pub fn prepend(headers: &mut HeaderMap, fields: &HeaderMap) {
    for name in fields.keys() {
        let own: Vec<HeaderValue> = headers.get_all(name).iter().cloned().collect();
        headers.remove(name);
        for value in fields.get_all(name).iter().chain(&own) {
            headers.append(name, value.clone());
        }
        if name != SET_COOKIE {
            join_one(headers, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(fields: &[(&str, &[u8])]) -> (Vec<(String, Vec<u8>)>, Option<usize>) {
        let mut head = http::Request::new(()).into_parts().0;
        for (name, value) in fields {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            head.headers.append(name, HeaderValue::from_bytes(value).expect("a value"));
        }
        join(&mut head);
        let fields = head.headers.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect();
        (fields, cookies(&head).map(<[HeaderValue]>::len))
    }

    #[test]
    fn fields_of_one_name_become_one() {
        let check = |fields: &[(&str, &[u8])], expected: &[(&str, &[u8])], cookies: Option<usize>| {
            let expected: Vec<_> = expected.iter().map(|(name, value)| ((*name).to_owned(), value.to_vec())).collect();
            assert_eq!(joined(fields), (expected, cookies));
        };
        check(&[("a", b"1"), ("b", b"2")], &[("a", b"1"), ("b", b"2")], None);
        check(&[("a", b"1"), ("b", b"2"), ("A", b"3"), ("a", b"")], &[("a", b"1, 3, "), ("b", b"2")], None);
        check(&[("a", b"\xe9"), ("a", b"\"")], &[("a", b"\xe9, \"")], None);
        check(&[("cookie", b"a=1"), ("cookie", b"b=2")], &[("cookie", b"a=1; b=2")], Some(2));
        check(&[("host", b"a"), ("host", b"b")], &[("host", b"a"), ("host", b"b")], None);
    }

    #[test]
    fn cookies_that_rules_have_changed_are_those_of_the_rules() {
        let mut head = http::Request::new(()).into_parts().0;
        head.headers.append(COOKIE, HeaderValue::from_static("a=1"));
        head.headers.append(COOKIE, HeaderValue::from_static("b=2"));
        join(&mut head);
        assert!(cookies(&head).is_some());
        head.headers.insert(COOKIE, HeaderValue::from_static("a=1"));
        assert!(cookies(&head).is_none());
    }

    #[test]
    fn crumbs_of_cookies_become_one_and_nothing_is_remembered() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1"));
        headers.append(COOKIE, HeaderValue::from_static("b=2; c=3"));
        join_cookies(&mut headers);
        assert_eq!(headers.get_all(COOKIE).iter().collect::<Vec<_>>(), ["a=1; b=2; c=3"]);
    }
}
