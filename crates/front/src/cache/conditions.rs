//! Whether a client already has the current version of a response (RFC 9111, section 4.3.2).

use http::HeaderMap;
use http::header::{DATE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED};

use super::terms::date;

/// Whether a request with these conditions gets a 304 for a response with these headers.
pub fn is_current(request: &HeaderMap, response: &HeaderMap) -> bool {
    if request.contains_key(IF_NONE_MATCH) {
        let tag = response.get(ETAG).and_then(|tag| tag.to_str().ok()).map(opaque);
        let lists = request.get_all(IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
        return lists.flat_map(tags).any(|known| known == "*" || Some(opaque(known)) == tag);
    }
    let modified = date(response, LAST_MODIFIED);
    modified.zip(date(request, IF_MODIFIED_SINCE)).is_some_and(|(modified, since)| modified <= since)
}

/// Whether `If-Range` allows a Range for a response with these headers: it must match a strong validator (RFC 9110,
/// 13.1.5).
pub fn allow_range(request: &HeaderMap, response: &HeaderMap) -> bool {
    let Some(known) = request.get(IF_RANGE) else { return true };
    if known.as_bytes().ends_with(b"\"") {
        return !known.as_bytes().starts_with(b"W/") && response.get(ETAG) == Some(known);
    }
    // Last-Modified is a strong validator if Date is at least a second later.
    let (modified, made) = (date(response, LAST_MODIFIED), date(response, DATE));
    modified.is_some() && modified == date(request, IF_RANGE) && modified.zip(made).is_some_and(|(a, b)| a < b)
}

/// Strips `W/` for the weak comparison (RFC 9110, section 8.8.3.2).
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// The entity tags of a list. Commas inside quotation marks do not separate tags.
fn tags(list: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    list.split(move |character| {
        quoted ^= character == '"';
        character == ',' && !quoted
    })
    .map(str::trim)
}

#[cfg(test)]
mod tests {
    use http::HeaderName;

    use super::*;

    fn map(headers: &[(HeaderName, &str)]) -> HeaderMap {
        headers.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value"))).collect()
    }

    const THEN: &str = "Sun, 09 Sep 2001 01:46:40 GMT";
    const LATER: &str = "Sun, 09 Sep 2001 01:46:41 GMT";

    #[test]
    fn tags_take_precedence_over_dates_and_are_compared_weakly() {
        let response = map(&[(ETAG, "\"a,b\""), (LAST_MODIFIED, THEN)]);
        for (request, current) in [
            (map(&[]), false),
            (map(&[(IF_NONE_MATCH, "\"a,b\"")]), true),
            (map(&[(IF_NONE_MATCH, "\"x\", W/\"a,b\"")]), true),
            (map(&[(IF_NONE_MATCH, "\"a\""), (IF_MODIFIED_SINCE, LATER)]), false),
            (map(&[(IF_NONE_MATCH, "*")]), true),
            (map(&[(IF_MODIFIED_SINCE, THEN)]), true),
            (map(&[(IF_MODIFIED_SINCE, "Sun, 09 Sep 2001 01:46:39 GMT")]), false),
            (map(&[(IF_MODIFIED_SINCE, "yesterday")]), false),
        ] {
            assert_eq!(is_current(&request, &response), current, "{request:?}");
        }
        assert!(!is_current(&map(&[(IF_NONE_MATCH, "\"a\"")]), &map(&[])));
        assert!(!is_current(&map(&[(IF_MODIFIED_SINCE, LATER)]), &map(&[])));
    }

    #[test]
    fn a_range_counts_for_the_very_same_bytes_only() {
        let response = map(&[(ETAG, "\"a\""), (LAST_MODIFIED, THEN), (DATE, LATER)]);
        let weak = map(&[(ETAG, "W/\"a\""), (LAST_MODIFIED, THEN), (DATE, THEN)]);
        for (value, strong_allows, weak_allows) in
            [("\"a\"", true, false), ("W/\"a\"", false, false), (THEN, true, false), (LATER, false, false)]
        {
            let request = map(&[(IF_RANGE, value)]);
            let allows = (allow_range(&request, &response), allow_range(&request, &weak));
            assert_eq!(allows, (strong_allows, weak_allows), "{value}");
        }
    }
}
