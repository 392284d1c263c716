//! Content-Type, Content-Encoding and Content-Language of a file, from the extensions of its name (httpd manual, mod_mime).

use http::header::{CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderValue};

use crate::routing::{Fields, Route};
use config::Config;
use config::response::types::Described;
use files::mime::describe;

/// Typical number of header fields in a file's response, for allocating the map once.
const USUAL: usize = 12;

/// The headers that describe the file of `route`.
pub fn headers(config: &Config, route: &Route) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(USUAL);
    let known = route.memo.described.get_or_init(|| fields(config, route));
    headers.extend(known.iter().cloned());
    headers
}

fn fields(config: &Config, route: &Route) -> Fields {
    let Described { mime, encoding, language, charset } = describe(config, &route.settings, &route.filename);
    let kind = mime.or_else(|| route.settings.default_type.clone()).map(|kind| match charset {
        Some(charset) if !kind.contains("charset=") => format!("{kind}; charset={charset}"),
        _ => kind,
    });
    let fields = [(CONTENT_TYPE, kind), (CONTENT_ENCODING, encoding), (CONTENT_LANGUAGE, language)];
    fields.into_iter().filter_map(|(name, value)| Some((name, HeaderValue::from_str(&value?).ok()?))).collect()
}
