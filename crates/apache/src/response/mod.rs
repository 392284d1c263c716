//! A response, from a program's output to the end of the exchange.

mod bad_response;
mod head;
mod printed;
mod script_headers;
mod size_limits;

use bytes::Bytes;
use wire::reply::{Head, LogKind, Reply, RequestEnd};

use self::head::{count, is_final, is_header};
use self::size_limits::{MAX_TARGET, fits};
use crate::error_page::{ErrorPage, is_bodyless, page};
use crate::output::{Reference, ResponseStage};
use crate::request_rec::environment::{Api, api};
use crate::request_rec::field::Text;
use crate::request_rec::tables::Id;
use crate::request_rec::{FinishedRequest, RequestRec, redirected};

impl RequestRec {
    /// Finishes the response: sends the rest of it.
    pub fn finish(&mut self) -> FinishedRequest {
        self.send_info();
        self.end_chunks();
        if let Some(path) = self.output.file.take() {
            return self.refer(self.file_head(), &path, Reply::File);
        }
        let plain = Head { status: 200, ..Head::default() };
        if let Some(onward) = self.output.onward.take() {
            let head = Head { status: 200, reason: Vec::new(), ..self.file_head() };
            if !fits(&head.headers) {
                self.fail_long_head();
                self.send_page(500, ErrorPage::Ours(""));
                return self.leave(false);
            }
            return self.send_reference(head, &Reply::Onward(onward));
        }
        if let Some(target) = self.output.elsewhere.take() {
            let headers = self.headers_of_errors();
            let head = Head { always: count(&headers), headers, ..plain };
            return self.refer(head, &target, Reply::Elsewhere);
        }
        if let Some(status) = self.output.refused.take() {
            let mut variables = redirected::variables_of_error(self);
            if variables.len() > MAX_TARGET {
                variables.clear();
            }
            return self.send_reference(plain, &Reply::Refused { status, variables: &variables });
        }
        self.commit();
        self.leave(self.output.truncated)
    }

    /// Whether a script printed an incomplete header, or no output at all. Under mod_perl 2 the latter is an empty
    /// response, except of CGI programs.
    pub fn lacks_header(&self) -> bool {
        let is_perl = matches!(self.place.handler.as_deref(), Some("perl-script" | "modperl"));
        let may_be_silent = api() == Api::Two && (is_perl || self.output.sent_header);
        let is_silent =
            self.place.send_header && self.output.is_untouched() && self.status == self.first_status && !may_be_silent;
        is_silent || matches!(self.output.stage, ResponseStage::Script)
    }

    /// Whether printed output stays although a handler returned an error: mod_perl 2 appends the error page to
    /// it.
    pub fn keeps_body(&self) -> bool {
        let is_programs = self.output.failed.is_none() && !self.output.is_settled();
        api() == Api::Two && is_programs && self.output.bytes_sent() > 0
    }

    /// Drops output that was not sent; returns false when some of it stays.
    pub fn discard(&mut self) -> bool {
        !self.keeps_body() && self.output.discard()
    }

    /// Sends a page for a status. A client that has got a part of the response must see that it is incomplete.
    pub fn send_page(&mut self, status: u16, text: ErrorPage<'_>) {
        if self.keeps_body() {
            return self.append_page(status, text);
        }
        if !self.output.discard() {
            self.output.truncated = true;
            return;
        }
        if let Some(name) = self.bad_header_of_page(status) {
            self.fail_invalid(&name);
            return self.send_page(500, ErrorPage::Ours(""));
        }
        let is_redirect = (300..400).contains(&status);
        let location = is_redirect.then(|| self.location()).flatten();
        let mut errors = self.headers_of_errors();
        errors.retain(|(name, _)| location.is_none() || !name.eq_ignore_ascii_case(b"location"));
        if !fits(&errors) {
            errors.clear();
        }
        let line = |name: &'static [u8], value: Bytes| (Bytes::from_static(name), value);
        let mut headers: Vec<_> = location.iter().map(|to| line(b"Location", to.clone().into())).collect();
        if !is_bodyless(status) {
            headers.push(line(b"Content-Type", Bytes::from_static(b"text/html; charset=utf-8")));
            self.output.body = text_of(status, location.as_deref(), text);
        }
        let always = count(&errors);
        headers.append(&mut errors);
        self.status = status;
        self.output.stage =
            ResponseStage::Ready(Head { status, reason: self.reason(status), headers, always, is_shared: false });
    }

    /// Lets the front answer with its page or ErrorDocument for the status, unless a part of the response was sent.
    pub fn refuse(&mut self, status: u16) {
        if self.keeps_body() {
            return self.append_page(status, ErrorPage::Ours(""));
        }
        if !self.output.discard() {
            self.output.truncated = true;
            return;
        }
        self.status = status;
        self.output.refused = Some(status);
    }

    fn append_page(&mut self, status: u16, text: ErrorPage<'_>) {
        if !is_bodyless(status) {
            let location = (300..400).contains(&status).then(|| self.location()).flatten();
            self.write(&text_of(status, location.as_deref(), text));
        }
    }

    /// The headers that stay whatever the response becomes: `$r->err_headers_out`.
    fn headers_of_errors(&self) -> Vec<(Bytes, Bytes)> {
        let valid = self.tables.of(Id::ErrHeadersOut).iter().filter(|(name, value)| is_header(name, value));
        valid.map(|(name, value)| (Bytes::copy_from_slice(name), Bytes::copy_from_slice(value))).collect()
    }

    /// The log line for an invalid header of an error response, unless the status is a server error anyway.
    fn bad_header_of_page(&self, status: u16) -> Option<Vec<u8>> {
        if status >= 500 {
            return None;
        }
        let location = self.tables.of(Id::HeadersOut).get(b"Location").filter(|_| (300..400).contains(&status));
        let location = location.map(|location| (&b"Location"[..], location));
        let mut headers = self.tables.of(Id::ErrHeadersOut).iter().chain(location);
        headers.find(|(name, value)| !is_header(name, value)).map(|(name, _)| name.to_vec())
    }

    fn location(&self) -> Option<Vec<u8>> {
        let tables = [Id::HeadersOut, Id::ErrHeadersOut].map(|id| self.tables.of(id));
        let location = tables.iter().find_map(|table| table.get(b"Location"))?;
        (is_header(b"Location", location) && location.len() <= MAX_TARGET).then(|| location.to_vec())
    }

    /// Makes the front respond with a file or with another path.
    fn refer<'a>(&mut self, head: Head, to: &'a [u8], reply: fn(&'a [u8]) -> Reply<'a>) -> FinishedRequest {
        if !is_final(head.status) {
            self.fail_status();
            self.send_page(500, ErrorPage::Ours(""));
            return self.leave(false);
        }
        if !fits(&head.headers) || to.len() > MAX_TARGET {
            self.fail_long_head();
            self.send_page(500, ErrorPage::Ours(""));
            return self.leave(false);
        }
        self.send_reference(head, &reply(to))
    }

    fn send_reference(&mut self, head: Head, to: &Reply<'_>) -> FinishedRequest {
        let last = self.last_word(false);
        self.output.send_reference(self.frame.id(), Reference { head, to, last: &last }, &mut *self.client);
        self.finished()
    }

    fn leave(&mut self, truncated: bool) -> FinishedRequest {
        if !matches!(self.output.stage, ResponseStage::Ended) {
            let last = self.last_word(truncated);
            // A truncated response must not look complete while its cleanup handlers run.
            let held_back = truncated && self.output.owes_end.is_some();
            self.output.send_rest(self.frame.id(), (!held_back).then_some(&last), &mut *self.client);
        }
        self.finished()
    }

    /// The message behind the response: its end, or that cleanup handlers still run.
    fn last_word(&mut self, truncated: bool) -> Reply<'static> {
        if self.cleanup {
            self.output.owes_end = Some(truncated);
            return Reply::Complete;
        }
        Reply::End(self.end(truncated))
    }

    /// Ends the request: sends the end if cleanup handlers delayed it.
    pub fn close(&mut self) {
        if let Some(truncated) = self.output.owes_end.take() {
            let end = self.end(truncated);
            self.output.send_end(self.frame.id(), end, &mut *self.client);
        }
    }

    fn finished(&self) -> FinishedRequest {
        FinishedRequest { status: self.status, cleanup: self.cleanup }
    }

    fn end(&mut self, truncated: bool) -> RequestEnd {
        RequestEnd {
            cpu_us: if self.place.logged.cpu { crate::request_stack::cpu_since_last() } else { 0 },
            leaving: self.leaving,
            truncated,
            log: self.log_values(),
        }
    }

    fn log_values(&mut self) -> Vec<(LogKind, Vec<u8>, Vec<u8>)> {
        let logged = self.place.logged.clone();
        let mut log = Vec::new();
        for name in &logged.notes {
            let value = self.tables.of(Id::Notes).get(name.as_bytes());
            log.extend(value.map(|value| (LogKind::Note, name.clone().into_bytes(), value.to_vec())));
        }
        for name in &logged.env {
            let value = self.table_value(Id::SubprocessEnv as u32, name.as_bytes());
            log.extend(value.map(|value| (LogKind::Env, name.clone().into_bytes(), value.to_vec())));
        }
        log.extend(self.known_text(Text::User).map(|user| (LogKind::User, Vec::new(), user.to_vec())));
        let address = self.known_text(Text::RemoteIp).map(<[u8]>::to_vec);
        let address = address.filter(|_| self.has_set(Text::RemoteIp));
        log.extend(address.map(|address| (LogKind::RemoteIp, Vec::new(), address)));
        log.extend(std::mem::take(&mut self.parts).into_iter().map(|(name, value)| (LogKind::Span, name, value)));
        size_limits::cut(&mut log);
        log
    }
}

fn text_of(status: u16, location: Option<&[u8]>, text: ErrorPage<'_>) -> Vec<u8> {
    match text {
        ErrorPage::Ours(foot) => page(status, location, foot),
        ErrorPage::Text(text) => text.to_vec(),
    }
}

#[cfg(test)]
mod tests;
