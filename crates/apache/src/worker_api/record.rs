//! What the worker reads of a record, and sets.

use std::rc::Rc;

use wire::frame::{Field, Flags};

use crate::Place;
use crate::request_rec::RequestRec;
use crate::request_rec::environment::{self, Api, api};
use crate::request_rec::field::{Number, Text};
use crate::request_rec::table::Table;
use crate::request_rec::tables::Id;
use crate::request_stack::with;

/// What a record was made for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requested {
    /// By which the front knows the request of the client.
    pub number: u64,
    /// Index of the virtual host.
    pub host: u16,
    /// As programs see it.
    pub path: Vec<u8>,
    /// What stands for the file; empty until the path was translated.
    pub filename: Vec<u8>,
}

/// See [`Requested`].
pub fn requested(request: u64) -> Requested {
    let requested = with(request, |r| Requested {
        number: r.frame.id(),
        host: r.frame.host(),
        path: r.uri().to_vec(),
        filename: r.mapped_name().to_vec(),
    });
    requested.unwrap_or_default()
}

/// What was said of a record by its handlers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetByHandlers {
    /// `$r->uri`, decoded.
    pub uri: Vec<u8>,
    /// `$r->args`, or empty.
    pub args: Vec<u8>,
    /// `$r->filename`, when a handler set it or has found it by `$r->translate_name`.
    pub filename: Option<Vec<u8>>,
    /// `$r->document_root`, when a handler set it.
    pub document_root: Option<Vec<u8>>,
}

/// See [`SetByHandlers`].
pub fn set_by_handlers(request: u64) -> SetByHandlers {
    let said = with(request, |r| SetByHandlers {
        uri: r.known_text(Text::Uri).unwrap_or_default().to_vec(),
        args: r.known_text(Text::Args).unwrap_or_default().to_vec(),
        filename: r.named_file(),
        document_root: r.known_text(Text::DocumentRoot).filter(|_| r.has_set(Text::DocumentRoot)).map(<[u8]>::to_vec),
    });
    said.unwrap_or_default()
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

/// The client came over TLS.
pub fn is_https(request: u64) -> bool {
    with(request, |r| r.frame.flags().has(Flags::HTTPS)).unwrap_or(false)
}

/// `$r->filename`, looked up on the disk.
pub fn filename(request: u64) -> Vec<u8> {
    with(request, |r| r.text(Text::Filename).map(<[u8]>::to_vec)).ok().flatten().unwrap_or_default()
}

/// Whether another request of this client has led to it.
pub fn is_internal(request: u64) -> bool {
    with(request, |r| r.links.prev.is_some() || r.links.main.is_some()).unwrap_or(false)
}

/// Whether a file, there or not, stands for what was requested.
pub fn has_file(request: u64) -> bool {
    with(request, |r| r.number(Number::HasFile) != 0).unwrap_or(false)
}

/// `$r->path_info`
pub fn path_info(request: u64) -> Vec<u8> {
    with(request, |r| r.text(Text::PathInfo).map(<[u8]>::to_vec)).ok().flatten().unwrap_or_default()
}

/// `$r->handler`, when a handler set it: `None` when not, an inner `None` for undef.
pub fn handler(request: u64) -> Option<Option<Vec<u8>>> {
    let set = |r: &mut RequestRec| r.has_set(Text::Handler).then(|| r.known_text(Text::Handler).map(<[u8]>::to_vec));
    with(request, set).ok().flatten()
}

/// The configuration says this of the place that the request has come to.
pub fn place_is(request: u64, place: Rc<Place>) {
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

/// What `PerlSetEnv` said of the last place goes, unless a handler has changed it; what it says of this one comes.
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

/// Nobody would hear more of its answer.
pub fn is_unheard(request: u64) -> bool {
    with(request, |r| r.number(Number::Unheard) != 0).unwrap_or(true)
}

/// The status that `$r->status` says.
pub fn status(request: u64) -> u16 {
    with(request, |r| r.status).unwrap_or(500)
}

/// Sets it.
pub fn set_status(request: u64, status: u16) {
    let _ = with(request, |r| r.status = status);
}

/// Sends the client elsewhere: `Location`.
pub fn set_location(request: u64, url: &[u8]) {
    let _ = with(request, |r| r.tables.of_mut(Id::HeadersOut).set(b"Location", url));
}

/// A note for whoever makes the page: `$r->notes`.
pub fn set_note(request: u64, name: &[u8], value: &[u8]) {
    let _ = with(request, |r| match api() {
        Api::One => r.tables.of_mut(Id::Notes).set(name, value),
        Api::Two => r.tables.of_mut(Id::Notes).merge(name, value),
    });
}

/// The content type that a handler set goes along with the request to where it is redirected.
pub fn keep_content_type(from: u64, to: u64) {
    let kind = with(from, |r| r.known_text(Text::ContentType).map(<[u8]>::to_vec)).ok().flatten();
    let _ = with(to, |r| r.set_text(Text::ContentType, kind.as_deref()));
}
