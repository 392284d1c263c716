//! Cache-Control of clients and programs: a directive that forbids caching is always obeyed, whatever else the
//! header has.
#![no_main]

use front::cache_control::{ResponseControl, RequestControl};
use http::HeaderMap;
use http::header::{CACHE_CONTROL, HeaderValue};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(value) = HeaderValue::from_bytes(bytes) else { return };
    let mut headers = HeaderMap::from_iter([(CACHE_CONTROL, value)]);
    slope::watch(bytes, |bytes| {
        let Ok(value) = HeaderValue::from_bytes(bytes) else { return };
        drop(ResponseControl::of(&HeaderMap::from_iter([(CACHE_CONTROL, value)])));
    });
    let (asked, answered) = (RequestControl::of(&headers), ResponseControl::of(&headers));
    headers.append(CACHE_CONTROL, HeaderValue::from_static("no-store, private, no-cache, max-age=5"));
    let stricter = ResponseControl::of(&headers);
    assert!(stricter.no_store || (stricter.private && stricter.no_cache));
    assert!(stricter.no_store || stricter.max_age <= answered.max_age || answered.max_age.is_none());
    assert!(RequestControl::of(&headers).no_store || asked.no_store);
});
