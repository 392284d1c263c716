//! Request headers as variables: `HTTP_…`.

use super::super::RequestRec;
use super::super::tables::Id;
use super::EnvSink;

/// The request's headers, as earlier phases have changed them.
pub(super) fn headers_in(r: &RequestRec, each: EnvSink<'_>) {
    let hidden: fn(&[u8]) -> bool = if r.place.pass_auth { hides_from_trusted } else { httpd_hides };
    if !r.tables.is_filled(Id::HeadersIn) {
        return headers(r.frame.headers(), hidden, each);
    }
    // The table joins several cookies by commas, as httpd does; the environment joins them by semicolons.
    let cookies: Vec<&[u8]> = r.frame.headers().filter(|(name, _)| *name == b"cookie").map(|(_, it)| it).collect();
    let together = cookies.join(&b", "[..]);
    let mut changed: Vec<(Vec<u8>, &[u8])> = Vec::new();
    for (name, value) in r.tables.of(Id::HeadersIn).iter() {
        let name = name.to_ascii_lowercase();
        match name == b"cookie" && cookies.len() > 1 && value == together {
            true => changed.extend(cookies.iter().map(|cookie| (name.clone(), *cookie))),
            false => changed.push((name, value)),
        }
    }
    headers(changed.iter().map(|(name, value)| (name.as_slice(), *value)), hidden, each);
}

pub(super) fn headers<'a>(
    all: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    hidden: fn(&[u8]) -> bool,
    each: EnvSink<'_>,
) {
    let mut fields: Vec<(&[u8], &[u8])> = all.filter(|(name, _)| !never_passed(name) && !hidden(name)).collect();
    // Sorting is stable: headers of one name stay in the order in which they came.
    fields.sort_by_key(|(name, _)| *name);
    let mut key = Vec::with_capacity(64);
    for same in fields.chunk_by(|(before, _), (name, _)| before == name) {
        let [(name, value), more @ ..] = same else { continue };
        key.clear();
        key.extend_from_slice(b"HTTP_");
        key.extend(name.iter().map(|byte| if *byte == b'-' { b'_' } else { byte.to_ascii_uppercase() }));
        match more {
            [] => each(&key, value),
            _ => each(&key, &joined(name, same)),
        }
    }
}

/// The value of a header that came several times.
fn joined(name: &[u8], same: &[(&[u8], &[u8])]) -> Vec<u8> {
    let values: Vec<&[u8]> = same.iter().map(|(_, value)| *value).collect();
    values.join(if name == b"cookie" { &b"; "[..] } else { &b", "[..] })
}

/// httpd hides credentials from CGI programs: other users of the machine could read them in the process table.
fn httpd_hides(name: &[u8]) -> bool {
    matches!(name, b"authorization" | b"proxy-authorization")
}

/// `CGIPassAuth On` shows the client's password, and never that for a proxy.
fn hides_from_trusted(name: &[u8]) -> bool {
    name == b"proxy-authorization"
}

pub(super) fn nothing_hidden(_: &[u8]) -> bool {
    false
}

/// `Proxy` would become `HTTP_PROXY`, which many HTTP clients obey (httpoxy). A name with `_` could pose as
/// another header, which a proxy had checked. Names with other marks are no variable names. httpd drops all of
/// these, too.
fn never_passed(name: &[u8]) -> bool {
    let is_variable = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    matches!(name, b"content-type" | b"content-length" | b"proxy") || !is_variable
}
