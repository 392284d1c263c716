//! Values of a record that the worker reads and sets.

use std::rc::Rc;

use wire::frame::{Field, Flags, SeenCertificate};

use crate::PlaceConfig;
use crate::request_rec::RequestRec;
use crate::request_rec::environment::{self, Api, api};
use crate::request_rec::field::{Number, Text};
use crate::request_rec::table::Table;
use crate::request_rec::tables::Id;
use crate::request_stack::with;

/// The identity of a record: the request that it was made for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requested {
    /// The id of the client's request at the front.
    pub number: u64,
    /// Index of the virtual host.
    pub host: u16,
    /// The path as Perl code sees it.
    pub path: Vec<u8>,
    /// Name of the file; empty until the path is translated.
    pub filename: Vec<u8>,
}

/// The facts about a request for resolving its location.
pub fn requested(request: u64) -> Requested {
    let requested = with(request, |r| Requested {
        number: r.frame.id(),
        host: r.frame.host(),
        path: r.uri().to_vec(),
        filename: r.mapped_name().to_vec(),
    });
    requested.unwrap_or_default()
}

/// The server as a client has asked for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AskedServer {
    /// The `Host` header.
    pub host_header: String,
    /// The address that the client connected to.
    pub address: String,
    /// Whether the client came over TLS.
    pub is_secure: bool,
}

/// Empty texts if the request has ended.
pub fn asked_server(request: u64) -> AskedServer {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let server = with(request, |r| AskedServer {
        host_header: text(r.frame.header(b"host").unwrap_or_default()),
        address: text(r.frame.field(Field::LocalAddr)),
        is_secure: r.frame.flags().has(Flags::HTTPS),
    });
    server.unwrap_or_default()
}

/// Fields of `$r` that translation handlers may change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetByHandlers {
    /// `$r->uri`, decoded.
    pub uri: Vec<u8>,
    /// `$r->args`, or empty.
    pub args: Vec<u8>,
    /// `$r->filename`, set by a handler or found by `$r->translate_name`.
    pub filename: Option<Vec<u8>>,
    /// `$r->document_root`, if a handler has set it.
    pub document_root: Option<Vec<u8>>,
}

/// Defaults if the request has ended.
pub fn set_by_handlers(request: u64) -> SetByHandlers {
    let current = with(request, |r| SetByHandlers {
        uri: r.known_text(Text::Uri).unwrap_or_default().to_vec(),
        args: r.known_text(Text::Args).unwrap_or_default().to_vec(),
        filename: r.named_file(),
        document_root: r.known_text(Text::DocumentRoot).filter(|_| r.has_set(Text::DocumentRoot)).map(<[u8]>::to_vec),
    });
    current.unwrap_or_default()
}

/// `$r->method`
pub fn method(request: u64) -> String {
    let method =
        with(request, |r| String::from_utf8_lossy(r.known_text(Text::Method).unwrap_or_default()).into_owned());
    method.unwrap_or_default()
}

/// Name and port of the server in links to itself.
pub fn server_name(request: u64) -> (String, u16) {
    let name = |r: &mut crate::request_rec::RequestRec| {
        let name = String::from_utf8_lossy(r.frame.field(Field::ServerName)).into_owned();
        (name, r.frame.server_port())
    };
    with(request, name).unwrap_or_default()
}

/// Whether the client is connected over TLS.
pub fn is_https(request: u64) -> bool {
    with(request, |r| r.frame.flags().has(Flags::HTTPS)).unwrap_or(false)
}

/// The client's certificate, as the front has judged it.
pub fn certificate(request: u64) -> SeenCertificate {
    let seen = with(request, |r| SeenCertificate::parse(r.frame.field(Field::Certificate)));
    seen.unwrap_or(SeenCertificate::Invalid)
}

/// `$r->filename`, looked up on disk.
pub fn filename(request: u64) -> Vec<u8> {
    with(request, |r| r.text(Text::Filename).map(<[u8]>::to_vec)).ok().flatten().unwrap_or_default()
}

/// Command or Perl sub of an element of server-side includes, which replaces the handler; empty: the handler runs.
pub fn element(request: u64) -> Vec<u8> {
    if is_internal(request) {
        return Vec::new();
    }
    with(request, |r| r.frame.field(Field::Task).to_vec()).unwrap_or_default()
}

/// Whether the record is an internal request: a subrequest or a redirect.
pub fn is_internal(request: u64) -> bool {
    with(request, |r| r.links.prev.is_some() || r.links.main.is_some()).unwrap_or(false)
}

/// Whether the request maps to a file, existing or not.
pub fn has_file(request: u64) -> bool {
    with(request, |r| r.number(Number::HasFile) != 0).unwrap_or(false)
}

/// `$r->path_info`
pub fn path_info(request: u64) -> Vec<u8> {
    with(request, |r| r.text(Text::PathInfo).map(<[u8]>::to_vec)).ok().flatten().unwrap_or_default()
}

/// `$r->handler`, if set by a handler: an inner `None` is undef.
pub fn handler(request: u64) -> Option<Option<Vec<u8>>> {
    let set = |r: &mut RequestRec| r.has_set(Text::Handler).then(|| r.known_text(Text::Handler).map(<[u8]>::to_vec));
    with(request, set).ok().flatten()
}

/// Sets the configuration of the request's location.
pub fn place_is(request: u64, place: Rc<PlaceConfig>) {
    let gone = with(request, |r| {
        let before = std::mem::replace(&mut r.place, place);
        r.tables.forget(Id::DirConfig);
        let gone = before.set_env.iter().filter(|(name, _)| r.place.set_env.iter().all(|(known, _)| known != name));
        let gone: Vec<_> = gone.cloned().collect();
        if r.tables.is_filled(Id::SubprocessEnv) {
            set_env_of_place(r, &gone);
        }
        gone
    });
    gone.unwrap_or_default().iter().for_each(|(name, _)| libperl::env_forget(name.as_bytes()));
}

/// Removes the last location's `PerlSetEnv` variables, unless a handler has changed them, and adds the new
/// location's.
fn set_env_of_place(r: &mut RequestRec, gone: &[(String, String)]) {
    let mut without = Table::default();
    if !gone.is_empty() {
        environment::cgi(r, &mut |name, value| without.set(name, value));
    }
    let variables = r.tables.of_mut(Id::SubprocessEnv);
    for (name, value) in gone.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())) {
        match without.get(name) {
            _ if variables.get(name) != Some(value) => {}
            Some(hidden) => variables.set(name, hidden),
            None => variables.unset(name),
        }
    }
    r.place.set_env.iter().for_each(|(name, value)| variables.set(name.as_bytes(), value.as_bytes()));
}

/// Whether further output of the request would be dropped.
pub fn is_unheard(request: u64) -> bool {
    with(request, |r| r.number(Number::Unheard) != 0).unwrap_or(true)
}

/// `$r->status`
pub fn status(request: u64) -> u16 {
    with(request, |r| r.status).unwrap_or(500)
}

/// Sets `$r->status`.
pub fn set_status(request: u64, status: u16) {
    let _ = with(request, |r| r.status = status);
}

/// Sets the `Location` header.
pub fn set_location(request: u64, url: &[u8]) {
    let _ = with(request, |r| r.tables.of_mut(Id::HeadersOut).set(b"Location", url));
}

/// Sets a note for the code that makes the error page: `$r->notes`.
pub fn set_note(request: u64, name: &[u8], value: &[u8]) {
    let _ = with(request, |r| match api() {
        Api::One => r.tables.of_mut(Id::Notes).set(name, value),
        Api::Two => r.tables.of_mut(Id::Notes).merge(name, value),
    });
}

/// Copies the content type that a handler has set to the redirected request.
pub fn keep_content_type(from: u64, to: u64) {
    let kind = with(from, |r| r.known_text(Text::ContentType).map(<[u8]>::to_vec)).ok().flatten();
    let _ = with(to, |r| r.set_text(Text::ContentType, kind.as_deref()));
}
