//! The environment of a program: CGI/1.1 variables for scripts and `$r` handlers, and the request's keys of a
//! PSGI environment.
//!
//! Both are built for every request: pairs are passed by reference, and only a list of the headers and the
//! headers' variable names are allocated.

use std::sync::atomic::{AtomicBool, Ordering};

use form::urlencoded::percent_decoded;
use wire::frame::{Field, Flags, Frame};

use super::RequestRec;
use super::field::{Number, Text};
use super::table::Table;
use super::tables::Id;
use crate::place::PassedAlias;

type Each<'a> = &'a mut dyn FnMut(&[u8], &[u8]);

/// mod_perl's two APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `Apache::*`
    One,
    /// `Apache2::*`, `APR::*`, `ModPerl::*`
    Two,
}

static SPEAKS_TWO: AtomicBool = AtomicBool::new(false);

/// Sets the API of this process.
pub fn speak(api: Api) {
    SPEAKS_TWO.store(api == Api::Two, Ordering::Relaxed);
}

/// The API of this process.
pub fn api() -> Api {
    if SPEAKS_TWO.load(Ordering::Relaxed) { Api::Two } else { Api::One }
}

impl Api {
    /// The value of `$ENV{MOD_PERL}`, by which modules recognize the API.
    pub fn mod_perl(self) -> &'static str {
        match self {
            Api::One => "mod_perl/1.31",
            Api::Two => "mod_perl/2.0.12",
        }
    }

    /// The value of `$ENV{GATEWAY_INTERFACE}`.
    fn gateway(self) -> &'static [u8] {
        match self {
            Api::One => b"CGI-Perl/1.1",
            Api::Two => b"CGI/1.1",
        }
    }
}

/// Adds the content of `$r->subprocess_env` to `%ENV` if earlier phases have filled it; otherwise the CGI variables.
pub(crate) fn programs(r: &mut RequestRec, each: Each<'_>) {
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
pub(crate) fn cgi(r: &mut RequestRec, each: Each<'_>) {
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
pub(crate) fn of_cgi(r: &mut RequestRec, each: Each<'_>) {
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
pub(crate) fn psgi(r: &mut RequestRec, each: Each<'_>) {
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
/// them. `None` when no slash was removed, or when the path has `..`, which only the front resolves.
pub(crate) fn path_as_sent(frame: &Frame) -> Option<Vec<u8>> {
    let target = frame.field(Field::Target);
    let raw = target.split(|byte| *byte == b'?').next()?;
    if !raw.starts_with(b"/") || !raw.windows(2).any(|pair| pair == b"//") {
        return None;
    }
    let decoded = percent_decoded(raw);
    let climbs = decoded.split(|byte| *byte == b'/').any(|segment| matches!(segment, b"." | b".."));
    (!climbs).then_some(decoded)
}

/// The variables that the configuration set for this request, or for the request redirected to it. Variables of PSGI
/// and CGI follow and replace them.
pub(crate) fn variables(frame: &Frame, each: Each<'_>) {
    for pair in frame.field(Field::Env).split(|byte| *byte == 0) {
        if let Some(at) = pair.iter().position(|byte| *byte == b'=') {
            each(&pair[..at], &pair[at + 1..]);
        }
    }
}

/// Whether the front has redirected the client's request to this URI.
pub(crate) fn is_redirected(frame: &Frame) -> bool {
    frame.field(Field::Env).split(|byte| *byte == 0).any(|pair| pair.starts_with(b"REDIRECT_URL="))
}

/// The variables that a subrequest inherits from its main request, encoded as [`Field::Env`].
pub(crate) fn handed_on(r: &RequestRec) -> Vec<u8> {
    if !r.tables.is_filled(Id::SubprocessEnv) {
        return r.frame.field(Field::Env).to_vec();
    }
    let of_path = |name: &[u8]| matches!(name, b"PATH_INFO" | b"PATH_TRANSLATED");
    encoded(r.tables.of(Id::SubprocessEnv).iter().filter(|(name, _)| !of_path(name)))
}

pub(crate) fn encoded<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Vec<u8> {
    let sound = pairs.filter(|(name, value)| !name.contains(&b'=') && ![*name, *value].concat().contains(&0));
    sound.flat_map(|(name, value)| [name, b"=", value, b"\0"].concat()).collect()
}

fn of_server(r: &mut RequestRec, each: Each<'_>) {
    let server_port = r.number(Number::ServerPort) as u16;
    each(b"SERVER_SOFTWARE", r.place.server_software.as_bytes());
    each(b"SERVER_NAME", r.frame.field(Field::ServerName));
    each(b"SERVER_ADDR", r.frame.field(Field::LocalAddr));
    port(b"SERVER_PORT", server_port, each);
    each(b"SERVER_ADMIN", r.place.server_admin.as_bytes());
    each(b"DOCUMENT_ROOT", r.known_text(Text::DocumentRoot).unwrap_or_default());
}

fn of_request(r: &RequestRec, each: Each<'_>) {
    each(b"REQUEST_METHOD", r.known_text(Text::Method).unwrap_or_default());
    each(b"REQUEST_URI", r.frame.field(Field::Target));
    each(b"SERVER_PROTOCOL", r.frame.field(Field::Protocol));
}

/// Variables that httpd 2.4 sets.
fn of_httpd(r: &RequestRec, each: Each<'_>) {
    each(b"REQUEST_SCHEME", if r.frame.flags().has(Flags::HTTPS) { b"https" } else { b"http" });
    // A handler or a rule that has named another file has left the alias.
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

fn of_client(r: &RequestRec, each: Each<'_>) {
    each(b"REMOTE_ADDR", r.known_text(Text::RemoteIp).unwrap_or_default());
    port(b"REMOTE_PORT", r.frame.remote_port(), each);
    of_visitor(r, each);
    if r.frame.flags().has(Flags::HTTPS) {
        each(b"HTTPS", b"on");
    }
}

/// The client's name and user, if known.
fn of_visitor(r: &RequestRec, each: Each<'_>) {
    let names = [(&b"REMOTE_HOST"[..], Text::RemoteHost), (b"REMOTE_USER", Text::User), (b"AUTH_TYPE", Text::AuthType)];
    for (name, field) in names {
        if let Some(value) = r.known_text(field) {
            each(name, value);
        }
    }
}

fn of_script(r: &RequestRec, each: Each<'_>) {
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
fn body(frame: &Frame, each: Each<'_>) {
    if let Some(kind) = frame.header(b"content-type") {
        each(b"CONTENT_TYPE", kind);
    }
    if frame.body_length() > 0 || frame.header(b"content-length").is_some() {
        decimal(b"CONTENT_LENGTH", frame.body_length(), each);
    }
}

fn port(name: &[u8], port: u16, each: Each<'_>) {
    decimal(name, port.into(), each);
}

fn decimal(name: &[u8], number: u64, each: Each<'_>) {
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

/// httpd hides credentials from CGI programs: other users of the machine could read them in the process table.
fn httpd_hides(name: &[u8]) -> bool {
    matches!(name, b"authorization" | b"proxy-authorization")
}

fn nothing_hidden(_: &[u8]) -> bool {
    false
}

/// `Proxy` would become `HTTP_PROXY`, which many HTTP clients obey (httpoxy). A name with `_` could pose as
/// another header, which a proxy had checked. Names with other marks are no variable names. httpd drops all of
/// these, too.
fn never_passed(name: &[u8]) -> bool {
    let is_variable = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    matches!(name, b"content-type" | b"content-length" | b"proxy") || !is_variable
}

/// The request's headers, as earlier phases have changed them.
fn headers_in(r: &RequestRec, each: Each<'_>) {
    if !r.tables.is_filled(Id::HeadersIn) {
        return headers(r.frame.headers(), httpd_hides, each);
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
    headers(changed.iter().map(|(name, value)| (name.as_slice(), *value)), httpd_hides, each);
}

fn headers<'a>(all: impl Iterator<Item = (&'a [u8], &'a [u8])>, hidden: fn(&[u8]) -> bool, each: Each<'_>) {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::tests::record;
    use super::*;
    use crate::PlaceConfig;

    fn collected(fill: impl FnOnce(Each<'_>)) -> BTreeMap<String, String> {
        let mut pairs = BTreeMap::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        fill(&mut |key, value| drop(pairs.insert(text(key), text(value))));
        pairs
    }

    const HEADERS: &[(&[u8], &[u8])] = &[
        (b"host", b"example.org:8080"),
        (b"x-a", b"1"),
        (b"cookie", b"a=b"),
        (b"proxy", b"evil"),
        (b"x_a", b"evil"),
        (b"x.a", b"odd"),
        (b"authorization", b"Basic Zm9v"),
        (b"x-a", b"2"),
        (b"cookie", b"c=d"),
        (b"content-type", b"text/x"),
        (b"content-length", b"0"),
    ];

    #[test]
    fn a_script_finds_cgi_1_1() {
        let place = PlaceConfig {
            document_root: "/www".into(),
            server_admin: "me@example.org".into(),
            set_env: vec![("SERVER_ADMIN".into(), "set".into()), ("X".into(), "y".into())],
            ..Default::default()
        };
        let mut r = record(place, "/cgi/a.pl/more", HEADERS, Some(9));
        let env = collected(|each| cgi(&mut r, each));
        let expected = [
            ("GATEWAY_INTERFACE", "CGI-Perl/1.1"),
            ("MOD_PERL", "mod_perl/1.31"),
            ("SCRIPT_NAME", "/cgi/a.pl"),
            ("SCRIPT_FILENAME", "/www/cgi/a.pl"),
            ("PATH_INFO", "/more"),
            ("PATH_TRANSLATED", "/www/more"),
            ("REQUEST_URI", "/cgi/a.pl/more?q=1"),
            ("QUERY_STRING", "q=1"),
            ("SERVER_PORT", "8080"),
            ("REMOTE_PORT", "4000"),
            ("SERVER_ADMIN", "set"),
            ("X", "y"),
            ("HTTP_X_A", "1, 2"),
            ("HTTP_COOKIE", "a=b; c=d"),
            ("CONTENT_TYPE", "text/x"),
            ("CONTENT_LENGTH", "0"),
        ];
        for (key, value) in expected {
            assert_eq!(env.get(key).map(String::as_str), Some(value), "{key}");
        }
        for absent in ["HTTP_PROXY", "HTTP_AUTHORIZATION", "HTTP_CONTENT_TYPE", "HTTPS", "REMOTE_USER"] {
            assert!(!env.contains_key(absent), "{absent}");
        }
        assert!(!env.values().any(|value| value == "odd"));
    }

    #[test]
    fn without_setup_env_only_what_was_configured_is_there() {
        let place = PlaceConfig { setup_env: false, path: "/bin".into(), ..Default::default() };
        let env = collected(|each| cgi(&mut record(place, "/x", HEADERS, None), each));
        assert_eq!(env.keys().collect::<Vec<_>>(), ["GATEWAY_INTERFACE", "MOD_PERL", "PATH"]);
    }

    #[test]
    fn a_psgi_application_finds_its_mount_and_every_header() {
        let mut r = record(PlaceConfig::default(), "/app/x", HEADERS, Some(4));
        let env = collected(|each| psgi(&mut r, each));
        let expected = [
            ("SCRIPT_NAME", "/app"),
            ("PATH_INFO", "/x"),
            ("HTTP_AUTHORIZATION", "Basic Zm9v"),
            ("SERVER_PORT", "8080"),
        ];
        for (key, value) in expected {
            assert_eq!(env.get(key).map(String::as_str), Some(value), "{key}");
        }
        assert!(!env.contains_key("HTTP_PROXY") && !env.contains_key("GATEWAY_INTERFACE"));
    }
}
