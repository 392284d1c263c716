//! Heads of a backend's responses: no field of its connection passes, and addresses in the others become this server's.
#![no_main]

use std::hint::black_box;

use config::proxy::reverse::{self, ReverseMap};
use http::header::{CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, SET_COOKIE};
use libfuzzer_sys::fuzz_target;
use proxy::fields;

/// Maximum number of header fields of a response.
const FIELDS: usize = 200;
const OF_A_CONNECTION: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

fuzz_target!(|bytes: &[u8]| {
    slope::watch(bytes, |bytes| _ = black_box(passed(bytes)));
    let Some(mut headers) = passed(bytes) else { return };
    assert!(OF_A_CONNECTION.iter().all(|name| !headers.contains_key(*name)));
    let sent = parsed(bytes).unwrap_or_default();
    for list in sent.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok()) {
        for name in list.split(',').filter_map(|name| HeaderName::from_bytes(name.trim().as_bytes()).ok()) {
            assert!(name == HOST || !headers.contains_key(name));
        }
    }
    fields::append(&mut headers, SET_COOKIE, "a=b");
    assert_eq!(headers.get_all(SET_COOKIE).iter().count(), 1);
});

/// The fields that the client gets.
fn passed(bytes: &[u8]) -> Option<HeaderMap> {
    let mut headers = parsed(bytes)?;
    fields::end_to_end(&mut headers);
    let text = |value: &str| value.to_owned();
    let maps = [ReverseMap { here: text("/here/"), there: text("http://backend:81/there/") }];
    if let Some(path) = headers.get(LOCATION).and_then(|url| reverse::reversed(&maps, url.to_str().ok()?)) {
        assert!(path.starts_with("/here/"));
        headers.insert(LOCATION, HeaderValue::from_str(&path).expect("parts of a valid value"));
    }
    let (domains, paths) = ([(text("backend"), text("example.org"))], [(text("/there"), text("/here"))]);
    for value in headers.iter_mut().filter(|(name, _)| **name == SET_COOKIE).map(|(_, value)| value) {
        if let Some(here) = value.to_str().ok().and_then(|cookie| reverse::cookie(cookie, &domains, &paths)) {
            *value = HeaderValue::from_str(&here).expect("parts of a valid value");
        }
    }
    Some(headers)
}

fn parsed(bytes: &[u8]) -> Option<HeaderMap> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    response.parse(bytes).ok()?;
    let mut headers = HeaderMap::new();
    for field in response.headers.iter() {
        headers.append(HeaderName::from_bytes(field.name.as_bytes()).ok()?, HeaderValue::from_bytes(field.value).ok()?);
    }
    Some(headers)
}
