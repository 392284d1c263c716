//! `Cache-Control` and `Pragma` of requests and responses (RFC 9111, section 5.2). A directive that cannot be parsed
//! gets its strictest meaning.

use std::time::Duration;

use http::HeaderMap;
use http::header::{CACHE_CONTROL, HeaderName, PRAGMA};

/// Upper bound of delta-seconds, also for numbers that overflow (RFC 9111, section 1.2.2).
const MAX_DELTA_SECONDS: u64 = 1 << 31;

/// The cache directives of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the RFC's names")]
pub struct RequestControl {
    pub no_store: bool,
    pub no_cache: bool,
    pub only_if_cached: bool,
    pub max_age: Option<Duration>,
    pub min_fresh: Option<Duration>,
    /// Maximum staleness that the client accepts.
    pub max_stale: Option<Duration>,
}

/// The directives of a response that apply to a shared cache.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the RFC's names")]
pub struct ResponseControl {
    pub no_store: bool,
    /// The cached response must be revalidated before each use.
    pub no_cache: bool,
    pub private: bool,
    /// Fields for a single client: those listed in `no-cache="…"` and `private="…"`.
    pub private_fields: Vec<HeaderName>,
    pub public: bool,
    /// `must-revalidate`
    pub must_revalidate: bool,
    /// `proxy-revalidate`
    pub proxy_revalidate: bool,
    pub max_age: Option<Duration>,
    pub s_maxage: Option<Duration>,
    pub stale_while_revalidate: Option<Duration>,
    pub stale_if_error: Option<Duration>,
}

impl RequestControl {
    /// Parses the cache directives of these headers.
    pub fn of(headers: &HeaderMap) -> RequestControl {
        let mut control = RequestControl::default();
        read(headers, |name, value| match name {
            "no-store" => control.no_store = true,
            "no-cache" => control.no_cache = true,
            "only-if-cached" => control.only_if_cached = true,
            "max-age" => control.max_age = Some(shortest(control.max_age, value)),
            "min-fresh" => {
                control.min_fresh = Some(value.and_then(digits).unwrap_or(Duration::from_secs(MAX_DELTA_SECONDS)))
            }
            "max-stale" => {
                control.max_stale =
                    Some(value.map_or(Some(Duration::from_secs(MAX_DELTA_SECONDS)), digits).unwrap_or_default())
            }
            _ => {}
        });
        control
    }
}

impl ResponseControl {
    /// Parses the cache directives of these headers.
    pub fn of(headers: &HeaderMap) -> ResponseControl {
        let mut control = ResponseControl::default();
        read(headers, |name, value| match name {
            "no-store" => control.no_store = true,
            "no-cache" => control.no_cache |= !only_fields(value, &mut control.private_fields),
            "private" => control.private |= !only_fields(value, &mut control.private_fields),
            "public" => control.public = true,
            "must-revalidate" => control.must_revalidate = true,
            "proxy-revalidate" => control.proxy_revalidate = true,
            "max-age" => control.max_age = Some(shortest(control.max_age, value)),
            "s-maxage" => control.s_maxage = Some(shortest(control.s_maxage, value)),
            "stale-while-revalidate" => {
                control.stale_while_revalidate = Some(shortest(control.stale_while_revalidate, value));
            }
            "stale-if-error" => control.stale_if_error = Some(shortest(control.stale_if_error, value)),
            _ => {}
        });
        control
    }
}

/// Passes each directive to `take`, with its name in lower case and its value without quotation marks. A field that is
/// not text, or a quoted string without its closing quotation mark, is a `no-store`.
fn read(headers: &HeaderMap, mut take: impl FnMut(&str, Option<&str>)) {
    // Old programs and mod_perl's `no_cache` send Pragma instead of Cache-Control.
    if !headers.contains_key(CACHE_CONTROL) && has_pragma(headers) {
        take("no-cache", None);
    }
    for field in headers.get_all(CACHE_CONTROL) {
        let Some(directives) = field.to_str().ok().and_then(split) else { return take("no-store", None) };
        for directive in directives {
            let (name, value) = match directive.split_once('=') {
                Some((name, value)) => (name, Some(value.trim().trim_matches('"'))),
                None => (directive, None),
            };
            take(&name.trim().to_ascii_lowercase(), value);
        }
    }
}

/// Splits at commas outside quotation marks; `None` if a quotation mark is not closed.
fn split(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut rest, mut quoted, mut begin) = (Vec::new(), text.char_indices(), false, 0);
    while let Some((at, character)) = rest.next() {
        match character {
            '"' => quoted = !quoted,
            '\\' if quoted => drop(rest.next()),
            ',' if !quoted => {
                parts.push(text.get(begin..at)?.trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(begin..)?.trim());
    parts.retain(|part| !part.is_empty());
    (!quoted).then_some(parts)
}

/// The shorter value of a repeated directive. An invalid number counts as zero, so that doubt makes a response stale,
/// not fresh.
fn shortest(before: Option<Duration>, value: Option<&str>) -> Duration {
    let now = value.and_then(digits).unwrap_or_default();
    before.map_or(now, |before| before.min(now))
}

fn digits(text: &str) -> Option<Duration> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Duration::from_secs(text.parse().unwrap_or(MAX_DELTA_SECONDS).min(MAX_DELTA_SECONDS)))
}

/// Whether the directive has a field list (`no-cache="…"`), whose names are added to `fields`. A list with an invalid
/// name counts as no list.
fn only_fields(value: Option<&str>, fields: &mut Vec<HeaderName>) -> bool {
    let Some(value) = value else { return false };
    let names: Result<Vec<HeaderName>, _> = value.split(',').map(|name| name.trim().parse()).collect();
    names.is_ok_and(|names| {
        fields.extend(names);
        true
    })
}

fn has_pragma(headers: &HeaderMap) -> bool {
    let values = headers.get_all(PRAGMA).iter();
    { values }.any(|value| value.to_str().is_ok_and(|text| text.to_ascii_lowercase().contains("no-cache")))
}

#[cfg(test)]
mod tests {
    use http::header::{HeaderValue, SET_COOKIE};

    use super::*;

    fn headers(fields: &[&'static str]) -> HeaderMap {
        fields.iter().map(|field| (CACHE_CONTROL, HeaderValue::from_static(field))).collect()
    }

    fn seconds(number: u64) -> Option<Duration> {
        Some(Duration::from_secs(number))
    }

    #[test]
    fn directives_are_read_in_any_case_and_over_several_fields() {
        let control = ResponseControl::of(&headers(&["Public , MAX-AGE=\"60\"", "s-maxage=5,,must-revalidate"]));
        assert_eq!((control.public, control.max_age, control.s_maxage), (true, seconds(60), seconds(5)));
        assert!(control.must_revalidate && !control.no_store);
    }

    #[test]
    fn an_invalid_directive_makes_a_response_stale_or_unstored() {
        for (fields, max_age) in [
            (&["max-age=x"][..], seconds(0)),
            (&["max-age"], seconds(0)),
            (&["max-age=-5"], seconds(0)),
            (&["max-age=1.5"], seconds(0)),
            (&["max-age=60, max-age=5"], seconds(5)),
            (&["max-age=99999999999999999999999"], seconds(MAX_DELTA_SECONDS)),
            (&["xmax-age=5"], None),
            (&["ext=\"max-age=5, x\""], None),
        ] {
            let control = ResponseControl::of(&headers(fields));
            assert_eq!((control.max_age, control.no_store), (max_age, false), "{fields:?}");
        }
        assert!(ResponseControl::of(&headers(&["max-age=60, x=\"never closed"])).no_store);
    }

    #[test]
    fn a_field_that_is_private_does_not_make_the_answer_so() {
        let control = ResponseControl::of(&headers(&["private=\"Set-Cookie\", no-cache=\"x-a, x-b\", max-age=5"]));
        assert!(!control.private && !control.no_cache);
        assert_eq!(control.private_fields.first(), Some(&SET_COOKIE));
        assert_eq!(control.private_fields.len(), 3);
        assert!(ResponseControl::of(&headers(&["private=\"Set-Cookie, no name\""])).private);
        assert!(ResponseControl::of(&headers(&["private, private=\"Set-Cookie\""])).private);
    }

    #[test]
    fn pragma_counts_where_there_is_no_cache_control() {
        let with = |fields| {
            let mut headers = headers(fields);
            headers.insert(PRAGMA, HeaderValue::from_static("No-Cache"));
            (RequestControl::of(&headers).no_cache, ResponseControl::of(&headers).no_cache)
        };
        assert_eq!((with(&[]), with(&["max-age=5"])), ((true, true), (false, false)));
    }

    #[test]
    fn requests_limit_the_age_of_a_stored_response() {
        let control = RequestControl::of(&headers(&["max-age=5, min-fresh=3, max-stale"]));
        assert_eq!(
            (control.max_age, control.min_fresh, control.max_stale),
            (seconds(5), seconds(3), seconds(MAX_DELTA_SECONDS))
        );
        assert_eq!(RequestControl::of(&headers(&["max-stale=x"])).max_stale, seconds(0));
    }
}
