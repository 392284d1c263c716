//! A response's head: how handlers and scripts set it, until it becomes final.

use bytes::Bytes;
use wire::reply::Head;

use super::script_headers::{self, Scan, ScriptHeader};
use super::size_limits::{self, MAX_HEADERS, fits};
use crate::error_page::is_bodyless;
use crate::output::{Filtering, ResponseStage};
use crate::request_rec::environment::{Api, api};
use crate::request_rec::field::Text;
use crate::request_rec::tables::Id;
use crate::request_rec::{RequestRec, status_of};
use crate::unchunk::Unchunk;

/// The status of a redirect to which the program gave none.
const FOUND: u16 = 302;

impl RequestRec {
    /// `$r->send_http_header`
    pub fn send_http_header(&mut self, content_type: Option<&[u8]>) {
        if self.output.has_head() {
            return;
        }
        if content_type.is_some() {
            self.set_text(Text::ContentType, content_type);
        }
        self.end_header();
    }

    /// Ends the program's headers. The head stays open where filters follow, which may change it, and in
    /// mod_perl 2, which sends the head with the first piece of the body.
    pub fn end_header(&mut self) {
        if self.filtering != Filtering::On && api() == Api::One {
            return self.commit();
        }
        self.output.sent_header = true;
        if matches!(self.output.stage, ResponseStage::Script) {
            self.output.stage = ResponseStage::Open;
        }
    }

    /// Makes the head final, from status and tables; later changes to them have no effect.
    pub fn commit(&mut self) {
        if self.output.has_head() {
            return;
        }
        if api() == Api::One {
            // In mod_perl 1 `$r->status_line` takes precedence over `$r->status`. mod_perl 2 does not send a
            // line with another number.
            self.status = self.known_text(Text::StatusLine).and_then(status_of).unwrap_or(self.status);
        }
        if !is_final(self.status) {
            return self.fail_status();
        }
        let implied = self.implied_type();
        let head = self.head(&implied);
        if let Some((name, _)) = head.headers.iter().find(|(name, value)| !is_header(name, value)) {
            return self.fail_invalid(&name.clone());
        }
        if !fits(&head.headers) {
            return self.fail_long_head();
        }
        self.output.stage = ResponseStage::Ready(head);
    }

    /// The content type where no handler has set one: by the file's name, else the default.
    fn implied_type(&mut self) -> Vec<u8> {
        let named = self.text(Text::ContentType).filter(|kind| !kind.is_empty()).map(<[u8]>::to_vec);
        // httpd has had no default type since 2.4.
        let built_in = if self.ran_program || api() == Api::Two { "" } else { "text/html" };
        named.unwrap_or_else(|| self.place.default_type.as_deref().unwrap_or(built_in).as_bytes().to_vec())
    }

    /// `$r->content_type` and `$r->content_encoding` take precedence over the tables; the tables' content type
    /// over `default_type`.
    fn head(&self, default_type: &[u8]) -> Head {
        let mut headers = Vec::new();
        let own_type = self.known_text(Text::ContentType);
        let tables = [Id::HeadersOut, Id::ErrHeadersOut];
        let tells_type = || tables.iter().any(|id| self.tables.of(*id).iter().any(|(name, _)| is_type(name)));
        let body_type = own_type.unwrap_or_else(|| if tells_type() { b"" } else { default_type });
        if !is_bodyless(self.status) && !body_type.is_empty() {
            headers.push((Bytes::from_static(b"Content-Type"), Bytes::copy_from_slice(body_type)));
        }
        let own_encoding = self.known_text(Text::ContentEncoding);
        if let Some(encoding) = own_encoding {
            headers.push((Bytes::from_static(b"Content-Encoding"), Bytes::copy_from_slice(encoding)));
        }
        let is_replaced =
            |name: &[u8]| own_type.is_some() && is_type(name) || own_encoding.is_some() && is_encoding(name);
        let is_sent = |name: &[u8], value: &[u8]| !self.is_stale_length(name, value) && !is_replaced(name);
        let mut always = 0;
        for id in tables {
            let sent = self.tables.of(id).iter().filter(|(name, value)| is_sent(name, value));
            let first = headers.len();
            headers.extend(sent.map(|(name, value)| (Bytes::copy_from_slice(name), Bytes::copy_from_slice(value))));
            always = count(headers.get(first..).unwrap_or_default());
        }
        Head { status: self.status, reason: self.reason(self.status), headers, always, is_shared: false }
    }

    /// The reason phrase in `$r->status_line`, if the line has the status that is sent.
    pub fn reason(&self, status: u16) -> Vec<u8> {
        let line = self.known_text(Text::StatusLine).filter(|line| status_of(line) == Some(status));
        let words = line.and_then(|line| line.trim_ascii().splitn(2, |byte| *byte == b' ').nth(1));
        size_limits::reason(words.unwrap_or_default().trim_ascii())
    }

    /// The head that a file is sent with. The front checks it against HTTP's rules.
    pub fn file_head(&self) -> Head {
        self.head(b"")
    }

    /// Starts a head that PSGI gives; below 200, of an informational response.
    pub fn head_start(&mut self, status: i32) {
        self.send_info();
        if self.output.has_left() {
            return self.fail_with("the response had already begun when its status was given");
        }
        match u16::try_from(status) {
            Ok(status @ 100..=199) => {
                self.output.head_room = MAX_HEADERS;
                self.output.info = Some(Head { status, ..Head::default() });
            }
            Ok(status @ 200..=599) => {
                self.output.head_room = MAX_HEADERS;
                // A PSGI application that makes an error page must return some status: 200 means the error's
                // own.
                let is_pages = status == 200 && self.first_status >= 400 && self.status >= 400;
                let status = if is_pages { self.status } else { status };
                self.status = status;
                self.output.stage = ResponseStage::Ready(Head { status, is_shared: true, ..Head::default() });
            }
            _ => self.fail_with(&format!("{status} is not an HTTP status")),
        }
    }

    /// Adds a header to the head that was started last.
    pub fn head_add(&mut self, name: &[u8], value: &[u8]) {
        if !is_header(name, value) {
            return self.fail_invalid(name);
        }
        match self.output.head_room.checked_sub(size_limits::length(name, value)) {
            Some(room) => self.output.head_room = room,
            None => return self.fail_long_head(),
        }
        if name.eq_ignore_ascii_case(b"transfer-encoding") && value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
            self.output.unchunk = Some(Unchunk::default());
            return;
        }
        let head = match (&mut self.output.info, &mut self.output.stage) {
            (Some(info), _) => info,
            (None, ResponseStage::Ready(head)) => head,
            _ => return,
        };
        head.headers.push((Bytes::copy_from_slice(name), Bytes::copy_from_slice(value)));
    }

    /// `$r->send_cgi_header`: header lines, perhaps with the beginning of the body.
    pub fn send_cgi_header(&mut self, text: &[u8]) {
        if self.output.has_head() || self.output.drops_output() {
            return;
        }
        match script_headers::scan(text) {
            Scan::Whole { header, length } => {
                self.take_script_header(header);
                self.write(&text[length..]);
            }
            Scan::Incomplete => match script_headers::parse(text) {
                Ok(header) => self.take_script_header(header),
                Err(line) => self.fail_header(&line),
            },
            Scan::Bad(line) => self.fail_header(&line),
        }
    }

    pub fn take_script_header(&mut self, header: ScriptHeader) {
        if let Some(status) = header.status {
            self.set_text(Text::StatusLine, header.status_line.as_deref());
            self.take_script_status(status);
        }
        if let Some(kind) = header.content_type {
            self.set_text(Text::ContentType, Some(&kind));
        }
        if let Some(location) = header.location {
            self.redirect(location, header.status.is_none());
        }
        let is_moved = self.output.failed == Some(FOUND);
        let is_the_servers = is_moved || self.output.elsewhere.is_some();
        for (name, value) in header.others {
            match api() {
                // As in mod_perl 1, repeated fields stay apart; programs print for httpd's mod_cgi.
                Api::One if !is_the_servers && !self.ran_program => {
                    self.tables.of_mut(self.table_of_script(&name)).add(&name, &value)
                }
                _ => self.script_field(&name, &value),
            }
        }
        if !is_moved {
            self.end_header();
        }
    }

    /// Applies the status of a script's header. mod_perl 2 parses the header when the output is passed to the filters,
    /// which see that status. ModPerl::Registry, which restores the status when the script has returned, does not see
    /// it.
    fn take_script_status(&mut self, status: u16) {
        match self.filtering {
            Filtering::On => self.status_for_filters = Some(status),
            Filtering::Off | Filtering::Passing => self.status = status,
        }
    }

    /// A redirect without a status to a path of this server: the server responds with that path itself (RFC
    /// 3875, 6.2.2). The page of an error has the error's status: as in httpd, its program cannot redirect without one.
    fn redirect(&mut self, location: Vec<u8>, says_no_status: bool) {
        let implied = says_no_status && self.status == 200;
        if implied && location.starts_with(b"/") && !location.starts_with(b"//") {
            self.output.elsewhere = Some(location);
            return;
        }
        self.tables.of_mut(Id::HeadersOut).set(b"Location", &location);
        if implied && self.ran_program {
            // As under mod_cgi, the server's page replaces the program's, which has to give the status to send its own.
            self.output.failed = Some(FOUND);
        } else if implied {
            self.take_script_status(FOUND);
        }
    }

    /// `$r->cgi_header_out`: one line of a script's header. Returns false when it is invalid.
    pub fn cgi_header_out(&mut self, name: &[u8], value: &[u8]) -> bool {
        let mut header = ScriptHeader::default();
        if header.field(name, value).is_none() {
            return false;
        }
        if let Some(status) = header.status {
            self.set_text(Text::StatusLine, header.status_line.as_deref());
            self.status = status;
        } else if let Some(kind) = header.content_type {
            self.set_text(Text::ContentType, Some(&kind));
        } else if let Some(location) = header.location {
            self.tables.of_mut(Id::HeadersOut).set(name, &location);
            self.status = 302;
        } else {
            self.script_field(name, value);
        }
        true
    }
}

impl RequestRec {
    /// Stores a script's header in the table that error responses include, unless it describes the body. Values of
    /// a repeated header are joined to one line, as httpd does, except for cookies.
    fn script_field(&mut self, name: &[u8], value: &[u8]) {
        match self.table_of_script(name) {
            Id::HeadersOut => self.tables.of_mut(Id::HeadersOut).set(name, value),
            id if name.eq_ignore_ascii_case(b"set-cookie") => self.tables.of_mut(id).add(name, value),
            id => self.tables.of_mut(id).merge(name, value),
        }
    }

    /// The table of a script's header. The second is that of error responses and of `Header always`.
    fn table_of_script(&self, name: &[u8]) -> Id {
        match &name.to_ascii_lowercase()[..] {
            b"content-length" | b"transfer-encoding" => Id::HeadersOut,
            b"content-range" | b"etag" | b"last-modified" if api() == Api::Two || self.ran_program => Id::HeadersOut,
            _ => Id::ErrHeadersOut,
        }
    }
}

/// The number of headers, for [`Head::always`].
pub(super) fn count(headers: &[(Bytes, Bytes)]) -> u16 {
    u16::try_from(headers.len()).unwrap_or(u16::MAX)
}

fn is_type(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"content-type")
}

fn is_encoding(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"content-encoding")
}

/// Whether a final response can have that status.
pub(crate) fn is_final(status: u16) -> bool {
    (200..600).contains(&status)
}

/// Whether name and value cannot break out of their line.
pub(crate) fn is_header(name: &[u8], value: &[u8]) -> bool {
    let is_token = !name.is_empty() && name.iter().all(|byte| IN_TOKENS[usize::from(*byte)]);
    is_token && !value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0))
}

/// The bytes that a token may contain.
const IN_TOKENS: [bool; 256] = {
    let mut is_in = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        is_in[byte as usize] = true;
        byte += 1;
    }
    let separators = b"()<>@,;:\\\"/[]?={}";
    let mut at = 0;
    while at < separators.len() {
        is_in[separators[at] as usize] = false;
        at += 1;
    }
    is_in
};
