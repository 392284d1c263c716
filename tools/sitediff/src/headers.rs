//! Response headers in a form in which two servers can be compared.

use std::collections::BTreeMap;

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::normalized::without_address;
use bench::RequestTarget;

/// Headers that describe the connection, the server or the moment, not the page.
const NOT_COMPARED: [&str; 11] = [
    "accept-ranges",
    "age",
    "alt-svc",
    "connection",
    "content-length",
    "date",
    "keep-alive",
    "server",
    "transfer-encoding",
    "via",
    "x-powered-by",
];
/// Headers of which only the presence is compared: servers make their values in different ways.
const PRESENT: [&str; 2] = ["etag", "expires"];

/// Names, in lower case, with the values that are compared.
pub type ComparedHeaders = BTreeMap<String, String>;

/// The headers of a response that are compared.
pub fn compared(headers: &HeaderMap, ignored: &[HeaderName], server: &RequestTarget) -> ComparedHeaders {
    let is_compared = |name: &&HeaderName| !NOT_COMPARED.contains(&name.as_str()) && !ignored.contains(name);
    let value = |name: &HeaderName| {
        let values: Vec<String> = headers.get_all(name).iter().map(|value| one(name.as_str(), value, server)).collect();
        values.join("; and ")
    };
    headers.keys().filter(is_compared).map(|name| (name.as_str().to_owned(), value(name))).collect()
}

fn one(name: &str, value: &HeaderValue, server: &RequestTarget) -> String {
    let text = String::from_utf8_lossy(value.as_bytes());
    match name {
        _ if PRESENT.contains(&name) => "present".to_owned(),
        "vary" => sorted(&text.to_ascii_lowercase()),
        "content-type" => text.to_ascii_lowercase().replace("; ", ";"),
        "set-cookie" => cookie(&text),
        _ => without_address(&text, server),
    }
}

/// The names in a list, sorted.
fn sorted(list: &str) -> String {
    let mut names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.join(", ")
}

/// A cookie without its value and its times, which differ from visit to visit. Whether it outlives the browser, or is
/// removed, remains.
fn cookie(text: &str) -> String {
    let (pair, attributes) = text.split_once(';').unwrap_or((text, ""));
    let name = pair.split('=').next().unwrap_or_default();
    let attributes = attributes.split(';').map(|attribute| attribute.trim().to_ascii_lowercase());
    let (times, mut kept): (Vec<String>, Vec<String>) = attributes
        .filter(|attribute| !attribute.is_empty())
        .partition(|attribute| attribute.starts_with("expires=") || attribute.starts_with("max-age="));
    if !times.is_empty() {
        kept.push(if times.iter().any(|time| is_over(time)) { "removed" } else { "kept for a time" }.to_owned());
    }
    std::iter::once(format!("{name}=…")).chain(kept).collect::<Vec<_>>().join("; ")
}

/// Whether the time removes the cookie: programs write the first day of 1970, or no seconds.
fn is_over(time: &str) -> bool {
    match time.split_once('=') {
        Some(("max-age", seconds)) => seconds.trim().parse::<i64>().is_ok_and(|seconds| seconds <= 0),
        Some((_, date)) => date.contains("1970"),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_mean_the_same_are_equal() {
        let server = RequestTarget::parse("http://h/").expect("a URL");
        let shown = |name: &'static str, value: &'static str| one(name, &HeaderValue::from_static(value), &server);
        assert_eq!(shown("vary", "Accept-Encoding, Cookie"), shown("vary", "cookie,accept-encoding"));
        assert_eq!(shown("content-type", "text/html; charset=UTF-8"), shown("content-type", "text/html;charset=utf-8"));
        assert_eq!(shown("etag", "\"1-2\""), shown("etag", "W/\"3\""));
        assert_eq!(
            shown("set-cookie", "id=1; path=/; Expires=Thu, 01 Jan 2026 00:00:00 GMT; HttpOnly"),
            shown("set-cookie", "id=2; Path=/; HttpOnly; Max-Age=60")
        );
        assert_ne!(shown("set-cookie", "id=1; Max-Age=60"), shown("set-cookie", "id=1"));
        assert_ne!(shown("set-cookie", "id=1; Max-Age=60"), shown("set-cookie", "id=; Max-Age=0"));
        assert_eq!(
            shown("set-cookie", "id=; max-age=0"),
            shown("set-cookie", "id=; Expires=Thu, 01-Jan-1970 00:00:00 GMT")
        );
        assert_ne!(shown("set-cookie", "id=1; path=/"), shown("set-cookie", "id=1; path=/a"));
        assert_eq!(shown("location", "http://h/a"), "http://SITE/a");
    }
}
