//! Content-Type, Content-Encoding and Content-Language of a file, from the extensions of its name (httpd manual, mod_mime).

use http::header::{CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderValue};

use crate::config::Config;
use crate::config::response::types::Described;
use crate::front::routing::Route;
use crate::mime::describe;

/// Header fields that the answer with a file will have: the map is made for them at once.
const USUAL: usize = 12;

/// The headers that describe the file of `route`.
pub fn headers(config: &Config, route: &Route) -> HeaderMap {
    let Described { mime, encoding, language, charset } = describe(config, &route.settings, &route.filename);
    let kind = mime.or_else(|| route.settings.default_type.clone()).map(|kind| match charset {
        Some(charset) if !kind.contains("charset=") => format!("{kind}; charset={charset}"),
        _ => kind,
    });
    let mut headers = HeaderMap::with_capacity(USUAL);
    for (name, value) in [(CONTENT_TYPE, kind), (CONTENT_ENCODING, encoding), (CONTENT_LANGUAGE, language)] {
        headers.extend(value.and_then(|value| Some((name, HeaderValue::from_str(&value).ok()?))));
    }
    headers
}
