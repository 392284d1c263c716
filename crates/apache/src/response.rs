//! From what a handler says to a head, a body and an end.

use wire::reply::{End, Head, LogKind, Reply};

use crate::error_page::{is_bodyless, page};
use crate::field::Text;
use crate::log::{Level, log};
use crate::output::Stage;
use crate::request::{Finished, RequestRec};
use crate::script_headers::{self, Scan, ScriptHeader};
use crate::tables::Id;

/// A head must fit one message, with room for the lengths.
const MAX_HEAD: usize = 56 * 1024;
/// A script's header is not longer than this.
const MAX_SCRIPT_HEADER: usize = 64 * 1024;

/// What a handler's number means.
enum Verdict {
    Done,
    Declined,
    Status(u16),
}

impl Verdict {
    /// 1.x takes a stray `1` (of a last `print`), a 200 and nonsense above 600 for OK.
    fn of(code: i32) -> Verdict {
        match code {
            -1 => Verdict::Declined,
            100..=199 | 201..=599 => Verdict::Status(code as u16),
            _ => Verdict::Done,
        }
    }
}

impl RequestRec {
    /// A piece of the program's output.
    pub fn write(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.output.is_deaf() {
            return;
        }
        self.send_info();
        if self.output.is_untouched() && self.begins_with_header(bytes) {
            self.output.stage = Stage::Script;
        }
        match self.output.stage {
            Stage::Script => self.write_header(bytes),
            _ if self.output.has_room_for(bytes.len()) => self.output.body.extend_from_slice(bytes),
            _ => self.write_through(bytes),
        }
    }

    fn begins_with_header(&self, bytes: &[u8]) -> bool {
        matches!(self.output.stage, Stage::Script)
            || self.place.send_header
            || (self.place.exec_cgi && (bytes.starts_with(b"HTTP/1.") || self.is_nph()))
    }

    fn is_nph(&self) -> bool {
        let path = self.known_text(Text::Uri).unwrap_or_default();
        path.windows(5).any(|part| part == b"/nph-")
    }

    fn write_header(&mut self, bytes: &[u8]) {
        if self.output.body.is_empty() {
            // Most scripts print their header in one piece.
            if let Scan::Whole { header, length } = script_headers::scan(bytes) {
                self.take_script_header(header);
                return self.write(&bytes[length..]);
            }
        }
        self.output.body.extend_from_slice(bytes);
        match script_headers::scan(&self.output.body) {
            Scan::Whole { header, length } => {
                let body = self.output.body.split_off(length);
                self.output.body.clear();
                self.take_script_header(header);
                self.write(&body);
            }
            Scan::Bad(line) => self.fail_header(&line),
            Scan::Incomplete if self.output.body.len() > MAX_SCRIPT_HEADER => self.fail_header(b"(no end in 64 KiB)"),
            Scan::Incomplete => {}
        }
    }

    fn write_through(&mut self, bytes: &[u8]) {
        self.commit();
        if self.output.is_deaf() {
            return;
        }
        let id = self.frame.id();
        self.output.send_gathered(id, &mut *self.client);
        match self.output.has_room_for(bytes.len()) {
            true => self.output.body.extend_from_slice(bytes),
            false => self.output.send_through(id, bytes, &mut *self.client),
        }
    }

    fn take_script_header(&mut self, header: ScriptHeader) {
        if let Some(status) = header.status {
            self.set_text(Text::StatusLine, header.status_line.as_deref());
            self.status = status;
        }
        if let Some(kind) = header.content_type {
            self.set_text(Text::ContentType, Some(&kind));
        }
        if let Some(location) = header.location {
            self.redirect(location, header.status.is_none());
        }
        for (name, value) in header.others {
            self.tables.of_mut(Id::HeadersOut).add(&name, &value);
        }
        self.commit();
    }

    /// CGI/1.1 lets a script name a path of this server, which the server then answers itself. That is not here yet:
    /// the client is sent there.
    fn redirect(&mut self, mut location: Vec<u8>, implied: bool) {
        if implied {
            self.status = 302;
            if location.starts_with(b"/") && !location.starts_with(b"//") {
                location = [self.base_url(), location].concat();
            }
        }
        self.tables.of_mut(Id::HeadersOut).set(b"Location", &location);
    }

    /// `$r->send_http_header`
    pub fn send_http_header(&mut self, content_type: Option<&[u8]>) {
        if self.output.has_head() {
            return;
        }
        if content_type.is_some() {
            self.set_text(Text::ContentType, content_type);
        }
        self.commit();
    }

    /// `$r->send_cgi_header`: header lines, perhaps with the begin of the body.
    pub fn send_cgi_header(&mut self, text: &[u8]) {
        if self.output.has_head() || self.output.is_deaf() {
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

    /// `$r->cgi_header_out`: one line of a script's header. False when it makes no sense.
    pub fn cgi_header_out(&mut self, name: &[u8], value: &[u8]) -> bool {
        let mut header = ScriptHeader::default();
        if header.field(name, value).is_none() {
            return false;
        }
        if let Some(status) = header.status {
            self.status = status;
        } else if let Some(kind) = header.content_type {
            self.set_text(Text::ContentType, Some(&kind));
        } else {
            self.tables.of_mut(Id::HeadersOut).set(name, value);
        }
        true
    }

    /// The head as PSGI gives it; below 200 an informational response.
    pub fn head_start(&mut self, status: i32) {
        self.send_info();
        if self.output.has_left() {
            return self.fail_with("the response had already begun when its status was given");
        }
        match u16::try_from(status) {
            Ok(status @ 100..=199) => self.output.info = Some(Head { status, headers: Vec::new() }),
            Ok(status @ 200..=599) => {
                self.status = status;
                self.output.stage = Stage::Ready(Head { status, headers: Vec::new() });
            }
            _ => self.fail_with(&format!("{status} is not an HTTP status")),
        }
    }

    /// A header of the head that was started last.
    pub fn head_add(&mut self, name: &[u8], value: &[u8]) {
        if !is_header(name, value) {
            return self.fail_invalid(name);
        }
        let head = match (&mut self.output.info, &mut self.output.stage) {
            (Some(info), _) => info,
            (None, Stage::Ready(head)) => head,
            _ => return,
        };
        head.headers.push((name.to_vec(), value.to_vec()));
    }

    /// `$r->rflush`: what was said so far leaves now.
    pub fn flush(&mut self) {
        if self.output.is_deaf() {
            return;
        }
        self.send_info();
        if matches!(self.output.stage, Stage::Script) || self.output.is_untouched() {
            return;
        }
        self.commit();
        if self.output.failed.is_none() {
            self.output.send_gathered(self.frame.id(), &mut *self.client);
        }
    }

    fn send_info(&mut self) {
        if self.output.info.is_some() {
            self.output.send_info(self.frame.id(), &mut *self.client);
        }
    }

    /// Decides the head from status and tables; afterwards they change nothing.
    fn commit(&mut self) {
        if self.output.has_head() {
            return;
        }
        let mut headers = Vec::new();
        let body_type = self.known_text(Text::ContentType).unwrap_or(self.place.default_type.as_bytes());
        if !is_bodyless(self.status) && !body_type.is_empty() {
            headers.push((b"Content-Type".to_vec(), body_type.to_vec()));
        }
        if let Some(encoding) = self.known_text(Text::ContentEncoding) {
            headers.push((b"Content-Encoding".to_vec(), encoding.to_vec()));
        }
        for id in [Id::HeadersOut, Id::ErrHeadersOut] {
            headers.extend(self.tables.of(id).iter().map(|(name, value)| (name.to_vec(), value.to_vec())));
        }
        if let Some((name, _)) = headers.iter().find(|(name, value)| !is_header(name, value)) {
            return self.fail_invalid(&name.clone());
        }
        if headers.iter().map(|(name, value)| name.len() + value.len() + 8).sum::<usize>() > MAX_HEAD {
            return self.fail_with("the response's headers are longer than 56 KiB");
        }
        self.output.stage = Stage::Ready(Head { status: self.status, headers });
    }

    /// The handler returned `code`: sends what is left.
    pub fn finish(&mut self, code: i32) -> Finished {
        self.send_info();
        match Verdict::of(code) {
            Verdict::Declined if self.output.is_untouched() => {
                let file = self.declined_file();
                self.send_file(&file)
            }
            Verdict::Status(status) if self.output.is_untouched() => self.fail(status),
            Verdict::Status(status) => {
                self.status = status;
                self.complete()
            }
            Verdict::Done | Verdict::Declined => self.complete(),
        }
    }

    /// What the front would send of itself: `/page.html/more` names no file, and must not show `/page.html`.
    fn declined_file(&mut self) -> Vec<u8> {
        let mut file = self.text(Text::Filename).unwrap_or_default().to_vec();
        if !self.has_set(Text::Filename) {
            file.extend_from_slice(self.text(Text::PathInfo).unwrap_or_default());
        }
        file
    }

    fn complete(&mut self) -> Finished {
        if self.output.failed.is_none() && self.lacks_header() {
            self.premature();
        }
        if self.output.failed.is_none() {
            self.commit();
        }
        match self.output.failed {
            Some(status) => self.fail(status),
            None => self.leave(false),
        }
    }

    /// A script that began a header and did not end it, or that said nothing at all.
    fn lacks_header(&self) -> bool {
        let is_silent = self.place.send_header && self.output.is_untouched() && self.status == 200;
        is_silent || matches!(self.output.stage, Stage::Script)
    }

    fn premature(&mut self) {
        let text = [b"Premature end of script headers: ", self.script()].concat();
        self.fail_with_bytes(&text);
    }

    fn script(&mut self) -> &[u8] {
        self.text(Text::Filename).unwrap_or_default()
    }

    /// Only a status is left to say. A client that has part of the response must see that it is not whole.
    pub fn fail(&mut self, status: u16) -> Finished {
        if self.output.has_left() {
            return self.leave(true);
        }
        let is_redirect = (300..400).contains(&status);
        let location = is_redirect.then(|| self.location()).flatten();
        let mut headers: Vec<_> = self.tables.of(Id::ErrHeadersOut).iter().filter(|(n, v)| is_header(n, v)).collect();
        headers.retain(|(name, _)| location.is_none() || !name.eq_ignore_ascii_case(b"location"));
        let mut headers: Vec<_> = headers.into_iter().map(|(n, v)| (n.to_vec(), v.to_vec())).collect();
        headers.extend(location.iter().map(|location| (b"Location".to_vec(), location.clone())));
        self.output.body.clear();
        if !is_bodyless(status) {
            headers.push((b"Content-Type".to_vec(), b"text/html; charset=utf-8".to_vec()));
            self.output.body = page(status, location.as_deref());
        }
        self.status = status;
        self.output.stage = Stage::Ready(Head { status, headers });
        self.leave(false)
    }

    fn location(&self) -> Option<Vec<u8>> {
        let tables = [Id::HeadersOut, Id::ErrHeadersOut].map(|id| self.tables.of(id));
        let said = tables.iter().find_map(|table| table.get(b"Location"))?;
        is_header(b"Location", said).then(|| said.to_vec())
    }

    /// The front sends this file; headers of the handler do not go with it.
    pub fn send_file(&mut self, path: &[u8]) -> Finished {
        if self.output.has_left() {
            return self.leave(true);
        }
        let last = self.last_word(false);
        self.output.send_file(self.frame.id(), path, &last, &mut *self.client);
        self.finished()
    }

    fn leave(&mut self, truncated: bool) -> Finished {
        if !matches!(self.output.stage, Stage::Ended) {
            let last = self.last_word(truncated);
            // A truncated response must not look complete while its cleanup handlers run.
            let held_back = truncated && self.output.owes_end.is_some();
            self.output.send_rest(self.frame.id(), (!held_back).then_some(&last), &mut *self.client);
        }
        self.finished()
    }

    /// What stands behind the response: its end, or that the worker goes on with cleanup handlers.
    fn last_word(&mut self, truncated: bool) -> Reply<'static> {
        if self.cleanup {
            self.output.owes_end = Some(truncated);
            return Reply::Complete;
        }
        Reply::End(self.end(truncated))
    }

    /// The request is over: sends the end if cleanup handlers delayed it.
    pub fn close(&mut self) {
        if let Some(truncated) = self.output.owes_end.take() {
            let end = self.end(truncated);
            self.output.send_end(self.frame.id(), end, &mut *self.client);
        }
    }

    fn finished(&self) -> Finished {
        Finished { status: self.status, cleanup: self.cleanup }
    }

    fn end(&mut self, truncated: bool) -> End {
        End {
            cpu_us: crate::current::cpu_since_last(),
            leaving: self.child_terminate,
            truncated,
            log: self.log_values(),
        }
    }

    fn log_values(&mut self) -> Vec<(LogKind, Vec<u8>, Vec<u8>)> {
        let place = self.place.clone();
        let mut log = Vec::new();
        for name in &place.log_notes {
            let value = self.tables.of(Id::Notes).get(name.as_bytes());
            log.extend(value.map(|value| (LogKind::Note, name.clone().into_bytes(), value.to_vec())));
        }
        for name in &place.log_env {
            let value = self.table_value(Id::SubprocessEnv as u32, name.as_bytes());
            log.extend(value.map(|value| (LogKind::Env, name.clone().into_bytes(), value.to_vec())));
        }
        log.extend(self.known_text(Text::User).map(|user| (LogKind::User, Vec::new(), user.to_vec())));
        log
    }

    fn fail_header(&mut self, line: &[u8]) {
        let shown = &line[..line.len().min(200)];
        let text = [b"malformed header from script. Bad header=", shown, b": ", self.script()].concat();
        self.fail_with_bytes(&text);
    }

    fn fail_invalid(&mut self, name: &[u8]) {
        let text = format!(
            "the response's header \"{}\" is not allowed in HTTP (a line break or NUL in it?)",
            name.escape_ascii()
        );
        self.fail_with(&text);
    }

    fn fail_with(&mut self, text: &str) {
        self.fail_with_bytes(text.as_bytes());
    }

    fn fail_with_bytes(&mut self, text: &[u8]) {
        log(Level::Error, text);
        self.output.failed = Some(500);
    }
}

/// A name and a value that cannot break out of their line.
fn is_header(name: &[u8], value: &[u8]) -> bool {
    let token = |byte: &u8| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(byte);
    !name.is_empty() && name.iter().all(token) && !value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0))
}

#[cfg(test)]
mod tests {
    use wire::reply::Packet;

    use super::*;
    use crate::Place;
    use crate::request::tests::{Kept, record};

    /// What the front hears of a handler: `status headers: body`, and how it ends.
    fn heard(place: Place, handler: impl FnOnce(&mut RequestRec)) -> String {
        let kept = Kept::default();
        let mut r = record(place, "/cgi/a.pl", &[], None);
        r.client = Box::new(kept.clone());
        handler(&mut r);
        let mut out = String::new();
        for packet in kept.0.take() {
            for message in Packet::new(&packet) {
                out += &shown(&message.expect("well formed").1);
            }
        }
        out
    }

    fn shown(reply: &Reply<'_>) -> String {
        let head = |head: &Head| {
            let line = |(n, v): &(Vec<u8>, Vec<u8>)| format!(" {}={}", n.escape_ascii(), v.escape_ascii());
            format!("{}{}:", head.status, head.headers.iter().map(line).collect::<String>())
        };
        match reply {
            Reply::Info(info) => format!("info {} ", head(info)),
            Reply::Head(it) => head(it),
            Reply::Body(bytes) if bytes.starts_with(b"<!DOCTYPE") => " PAGE".into(),
            Reply::Body(bytes) => format!(" {}", bytes.escape_ascii()),
            Reply::File(path) => format!("file {}", path.escape_ascii()),
            Reply::Complete => " complete".into(),
            Reply::End(end) if end.truncated => " truncated".into(),
            Reply::End(_) => " end".into(),
            Reply::Ready { .. } => "ready".into(),
        }
    }

    type Handler = fn(&mut RequestRec);

    #[test]
    fn a_handlers_words_become_replies() {
        let cases: &[(&str, Handler, &str)] = &[
            (
                "nothing",
                |r| {
                    r.finish(0);
                },
                "200 Content-Type=text/html: end",
            ),
            (
                "a body",
                |r| {
                    r.write(b"x");
                    r.finish(1);
                },
                "200 Content-Type=text/html: x end",
            ),
            (
                "a status",
                |r| {
                    r.finish(404);
                },
                "404 Content-Type=text/html; charset=utf-8: PAGE end",
            ),
            (
                "a bodyless status",
                |r| {
                    r.finish(204);
                },
                "204: end",
            ),
            (
                "a status and a body",
                |r| {
                    r.write(b"x");
                    r.finish(404);
                },
                "404 Content-Type=text/html: x end",
            ),
            (
                "declined",
                |r| {
                    r.finish(-1);
                },
                "file /www/cgi/a.pl end",
            ),
            (
                "declined late",
                |r| {
                    r.write(b"x");
                    r.finish(-1);
                },
                "200 Content-Type=text/html: x end",
            ),
            (
                "died",
                |r| {
                    r.write(b"x");
                    r.fail(500);
                },
                "500 Content-Type=text/html; charset=utf-8: PAGE end",
            ),
            (
                "died late",
                |r| {
                    r.write(b"x");
                    r.flush();
                    r.fail(500);
                },
                "200 Content-Type=text/html: x truncated",
            ),
            (
                "flushed early",
                |r| {
                    r.flush();
                    r.status = 201;
                    r.write(b"x");
                    r.finish(0);
                },
                "201 Content-Type=text/html: x end",
            ),
            (
                "psgi",
                |r| {
                    r.head_start(200);
                    r.head_add(b"A", b"b");
                    r.write(b"x");
                    r.finish(0);
                },
                "200 A=b: x end",
            ),
            (
                "early hints",
                |r| {
                    r.head_start(103);
                    r.head_add(b"Link", b"l");
                    r.flush();
                    r.head_start(200);
                    r.finish(0);
                },
                "info 103 Link=l: 200: end",
            ),
            (
                "early hints, not flushed",
                |r| {
                    r.head_start(103);
                    r.head_start(200);
                    r.finish(0);
                },
                "info 103: 200: end",
            ),
            (
                "split header",
                |r| {
                    r.head_start(200);
                    r.head_add(b"A", b"b\nC: d");
                    r.write(b"x");
                    r.finish(0);
                },
                "500 Content-Type=text/html; charset=utf-8: PAGE end",
            ),
            (
                "no status",
                |r| {
                    r.head_start(700);
                    r.write(b"x");
                    r.finish(0);
                },
                "500 Content-Type=text/html; charset=utf-8: PAGE end",
            ),
            (
                "cleanup",
                |r| {
                    r.cleanup = true;
                    r.write(b"x");
                    r.finish(0);
                    r.close();
                },
                "200 Content-Type=text/html: x complete end",
            ),
            (
                "cleanup, cut short",
                |r| {
                    r.cleanup = true;
                    r.write(b"x");
                    r.flush();
                    r.fail(500);
                    r.close();
                },
                "200 Content-Type=text/html: x truncated",
            ),
            (
                "after the end",
                |r| {
                    r.finish(0);
                    r.write(b"x");
                    r.flush();
                    r.finish(0);
                },
                "200 Content-Type=text/html: end",
            ),
        ];
        for (name, handler, expected) in cases {
            assert_eq!(heard(Place::default(), handler), *expected, "{name}");
        }
    }

    #[test]
    fn a_scripts_output_begins_with_its_header() {
        let cases: &[(&[&[u8]], &str)] = &[
            (&[b"Content-type: a/b\n\nx"], "200 Content-Type=a/b: x end"),
            (&[b"Content-", b"type: a/b\r", b"\n\r\n", b"x", b"y"], "200 Content-Type=a/b: xy end"),
            (&[b"Location: /there\n\n"], "302 Content-Type=text/html Location=http://example.org:8080/there: end"),
            (&[b"Location: //other/\n\n"], "302 Content-Type=text/html Location=//other/: end"),
            (&[b"Status: 204\n\n"], "204: end"),
            (&[], "500 Content-Type=text/html; charset=utf-8: PAGE end"),
            (&[b"Content-type: a/b\n"], "500 Content-Type=text/html; charset=utf-8: PAGE end"),
            (&[b"<html>\n\n", b"more"], "500 Content-Type=text/html; charset=utf-8: PAGE end"),
            (&[b"X: \0\n\n", b"more"], "500 Content-Type=text/html; charset=utf-8: PAGE end"),
        ];
        for (pieces, expected) in cases {
            let place = Place { send_header: true, ..Default::default() };
            let heard = heard(place, |r| {
                pieces.iter().for_each(|piece| r.write(piece));
                r.finish(0);
            });
            assert_eq!(heard, *expected, "{pieces:?}");
        }
    }
}
