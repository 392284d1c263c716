//! The request record of mod_perl 1.x, `request_rec`: what `$r` stands for, and each of its methods reads or sets.

pub mod cgi_program;
pub mod environment;
pub mod field;
pub mod handler_stacks;
pub mod script_name;
pub mod server;
pub mod slashes;
pub mod table;
pub mod tables;
pub mod target;
pub mod translation;

mod lazy_tables;
mod method;
mod numbers;
mod table_index;

use std::cell::OnceCell;
use std::rc::Rc;

use form::multipart::Multipart;
use wire::frame::{Field, Frame};
use wire::reply::LeaveReason;

use self::environment::{Api, api};
use self::field::{Number, Text};
use self::handler_stacks::Stacks;
use self::script_name::Split;
use self::server::server_text;
use self::slashes::{beyond, uri_as_sent};
use self::tables::Tables;
use self::translation::Translation;
use crate::error_page;
use crate::output::{Client, Filtering, Output};
use crate::place::Place;

/// A request as it arrives from the wire.
pub struct Incoming {
    /// What the front says of it.
    pub frame: Frame,
    /// What the configuration says of the place it goes to.
    pub place: Rc<Place>,
    /// Where its answer goes.
    pub client: Box<dyn Client>,
}

/// Where a record stands among the others of its client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Links {
    pub main: Option<usize>,
    pub prev: Option<usize>,
    pub next: Option<usize>,
}

/// What is left to do when the answer has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// The status that was sent.
    pub status: u16,
    /// Something was registered for now: call `Apache::run_cleanups`, then [`crate::end`].
    pub cleanup: bool,
}

/// What a request that is over leaves to the worker.
#[derive(Debug, Default)]
pub struct Ended {
    /// The worker leaves after the request, and why.
    pub leaving: Option<LeaveReason>,
    /// The front could not be reached: no further request will come.
    pub front_is_gone: bool,
    /// The frame's buffer, for the next frame.
    pub buffer: Vec<u8>,
}

/// The request record of mod_perl 1.x: what `$r` stands for.
pub(crate) struct RequestRec {
    pub generation: u64,
    pub frame: Frame,
    pub place: Rc<Place>,
    pub client: Box<dyn Client>,
    pub tables: Tables,
    pub output: Output,
    pub filtering: Filtering,
    /// What is read of the body passes filters.
    pub filters_body: bool,
    /// Of the body that filters have made.
    body_length: Option<u64>,
    /// The status in a script's header, until the filters of its answer begin.
    pub status_for_filters: Option<u16>,
    /// The Content-Length that was said when the filters began, once they have.
    pub length_before_filters: Option<Option<Vec<u8>>>,
    pub status: u16,
    pub no_cache: bool,
    pub leaving: Option<LeaveReason>,
    /// Of a request that is traced: see [`wire::reply::LogKind::Span`].
    pub parts: Vec<(Vec<u8>, Vec<u8>)>,
    pub cleanup: bool,
    pub links: Links,
    pub translation: Translation,
    pub stacks: Stacks,
    /// `$r->custom_response`, by status.
    pub custom_responses: Vec<(u16, Option<Vec<u8>>)>,
    /// The one that a handler asked for last.
    pub shown_response: Option<Vec<u8>>,
    /// Values that a handler set, or that were put together once; they stand before the frame's.
    said: [Option<Option<Vec<u8>>>; Text::ALL.len()],
    split: Option<Split>,
    /// See [`uri_as_sent`].
    sent: OnceCell<Option<Vec<u8>>>,
    /// What the file's name says about its type, when somebody asked.
    usual_type: Option<Vec<u8>>,
    method_number: Option<i64>,
    /// `$r->allowed`: what a handler said, for those who look at it.
    allowed: i64,
    proxyreq: i64,
    /// `$r->clength`: what a handler said last, as mod_perl 2 keeps it beside the header.
    clength: i64,
    /// The form that Apache::Request reads.
    pub multipart: Option<Multipart>,
    /// Name and file name of its part that came last.
    pub part: Option<(Vec<u8>, Option<Vec<u8>>)>,
}

impl RequestRec {
    pub fn new(generation: u64, incoming: Incoming, tables: Tables, output: Output) -> RequestRec {
        RequestRec {
            generation,
            frame: incoming.frame,
            place: incoming.place,
            client: incoming.client,
            tables,
            output,
            filtering: Filtering::Off,
            filters_body: false,
            body_length: None,
            status_for_filters: None,
            length_before_filters: None,
            status: 200,
            no_cache: false,
            leaving: None,
            parts: Vec::new(),
            cleanup: false,
            links: Links::default(),
            translation: Translation::default(),
            stacks: Stacks::default(),
            custom_responses: Vec::new(),
            shown_response: None,
            said: [const { None }; Text::ALL.len()],
            split: None,
            sent: OnceCell::new(),
            usual_type: None,
            method_number: None,
            allowed: 0,
            proxyreq: 0,
            clength: 0,
            multipart: None,
            part: None,
        }
    }

    pub fn split(&mut self) -> Split {
        if self.translation != Translation::Done {
            return self.without_file();
        }
        let (frame, place) = (&self.frame, &self.place);
        *self.split.get_or_insert_with(|| script_name::split(frame, &place.location))
    }

    /// All of the path names whatever answers.
    fn without_file(&self) -> Split {
        Split { script: self.frame.field(Field::Path).len(), file: 0 }
    }

    /// The path that programs see.
    pub fn uri(&self) -> &[u8] {
        let sent = self.sent.get_or_init(|| uri_as_sent(&self.frame));
        sent.as_deref().unwrap_or_else(|| self.frame.field(Field::Path))
    }

    pub fn is_head(&self) -> bool {
        self.frame.field(Field::Method) == b"HEAD"
    }

    pub fn text(&mut self, field: Text) -> Option<&[u8]> {
        match field {
            Text::Filename | Text::PathInfo | Text::ScriptName => drop(self.split()),
            Text::TheRequest => self.compose_the_request(),
            Text::UnparsedUri => self.compose_unparsed_uri(),
            Text::ContentType => self.find_type(),
            Text::StatusLine => self.compose_status_line(),
            _ => {}
        }
        match field {
            Text::ContentType if !self.has_set(field) => self.usual_type.as_deref(),
            _ => self.known_text(field),
        }
    }

    /// What is sent is said by the handler; who asks before is told what the file's name says.
    fn find_type(&mut self) {
        self.usual_type = None;
        if !self.has_set(Text::ContentType) {
            let place = self.place.clone();
            self.usual_type = self.text(Text::Filename).and_then(|name| place.types.file(name)).map(String::into_bytes);
        }
    }

    /// [`RequestRec::text`] of fields that need no putting together.
    pub fn known_text(&self, field: Text) -> Option<&[u8]> {
        match &self.said[field as usize] {
            Some(said) => said.as_deref(),
            None => self.given_text(field),
        }
    }

    fn given_text(&self, field: Text) -> Option<&[u8]> {
        let (frame, place) = (&self.frame, &*self.place);
        let path = frame.field(Field::Path);
        let split = self.split.unwrap_or_else(|| self.without_file());
        if matches!(field, Text::Filename | Text::PathInfo) && self.translation != Translation::Done {
            return Some(path).filter(|_| field == Text::Filename && self.translation == Translation::FileLess);
        }
        match field {
            Text::Protocol => Some(frame.field(Field::Protocol)),
            Text::Method => Some(frame.field(Field::Method)),
            Text::Uri => Some(self.uri()),
            Text::UnparsedUri => Some(frame.field(Field::Target)),
            Text::Args => Some(frame.field(Field::Query)).filter(|query| !query.is_empty()),
            Text::Filename => Some(&frame.field(Field::Filename)[..split.file]),
            // Behind the file that an alias names, where the path has nothing of it.
            Text::PathInfo if split.script == path.len() && split.file > 0 => {
                frame.field(Field::Filename).get(split.file..)
            }
            Text::PathInfo if split.script == path.len() => Some(b""),
            Text::PathInfo => Some(beyond(self.uri(), split.script)),
            Text::ScriptName => Some(&path[..split.script]),
            Text::Hostname => Some(frame.field(Field::ServerName)),
            Text::Handler => place.handler.as_deref().map(str::as_bytes),
            Text::CurrentCallback => self.stacks.name(place).map(str::as_bytes),
            Text::Dispatcher => place.dispatcher.as_deref().map(str::as_bytes),
            Text::RemoteIp => Some(frame.field(Field::RemoteAddr)),
            Text::LocalIp => Some(frame.field(Field::LocalAddr)),
            Text::Location => match api() {
                Api::One => Some(place.location.as_bytes()).filter(|location| !location.is_empty()),
                Api::Two => Some(place.section.as_bytes()).filter(|section| !section.is_empty()),
            },
            Text::VirtualHost => Some(if place.is_virtual { place.server_name.as_bytes() } else { b"" }),
            Text::ErrorFname
            | Text::DocumentRoot
            | Text::ServerRoot
            | Text::ServerHostname
            | Text::ServerAdmin
            | Text::ServerSoftware
            | Text::PerlOptions => server_text(place, field),
            Text::PlaceAuthType => place.auth_type.as_deref().map(str::as_bytes),
            Text::PlaceAuthName => place.auth_name.as_deref().map(str::as_bytes),
            Text::User => told(frame, Field::User),
            Text::AuthType => told(frame, Field::AuthType),
            Text::RemoteHost => told(frame, Field::RemoteHost),
            Text::TheRequest | Text::ContentType | Text::ContentEncoding | Text::StatusLine => None,
        }
    }

    fn compose_the_request(&mut self) {
        let slot = Text::TheRequest as usize;
        if self.said[slot].is_none() {
            let parts = [Field::Method, Field::Target, Field::Protocol].map(|field| self.frame.field(field));
            self.said[slot] = Some(Some(parts.join(&b' ')));
        }
    }

    /// The front's redirects lead to other targets than the client's.
    fn compose_unparsed_uri(&mut self) {
        let slot = Text::UnparsedUri as usize;
        if self.said[slot].is_none() && environment::is_redirected(&self.frame) {
            let (path, query) = (self.frame.field(Field::Path), self.frame.field(Field::Query));
            let mut uri = form::urlencoded::path_encoded(path);
            if !query.is_empty() {
                uri = [&uri[..], b"?", query].concat();
            }
            self.said[slot] = Some(Some(uri));
        }
    }

    /// Once the head is decided its line is known, said or not.
    fn compose_status_line(&mut self) {
        let slot = Text::StatusLine as usize;
        if self.output.has_head() && self.said[slot].is_none() {
            self.said[slot] = Some(Some(error_page::status_line(self.status)));
        }
    }

    pub fn set_text(&mut self, field: Text, value: Option<&[u8]>) {
        if field == Text::Method {
            // A field of its own, which only $r->method_number changes.
            self.method_number = Some(self.number(Number::MethodNumber));
        }
        self.said[field as usize] = Some(value.map(<[u8]>::to_vec));
        // mod_perl 2 keeps the line beside the status, which stays as it is.
        if field == Text::StatusLine && api() == Api::One {
            self.status = value.and_then(status_of).unwrap_or(self.status);
        }
    }

    /// In mod_perl 2 a handler that names the type of its answer prints no header lines, whatever ParseHeaders says.
    pub fn notice_type(&mut self, field: Text) {
        let answers = |name: &[u8]| name == b"PerlResponseHandler" || name == b"PerlHandler";
        if field == Text::ContentType && api() == Api::Two && self.output.is_untouched() {
            self.output.header_was_said |= self.known_text(Text::CurrentCallback).is_some_and(answers);
        }
    }

    /// Takes over what the other record's handlers said.
    pub fn copy_said(&mut self, field: Text, from: &RequestRec) {
        if field == Text::Method {
            self.method_number = from.method_number;
        }
        self.said[field as usize].clone_from(&from.said[field as usize]);
    }

    /// A page for an error is asked for with the method of its frame.
    pub fn forget_method(&mut self) {
        self.said[Text::Method as usize] = None;
        self.method_number = None;
    }

    /// What was found out about a path that is no longer meant.
    pub fn forget_target(&mut self) {
        self.sent = OnceCell::new();
        self.forget_file();
        for field in [Text::Uri, Text::Args] {
            self.said[field as usize] = None;
        }
    }

    /// What was found out about the file that is no longer meant.
    pub fn forget_file(&mut self) {
        self.split = None;
        for field in [Text::Filename, Text::PathInfo, Text::ScriptName] {
            self.said[field as usize] = None;
        }
    }

    /// A handler said what this is.
    pub fn has_set(&self, field: Text) -> bool {
        self.said[field as usize].is_some()
    }
}

/// What the front found out, if it did.
fn told(frame: &Frame, field: Field) -> Option<&[u8]> {
    Some(frame.field(field)).filter(|bytes| !bytes.is_empty())
}

/// `404 Not Found` → 404
pub(crate) fn status_of(line: &[u8]) -> Option<u16> {
    let digits = line.trim_ascii().split(|byte| *byte == b' ').next()?;
    let status: u16 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (100..600).contains(&status).then_some(status)
}

#[cfg(test)]
pub(crate) mod tests;
