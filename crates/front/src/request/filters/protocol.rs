//! `FilterProtocol`: headers that a filter of the chain makes invalid.

use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, ETAG, HeaderMap, HeaderName, HeaderValue, LAST_MODIFIED, WARNING,
};

use config::response::filters::FilterProtocol;

const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

/// Changes the headers of a response that a provider with these flags filters.
pub fn describe(headers: &mut HeaderMap, flags: FilterProtocol) {
    if flags.transforms {
        headers.append(WARNING, HeaderValue::from_static("214 Transformation applied"));
    }
    if flags.changes {
        headers.remove(CONTENT_MD5);
        headers.remove(ETAG);
    }
    if flags.changes_length {
        headers.remove(CONTENT_LENGTH);
    }
    if flags.no_cache {
        headers.remove(LAST_MODIFIED);
        headers.append(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    if flags.no_ranges {
        headers.insert(ACCEPT_RANGES, HeaderValue::from_static("none"));
    }
}
