//! The environment of a program: CGI/1.1 variables for scripts and `$r` handlers, and the request's keys of a
//! PSGI environment.
//!
//! An environment is built for every request: pairs are passed by reference, and only a list of the headers and the
//! headers' variable names are allocated.

mod api;
mod headers;
mod inherited;
#[cfg(test)]
mod tests;

pub use api::{Api, api, speak};
pub(crate) use inherited::{encoded, handed_on, is_redirected, variables};

use form::urlencoded::percent_decoded;
use wire::frame::{Field, Flags, Frame};

use super::RequestRec;
use super::field::{Number, Text};
use super::table::Table;
use super::tables::Id;
use crate::place::PassedAlias;
use headers::{headers, headers_in, nothing_hidden};

type EnvSink<'a> = &'a mut dyn FnMut(&[u8], &[u8]);

/// Adds the content of `$r->subprocess_env` to `%ENV` if earlier phases have filled it; otherwise the CGI variables.
pub(crate) fn programs(r: &mut RequestRec, each: EnvSink<'_>) {
    if r.place.handler.as_deref() == Some("psgi") {
        return; // the request's variables are in the PSGI environment
    }
    if !(r.place.setup_env && r.tables.is_filled(Id::SubprocessEnv)) {
        return cgi(r, each);
    }
    for (name, value) in r.tables.of(Id::SubprocessEnv).iter() {
        each(name, value);
    }
}

/// `%ENV` as mod_perl 1.x fills it. Later pairs replace earlier ones of the same name.
pub(crate) fn cgi(r: &mut RequestRec, each: EnvSink<'_>) {
    let api = api();
    each(b"MOD_PERL", api.mod_perl().as_bytes());
    if api == Api::Two {
        each(b"MOD_PERL_API_VERSION", b"2");
    }
    if api == Api::One {
        each(b"GATEWAY_INTERFACE", api.gateway());
    }
    if !r.place.path.is_empty() {
        each(b"PATH", r.place.path.as_bytes());
    }
    if r.place.setup_env {
        of_cgi(r, each);
    }
    for (name, value) in &r.place.set_env {
        each(name.as_bytes(), value.as_bytes());
    }
}

/// The variables of CGI, also where the configuration does not set them up.
pub(crate) fn of_cgi(r: &mut RequestRec, each: EnvSink<'_>) {
    variables(&r.frame, each);
    r.split();
    if api() == Api::Two {
        each(b"GATEWAY_INTERFACE", Api::Two.gateway());
    }
    of_server(r, each);
    of_request(r, each);
    of_httpd(r, each);
    of_client(r, each);
    of_script(r, each);
    body(&r.frame, each);
    headers_in(r, each);
}

/// The request's keys of a PSGI environment; the adapter adds the `psgi.*` keys.
pub(crate) fn psgi(r: &mut RequestRec, each: EnvSink<'_>) {
    variables(&r.frame, each);
    let path = r.frame.field(Field::Path);
    let script = match r.frame.script_length() {
        Some(length) => length,
        None => r.place.location.trim_end_matches('/').len().min(path.len()),
    };
    each(b"SCRIPT_NAME", &path[..script]);
    match path_as_sent(&r.frame) {
        Some(sent) if sent.starts_with(&path[..script]) => each(b"PATH_INFO", &sent[script..]),
        _ => each(b"PATH_INFO", &path[script..]),
    }
    each(b"SERVER_NAME", r.frame.field(Field::ServerName));
    port(b"SERVER_PORT", r.frame.server_port(), each);
    each(b"QUERY_STRING", r.frame.field(Field::Query));
    of_request(r, each);
    each(b"REMOTE_ADDR", r.frame.field(Field::RemoteAddr));
    port(b"REMOTE_PORT", r.frame.remote_port(), each);
    of_visitor(r, each);
    body(&r.frame, each);
    headers(r.frame.headers(), nothing_hidden, each);
}

/// The path with the repeated slashes that the front removed to find the location: Plack's test suite requires
/// them. `None` when no slash was removed, or when the client's target is not this path: it has `..`, or an internal
/// redirect led elsewhere, and the application must not see a place that the client may not enter.
pub(crate) fn path_as_sent(frame: &Frame) -> Option<Vec<u8>> {
    let target = frame.field(Field::Target);
    let raw = target.split(|byte| *byte == b'?').next()?;
    if !raw.starts_with(b"/") || !raw.windows(2).any(|pair| pair == b"//") {
        return None;
    }
    let decoded = percent_decoded(raw);
    let mut merged = decoded.clone();
    merged.dedup_by(|byte, before| *byte == b'/' && *before == b'/');
    (merged == frame.field(Field::Path)).then_some(decoded)
}

fn of_server(r: &mut RequestRec, each: EnvSink<'_>) {
    let server_port = r.number(Number::ServerPort) as u16;
    each(b"SERVER_SOFTWARE", r.place.server_software.as_bytes());
    each(b"SERVER_NAME", r.frame.field(Field::ServerName));
    each(b"SERVER_ADDR", r.frame.field(Field::LocalAddr));
    port(b"SERVER_PORT", server_port, each);
    each(b"SERVER_ADMIN", r.place.server_admin.as_bytes());
    each(b"DOCUMENT_ROOT", r.known_text(Text::DocumentRoot).unwrap_or_default());
}

fn of_request(r: &RequestRec, each: EnvSink<'_>) {
    each(b"REQUEST_METHOD", r.known_text(Text::Method).unwrap_or_default());
    each(b"REQUEST_URI", r.frame.field(Field::Target));
    each(b"SERVER_PROTOCOL", r.frame.field(Field::Protocol));
}

/// Variables that httpd 2.4 sets.
fn of_httpd(r: &RequestRec, each: EnvSink<'_>) {
    each(b"REQUEST_SCHEME", if r.frame.flags().has(Flags::HTTPS) { b"https" } else { b"http" });
    // No alias applies if a handler or a rule has set a file outside of it.
    let file = r.known_text(Text::Filename).unwrap_or_default();
    let context = r.place.aliases.find(r.frame.field(Field::Path));
    let context = context.filter(|alias: &PassedAlias| alias.file.starts_with(file));
    let (prefix, root) = match &context {
        Some(context) => (context.prefix.as_bytes(), context.root.as_bytes()),
        None => (&b""[..], r.known_text(Text::DocumentRoot).unwrap_or_default()),
    };
    each(b"CONTEXT_PREFIX", prefix);
    each(b"CONTEXT_DOCUMENT_ROOT", root);
}

fn of_client(r: &RequestRec, each: EnvSink<'_>) {
    each(b"REMOTE_ADDR", r.known_text(Text::RemoteIp).unwrap_or_default());
    port(b"REMOTE_PORT", r.frame.remote_port(), each);
    of_visitor(r, each);
    if r.frame.flags().has(Flags::HTTPS) {
        each(b"HTTPS", b"on");
    }
}

/// The client's name and user, if known.
fn of_visitor(r: &RequestRec, each: EnvSink<'_>) {
    let names = [(&b"REMOTE_HOST"[..], Text::RemoteHost), (b"REMOTE_USER", Text::User), (b"AUTH_TYPE", Text::AuthType)];
    for (name, field) in names {
        if let Some(value) = r.known_text(field) {
            each(name, value);
        }
    }
}

fn of_script(r: &RequestRec, each: EnvSink<'_>) {
    // In a subrequest the whole path is the script's name, in Apache 1.3 as in httpd 2.
    let is_part = r.frame.field(Field::Protocol) == b"INCLUDED";
    each(b"SCRIPT_NAME", r.known_text(if is_part { Text::Uri } else { Text::ScriptName }).unwrap_or_default());
    each(b"SCRIPT_FILENAME", r.known_text(Text::Filename).unwrap_or_default());
    each(b"QUERY_STRING", r.known_text(Text::Args).unwrap_or_default());
    let path_info = r.known_text(Text::PathInfo).unwrap_or_default();
    if !path_info.is_empty() {
        each(b"PATH_INFO", path_info);
        each(b"PATH_TRANSLATED", &[document_root(r), path_info].concat());
    }
}

fn document_root(r: &RequestRec) -> &[u8] {
    let root = r.known_text(Text::DocumentRoot).unwrap_or_default();
    root.strip_suffix(b"/").unwrap_or(root)
}

/// Renews the variables about the script: `subprocess_env` was read before the script was known.
pub(crate) fn renew_script(r: &mut RequestRec) {
    r.split();
    let mut pairs = Table::default();
    of_script(r, &mut |key, value| pairs.set(key, value));
    let variables = r.tables.of_mut(Id::SubprocessEnv);
    for name in [b"PATH_INFO".as_slice(), b"PATH_TRANSLATED"] {
        variables.unset(name);
    }
    pairs.iter().for_each(|(name, value)| variables.set(name, value));
}

/// A chunked body has no Content-Length header, but programs need its length.
fn body(frame: &Frame, each: EnvSink<'_>) {
    if let Some(kind) = frame.header(b"content-type") {
        each(b"CONTENT_TYPE", kind);
    }
    if frame.body_length() > 0 || frame.header(b"content-length").is_some() {
        decimal(b"CONTENT_LENGTH", frame.body_length(), each);
    }
}

fn port(name: &[u8], port: u16, each: EnvSink<'_>) {
    decimal(name, port.into(), each);
}

fn decimal(name: &[u8], number: u64, each: EnvSink<'_>) {
    let (mut digits, mut rest) = ([0; 20], number);
    // A u64 has at most 20 digits.
    for at in (0..digits.len()).rev() {
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return each(name, &digits[at..]);
        }
    }
}
