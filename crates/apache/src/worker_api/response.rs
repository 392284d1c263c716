//! The result of a request's handlers, and the response to the client.

use crate::error_page::ErrorPage;
use crate::request_rec::RequestRec;
use crate::request_rec::environment::{Api, api};
use crate::request_rec::field::{Number, Text};
use crate::request_rec::tables::Id;
use crate::request_stack::{speaking, with};

/// The response, once the handlers have returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandlerOutcome {
    /// The handlers have written the response.
    Answered,
    /// The handlers declined: the front responds with this file.
    File(Vec<u8>),
    /// The handlers' output cannot be sent: respond with this status.
    Error(u16),
}

/// The meaning of a handler's return value.
enum ReturnMeaning {
    Done,
    Declined,
    Status(u16),
}

impl ReturnMeaning {
    /// mod_perl 1 takes 1 (the value of a final `print`), 200 and values above 600 for OK. mod_perl 2 takes 200, like
    /// other values, for a status with an error page, unless there is output.
    fn of(code: i32) -> ReturnMeaning {
        match code {
            -1 => ReturnMeaning::Declined,
            100..=199 | 201..=599 => ReturnMeaning::Status(code as u16),
            _ => ReturnMeaning::Done,
        }
    }
}

impl RequestRec {
    /// The response after handlers that returned `code`.
    pub fn outcome(&mut self, code: i32) -> HandlerOutcome {
        self.send_info();
        if self.output.is_handed_over {
            // After `$r->internal_redirect` another record has responded; this one may be silent.
            return HandlerOutcome::Answered;
        }
        match ReturnMeaning::of(code) {
            ReturnMeaning::Declined if self.output.is_untouched() => {
                return self.declined_file().map_or(HandlerOutcome::Error(404), HandlerOutcome::File);
            }
            ReturnMeaning::Status(status) if self.output.is_untouched() => return HandlerOutcome::Error(status),
            ReturnMeaning::Done if code == 200 && api() == Api::Two && self.output.is_untouched() => {
                return HandlerOutcome::Error(200);
            }
            ReturnMeaning::Status(status) if self.keeps_body() => {
                return HandlerOutcome::Error(self.complete().unwrap_or(status));
            }
            ReturnMeaning::Status(status) if self.contradicts_head(status) => return HandlerOutcome::Error(status),
            ReturnMeaning::Status(status) => self.status = status,
            ReturnMeaning::Done | ReturnMeaning::Declined => {}
        }
        match self.complete() {
            Some(status) => HandlerOutcome::Error(status),
            None => HandlerOutcome::Answered,
        }
    }

    /// Whether mod_perl 2 takes the status for an error that came after the head. A script that set its own
    /// status returns it, too.
    fn contradicts_head(&self, status: u16) -> bool {
        api() == Api::Two && status >= 400 && self.output.head_status().is_some_and(|sent| sent != status)
    }

    /// Whether the handlers' output is the response, when the last of them returned `code`.
    pub fn will_answer(&mut self, code: i32) -> bool {
        let is_ours = !self.output.is_handed_over && !self.output.is_settled() && self.output.failed.is_none();
        is_ours && (!self.output.is_untouched() || matches!(ReturnMeaning::of(code), ReturnMeaning::Done))
    }

    /// The file that the front would serve. Paths with extra segments are refused: `/page.html/more` must not
    /// show `/page.html`.
    fn declined_file(&mut self) -> Option<Vec<u8>> {
        if self.number(Number::HasFile) == 0 {
            return None;
        }
        let mut file = self.text(Text::Filename)?.to_vec();
        if !self.has_set(Text::Filename) {
            file.extend_from_slice(self.text(Text::PathInfo).unwrap_or_default());
        }
        Some(file)
    }

    /// In httpd 2 a body that is complete when the response begins determines its length: an empty one has
    /// length 0, whatever the handler set. The response to HEAD has the length that the handler set.
    fn forget_length_of_nothing(&mut self) {
        if api() == Api::Two && !self.is_head() && self.output.is_untouched() && self.output.bytes_sent() == 0 {
            self.tables.of_mut(Id::HeadersOut).unset(b"Content-Length");
        }
    }

    /// Makes the head final; returns the status to send instead if it is invalid.
    fn complete(&mut self) -> Option<u16> {
        if self.output.is_settled() {
            return None;
        }
        if self.output.failed.is_none() && self.lacks_header() {
            self.premature();
        }
        if self.output.failed.is_none() {
            self.forget_length_of_nothing();
            self.commit();
        }
        self.output.failed
    }
}

/// The outcome of a request whose handler returned `code`.
pub fn outcome(request: u64, code: i32) -> HandlerOutcome {
    speaking(request, |r| r.outcome(code)).unwrap_or(HandlerOutcome::Answered)
}

/// Whether the head is final and has this status.
pub fn has_sent_status(request: u64, status: i32) -> bool {
    status > 0 && with(request, |r| r.output.head_status().map(i32::from) == Some(status)).unwrap_or(false)
}

/// The file that is the response when all handlers decline, if the request has one.
pub fn declined_file(request: u64) -> Option<Vec<u8>> {
    with(request, RequestRec::declined_file).ok().flatten()
}

/// Makes the front respond with this file.
pub fn send_file(request: u64, path: &[u8]) {
    let _ = with(request, |r| r.output.file = Some(path.to_vec()));
}

/// Makes the head of the output final.
pub fn commit(request: u64) {
    let _ = with(request, RequestRec::commit);
}

/// Responds with a page for the status.
pub fn send_page(request: u64, status: u16, page: ErrorPage<'_>) {
    let _ = with(request, |r| r.send_page(status, page));
}

/// Lets the front answer with its page or ErrorDocument for the status.
pub fn refuse(request: u64, status: u16) {
    let _ = with(request, |r| r.refuse(status));
}

/// A handler died: drop its output and send this status, unless a part was sent.
pub fn fail(request: u64, status: u16) {
    let _ = with(request, |r| r.output.failed = Some(status));
}

/// The status that is sent instead of the output, if any.
pub fn failed(request: u64) -> Option<u16> {
    with(request, |r| r.output.failed).ok().flatten()
}

/// Sets the content type of the file that is the response, unless a handler has set one.
pub fn set_file_type(request: u64, kind: &str) {
    let _ = with(request, |r| {
        if !kind.is_empty() && !r.has_set(Text::ContentType) {
            r.set_text(Text::ContentType, Some(kind.as_bytes()));
        }
    });
}

/// Sets the language of the response, unless a handler has set one.
pub fn set_language(request: u64, language: &str) {
    let _ = with(request, |r| {
        let headers = r.tables.of_mut(Id::HeadersOut);
        if headers.get(b"Content-Language").is_none() {
            headers.set(b"Content-Language", language.as_bytes());
        }
    });
}

/// Ends the header: further output is body, however it begins.
pub fn begin_body(request: u64) {
    let _ = speaking(request, RequestRec::end_header);
}

/// Drops output that was not sent; returns false when some of it stays.
pub fn discard(request: u64) -> bool {
    with(request, RequestRec::discard).unwrap_or(false)
}

/// The `$r->custom_response` for that status, if a handler has set it; an inner `None` removes the configured one.
pub fn custom_response(request: u64, status: u16) -> Option<Option<Vec<u8>>> {
    let find =
        |r: &mut RequestRec| r.custom_responses.iter().rfind(|(s, _)| *s == status).map(|(_, text)| text.clone());
    with(request, find).ok().flatten()
}

/// The status of the error whose page this request makes; also that of the request that was redirected to this one,
/// unless it was 200.
pub fn error_before(request: u64) -> Option<u16> {
    let before = crate::request_stack::with_stack(|stack| {
        let record = &stack.records[stack.at(request)?];
        let of_front = record.frame.error_status();
        Ok(record.links.prev.map(|prev| stack.records[prev].status).or(of_front))
    });
    before.ok().flatten().filter(|status| *status != 200)
}
