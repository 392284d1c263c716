//! What a file is, as far as its name says it.

use http::header::{CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderValue};

use super::route::Route;
use crate::config::Config;
use crate::config::rules::types::Described;

/// The type that an extension in lower case usually has.
pub fn usual(extension: &str) -> Option<String> {
    mime_guess::from_ext(extension).first_raw().map(str::to_owned)
}

/// The type, encoding and language of `route`'s file, as headers.
pub fn headers(config: &Config, route: &Route) -> HeaderMap {
    let Described { mime, encoding, language, charset } = describe(config, route);
    let kind = mime.or_else(|| route.settings.default_type.clone()).map(|kind| match charset {
        Some(charset) if !kind.contains("charset=") => format!("{kind}; charset={charset}"),
        _ => kind,
    });
    let mut headers = HeaderMap::new();
    for (name, value) in [(CONTENT_TYPE, kind), (CONTENT_ENCODING, encoding), (CONTENT_LANGUAGE, language)] {
        headers.extend(value.and_then(|value| Some((name, HeaderValue::from_str(&value).ok()?))));
    }
    headers
}

fn describe(config: &Config, route: &Route) -> Described {
    let name = route.filename.file_name().unwrap_or_default().to_string_lossy();
    let usual = |extension: &str| config.types.get(extension).cloned().or_else(|| usual(extension));
    route.settings.rules.types.describe(&name, usual)
}
