//! Content-Type, Content-Encoding and Content-Language of a file, from the extensions of its name (httpd manual,
//! mod_mime).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderValue};

use http::request::Parts;

use crate::routing::{Fields, Route};
use config::response::types::Described;
use config::{Config, Handler};
use files::mime::describe;

/// Typical number of header fields in a file's response, for allocating the map once.
const USUAL: usize = 12;
/// httpd's type of type maps.
const TYPE_MAP: &str = "application/x-type-map";
/// httpd's type of files that begin with their own headers.
const AS_IS: &str = "httpd/send-as-is";
/// httpd's type of image maps.
const IMAGE_MAP: &str = "application/x-httpd-imap";

/// The headers that describe the file of `route` by its name.
pub fn content_headers(config: &Config, route: &Route, head: &Parts) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(USUAL);
    headers.extend(described(config, route).iter().cloned());
    if let Some(encoding) = headers.get(CONTENT_ENCODING)
        && let Some(known) = encoding_of_client(&head.headers, encoding)
    {
        headers.insert(CONTENT_ENCODING, known);
    }
    headers
}

/// Whether the file is a type map, by its handler or by its type.
pub fn is_type_map(config: &Config, route: &Route) -> bool {
    let by_type = || described(config, route).iter().any(|(name, value)| name == CONTENT_TYPE && value == TYPE_MAP);
    route.settings.handler == Handler::TypeMap || route.settings.handler == Handler::Default && by_type()
}

/// Whether the file begins with its own headers, by its handler or by its type, which `described` has.
pub fn is_as_is(route: &Route, described: &HeaderMap) -> bool {
    let by_type = || described.get(CONTENT_TYPE).is_some_and(|value| value == AS_IS);
    route.settings.handler == Handler::AsIs || route.settings.handler == Handler::Default && by_type()
}

/// Whether the file is an image map, by its handler or by its type, which `described` has.
pub fn is_image_map(route: &Route, described: &HeaderMap) -> bool {
    let by_type = || described.get(CONTENT_TYPE).is_some_and(|value| value == IMAGE_MAP);
    route.settings.handler == Handler::ImageMap || route.settings.handler == Handler::Default && by_type()
}

fn described<'a>(config: &Config, route: &'a Route) -> &'a Fields {
    route.memo.described.get_or_init(|| fields(config, route))
}

/// `Content-Encoding` as the client writes it: some clients know `gzip`, some `x-gzip`.
fn encoding_of_client(headers: &HeaderMap, encoding: &HeaderValue) -> Option<HeaderValue> {
    let own = encoding.to_str().ok()?;
    let own = own.strip_prefix("x-").unwrap_or(own);
    let lists = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let names: Vec<&str> = lists.flat_map(|list| list.split(',')).filter_map(|item| item.split(';').next()).collect();
    let is = |name: &str, with: &str| name.trim().strip_prefix(with).is_some_and(|name| name.eq_ignore_ascii_case(own));
    let plain = names.iter().find(|name| is(name, ""));
    let name = plain.or_else(|| names.iter().find(|name| is(name, "x-")))?;
    HeaderValue::from_str(&name.trim().to_ascii_lowercase()).ok()
}

fn fields(config: &Config, route: &Route) -> Fields {
    let path_info = route.script_length.and_then(|length| route.path.get(length as usize..));
    let path_info = path_info.filter(|_| route.settings.response.types.use_path_info == Some(true));
    let named = path_info.filter(|info| !info.is_empty()).map(|info| Path::new(OsStr::from_bytes(info)));
    let file = named.unwrap_or(&route.filename);
    let Described { mime, encoding, language, charset } = describe(config, &route.settings, file);
    let kind = mime.or_else(|| route.settings.default_type.clone()).map(|kind| match charset {
        Some(charset) if !kind.contains("charset=") => format!("{kind}; charset={charset}"),
        _ => kind,
    });
    let fields = [(CONTENT_TYPE, kind), (CONTENT_ENCODING, encoding), (CONTENT_LANGUAGE, language)];
    fields.into_iter().filter_map(|(name, value)| Some((name, HeaderValue::from_str(&value?).ok()?))).collect()
}
