//! Response headers in a form in which two servers can be compared.

use std::collections::BTreeMap;
use std::time::SystemTime;

use http::header::{DATE, HeaderMap, HeaderName, HeaderValue};

use super::cookies::cookie;
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
    let date = headers.get(DATE).and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
    let response = ResponseOf { server, date: date.unwrap_or_else(SystemTime::now) };
    let value = |name: &HeaderName| {
        let values: Vec<String> =
            headers.get_all(name).iter().map(|value| response.one(name.as_str(), value)).collect();
        values.join("; and ")
    };
    headers.keys().filter(is_compared).map(|name| (name.as_str().to_owned(), value(name))).collect()
}

/// The server of a response, and the response's time.
struct ResponseOf<'a> {
    server: &'a RequestTarget,
    date: SystemTime,
}

impl ResponseOf<'_> {
    fn one(&self, name: &str, value: &HeaderValue) -> String {
        let text = String::from_utf8_lossy(value.as_bytes());
        match name {
            _ if PRESENT.contains(&name) => "present".to_owned(),
            "vary" => sorted(&text.to_ascii_lowercase()),
            "content-type" => text.to_ascii_lowercase().replace("; ", ";"),
            "set-cookie" => cookie(&text, self.date),
            _ => without_address(&text, self.server),
        }
    }
}

/// The names in a list, sorted.
fn sorted(list: &str) -> String {
    let mut names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_mean_the_same_are_equal() {
        let server = RequestTarget::parse("http://h/").expect("a URL");
        let date = httpdate::parse_http_date("Fri, 27 Nov 2020 12:00:00 GMT").expect("a date");
        let response = ResponseOf { server: &server, date };
        let shown = |name: &'static str, value: &'static str| response.one(name, &HeaderValue::from_static(value));
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
