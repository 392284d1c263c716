//! The request record of mod_perl 1.x, `request_rec`: the object behind `$r`.

pub mod cgi_program;
pub mod environment;
pub mod field;
pub mod handler_stacks;
pub mod redirected;
pub mod script_name;
pub mod server;
pub mod slashes;
pub mod table;
pub mod tables;
pub mod target;
pub mod translation;

mod lazy_tables;
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
use crate::output::{Filtering, Output, ResponseReceiver};
use crate::place::PlaceConfig;

/// A request as it arrives from the front.
pub struct Incoming {
    /// The request itself.
    pub frame: Frame,
    /// The configuration of its location.
    pub place: Rc<PlaceConfig>,
    /// Where heads and bodies are sent: the front, or a test.
    pub client: Box<dyn ResponseReceiver>,
}

/// Links from a record to other records of the same client, by index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Links {
    pub main: Option<usize>,
    pub prev: Option<usize>,
    pub next: Option<usize>,
}

/// The work that is left when the response has been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinishedRequest {
    /// Status as sent to the client.
    pub status: u16,
    /// Cleanups are registered: call `Apache::run_cleanups`, then [`crate::end`].
    pub cleanup: bool,
}

/// Results of a finished request, for the worker.
#[derive(Debug, Default)]
pub struct EndedRequest {
    /// Why the worker exits after the request, if it does.
    pub leaving: Option<LeaveReason>,
    /// The front could not be reached: no further request will come.
    pub front_is_gone: bool,
    /// The frame's buffer, for the next frame.
    pub buffer: Vec<u8>,
}

/// The request record of mod_perl 1.x, behind `$r`.
pub(crate) struct RequestRec {
    pub record_number: u64,
    pub frame: Frame,
    pub place: Rc<PlaceConfig>,
    pub client: Box<dyn ResponseReceiver>,
    pub tables: Tables,
    pub output: Output,
    pub filtering: Filtering,
    /// Whether the request's body passes filters.
    pub filters_body: bool,
    body_length: Option<u64>,
    /// The status in a script's header, until the response filters begin.
    pub status_for_filters: Option<u16>,
    /// The Content-Length that was set when the filters began, once they have.
    pub length_before_filters: Option<Option<Vec<u8>>>,
    /// The status before any handler: 200, or that of the error whose page this request makes.
    pub first_status: u16,
    pub status: u16,
    pub no_cache: bool,
    pub leaving: Option<LeaveReason>,
    /// Spans of a traced request: see [`wire::reply::LogKind::Span`].
    pub parts: Vec<(Vec<u8>, Vec<u8>)>,
    pub cleanup: bool,
    /// A CGI program was given the variables of this request.
    pub ran_program: bool,
    pub links: Links,
    pub translation: Translation,
    pub stacks: Stacks,
    /// `$r->custom_response`, by status.
    pub custom_responses: Vec<(u16, Option<Vec<u8>>)>,
    /// The custom response that a handler read last.
    pub shown_response: Option<Vec<u8>>,
    /// Values that a handler has set, or that were composed once; they take precedence over the frame's.
    texts: [Option<Option<Vec<u8>>>; Text::ALL.len()],
    split: Option<Split>,
    /// See [`uri_as_sent`].
    sent: OnceCell<Option<Vec<u8>>>,
    /// The MIME type by the file's name, once computed.
    usual_type: Option<Vec<u8>>,
    method_number: Option<i64>,
    /// `$r->allowed`: stored for handlers, not used by the server.
    allowed: i64,
    proxyreq: i64,
    /// `$r->clength`: the last value set, which mod_perl 2 stores beside the header.
    clength: i64,
    /// The multipart form that Apache::Request reads.
    pub multipart: Option<Multipart>,
    /// Name and file name of the form's last part.
    pub part: Option<(Vec<u8>, Option<Vec<u8>>)>,
}

impl RequestRec {
    pub fn new(record_number: u64, incoming: Incoming, tables: Tables, output: Output) -> RequestRec {
        let first_status = incoming.frame.error_status().unwrap_or(200);
        RequestRec {
            record_number,
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
            first_status,
            status: first_status,
            no_cache: false,
            leaving: None,
            parts: Vec::new(),
            cleanup: false,
            ran_program: false,
            links: Links::default(),
            translation: Translation::default(),
            stacks: Stacks::default(),
            custom_responses: Vec::new(),
            shown_response: None,
            texts: [const { None }; Text::ALL.len()],
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

    /// The split of a location without files: the whole path is the script's name.
    fn without_file(&self) -> Split {
        Split { script: self.frame.field(Field::Path).len(), file: 0 }
    }

    /// The path as Perl code sees it.
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

    /// Finds the content type by the file's name, unless a handler has set one. The response does not use the
    /// type found here.
    fn find_type(&mut self) {
        self.usual_type = None;
        if !self.has_set(Text::ContentType) {
            let place = self.place.clone();
            self.usual_type = self.text(Text::Filename).and_then(|name| place.types.find(name)).map(String::into_bytes);
        }
    }

    /// Like [`RequestRec::text`], for fields that were composed or need no composing.
    pub fn known_text(&self, field: Text) -> Option<&[u8]> {
        match &self.texts[field as usize] {
            Some(text) => text.as_deref(),
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
            // The alias names a file with extra segments and the URL has none: PATH_INFO is the end of the file name.
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
            Text::DocumentRoot => {
                let file = frame.field(Field::Filename);
                let virtual_root = place.document_root_in.find(file).and_then(|length| file.get(..length));
                virtual_root.or_else(|| server_text(place, field))
            }
            Text::ErrorFname
            | Text::ServerRoot
            | Text::ServerHostname
            | Text::ServerAdmin
            | Text::ServerSoftware
            | Text::PerlOptions => server_text(place, field),
            Text::PlaceAuthType => place.auth_type.as_deref().map(str::as_bytes),
            Text::PlaceAuthName => place.auth_name.as_deref().map(str::as_bytes),
            Text::User => known_field(frame, Field::User),
            Text::AuthType => known_field(frame, Field::AuthType),
            Text::RemoteHost => known_field(frame, Field::RemoteHost),
            Text::TheRequest | Text::ContentType | Text::ContentEncoding | Text::StatusLine => None,
        }
    }

    fn compose_the_request(&mut self) {
        let slot = Text::TheRequest as usize;
        if self.texts[slot].is_none() {
            let parts = [Field::Method, Field::Target, Field::Protocol].map(|field| self.frame.field(field));
            self.texts[slot] = Some(Some(parts.join(&b' ')));
        }
    }

    /// Composes the target of a request that the front has redirected: its frame has the client's original
    /// target.
    fn compose_unparsed_uri(&mut self) {
        let slot = Text::UnparsedUri as usize;
        if self.texts[slot].is_none() && environment::is_redirected(&self.frame) {
            let (path, query) = (self.frame.field(Field::Path), self.frame.field(Field::Query));
            let mut uri = form::urlencoded::path_encoded(path);
            if !query.is_empty() {
                uri = [&uri[..], b"?", query].concat();
            }
            self.texts[slot] = Some(Some(uri));
        }
    }

    /// Composes the status line once the head is final, unless a handler has set one.
    fn compose_status_line(&mut self) {
        let slot = Text::StatusLine as usize;
        if self.output.has_head() && self.texts[slot].is_none() {
            self.texts[slot] = Some(Some(error_page::status_line(self.status)));
        }
    }

    pub fn set_text(&mut self, field: Text, value: Option<&[u8]>) {
        if field == Text::Method {
            // The method's number is a field of its own, which only $r->method_number changes.
            self.method_number = Some(self.number(Number::MethodNumber));
        }
        self.texts[field as usize] = Some(value.map(<[u8]>::to_vec));
        // mod_perl 2 stores the line beside the status, which is unchanged.
        if field == Text::StatusLine && api() == Api::One {
            self.status = value.and_then(status_of).unwrap_or(self.status);
        }
    }

    /// In mod_perl 2 a handler that sets the content type prints no header lines, even under PerlOptions +ParseHeaders.
    pub fn notice_type(&mut self, field: Text) {
        let answers = |name: &[u8]| name == b"PerlResponseHandler" || name == b"PerlHandler";
        if field == Text::ContentType && api() == Api::Two && self.output.is_untouched() {
            self.output.sent_header |= self.known_text(Text::CurrentCallback).is_some_and(answers);
        }
    }

    /// Copies a value that the handlers of another record have set.
    pub fn copy_text(&mut self, field: Text, from: &RequestRec) {
        if field == Text::Method {
            self.method_number = from.method_number;
        }
        self.texts[field as usize].clone_from(&from.texts[field as usize]);
    }

    /// Forgets a handler's method: an error page uses the method of its frame.
    pub fn forget_method(&mut self) {
        self.texts[Text::Method as usize] = None;
        self.method_number = None;
    }

    /// Forgets everything computed from the path.
    pub fn forget_target(&mut self) {
        self.sent = OnceCell::new();
        self.forget_file();
        for field in [Text::Uri, Text::Args] {
            self.texts[field as usize] = None;
        }
    }

    /// Forgets everything computed from the file.
    pub fn forget_file(&mut self) {
        self.split = None;
        for field in [Text::Filename, Text::PathInfo, Text::ScriptName] {
            self.texts[field as usize] = None;
        }
    }

    /// Whether a handler has set the field, or it was composed.
    pub fn has_set(&self, field: Text) -> bool {
        self.texts[field as usize].is_some()
    }
}

/// A field of the frame, unless it is empty: the front may not have determined it.
fn known_field(frame: &Frame, field: Field) -> Option<&[u8]> {
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
