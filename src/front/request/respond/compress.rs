//! gzip for clients that take it, where `AddOutputFilterByType DEFLATE` or `SetOutputFilter DEFLATE` wants it.

use flate2::Compression;
use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap,
    HeaderValue, VARY,
};
use http::response::Parts;
use http::{Method, StatusCode};

use super::body::{BodySource, Gzip};
use super::headers::mime;
use crate::front::request::context::RequestContext;

/// A shorter answer fits a packet anyway.
const WORTH_IT: u64 = 256;
/// Compresses an answer if the configuration, the client and the answer agree.
pub fn apply(context: &RequestContext, head: &mut Parts, kind: BodySource) -> BodySource {
    let route = context.route.borrow();
    let Some(route) = route.as_ref().filter(|route| route.settings.response.compress.is_on()) else { return kind };
    let rules = &route.settings.response.compress;
    let file = route.filename.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let said = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mime = mime(said);
    if !rules.takes(mime, &file) || !may_change(head) {
        return kind;
    }
    let variables = context.variables.borrow();
    let only_pages = variables.get("gzip-only-text/html").is_some() && mime != "text/html";
    if variables.get("no-gzip").is_some() || only_pages {
        return kind;
    }
    // A cache has to know that there are two forms, also when this client gets the plain one.
    head.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    let short = kind.length().is_some_and(|length| length < WORTH_IT) || matches!(kind, BodySource::Empty);
    if short || context.head.method == Method::HEAD || !takes_gzip(&context.head.headers) {
        return kind;
    }
    relabel(&mut head.headers);
    let level = rules.level.map_or_else(Compression::default, Compression::new);
    BodySource::Gzip(Box::new(Gzip::new(kind, level)))
}

/// Not parts of a file, nor what is encoded already.
fn may_change(head: &Parts) -> bool {
    let headers = &head.headers;
    use StatusCode as Is;
    let fixed = [Is::PARTIAL_CONTENT, Is::NO_CONTENT, Is::RESET_CONTENT, Is::NOT_MODIFIED].contains(&head.status);
    let forbidden = headers.get_all(CACHE_CONTROL).iter().any(|value| contains(value, "no-transform"));
    !fixed && !forbidden && !headers.contains_key(CONTENT_ENCODING) && !headers.contains_key(CONTENT_RANGE)
}

fn contains(value: &HeaderValue, word: &str) -> bool {
    value.to_str().is_ok_and(|text| text.to_ascii_lowercase().contains(word))
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut any = None;
    for item in lists.flat_map(|list| list.split(',')) {
        let (name, quality) = item.split_once(';').unwrap_or((item, ""));
        let refused = quality.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
        match name.trim().to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => return !refused,
            "*" => any = Some(!refused),
            _ => {}
        }
    }
    any.unwrap_or(false)
}

/// A strong tag names bytes; of the compressed body it can only be a weak one.
fn relabel(headers: &mut HeaderMap) {
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.remove(ACCEPT_RANGES);
    let weak = headers.get(ETAG).filter(|tag| !tag.as_bytes().starts_with(b"W/"));
    let weak = weak.and_then(|tag| HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat()).ok());
    if let Some(weak) = weak {
        headers.insert(ETAG, weak);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_says_whether_it_takes_gzip() {
        for (value, expected) in [
            ("gzip, deflate, br", true),
            ("deflate, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0, *", false),
            ("*", true),
            ("*;q=0", false),
            ("br", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))]);
            assert_eq!(takes_gzip(&headers), expected, "{value}");
        }
    }
}
