//! What a request's handlers came to, and what the client is to get for it.

use crate::error_page::Page;
use crate::request_rec::RequestRec;
use crate::request_rec::environment::{Api, api};
use crate::request_rec::field::{Number, Text};
use crate::request_rec::tables::Id;
use crate::request_stack::{speaking, with};

/// What is to be done when the handlers have returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing: what they said is the answer.
    Answered,
    /// They left it to the server: this file is the answer.
    File(Vec<u8>),
    /// Nothing of theirs can be sent, only this status.
    Error(u16),
}

/// What a handler's number means.
enum Verdict {
    Done,
    Declined,
    Status(u16),
}

impl Verdict {
    /// 1.x takes a stray `1` (of a last `print`), a 200 and nonsense above 600 for OK; to mod_perl 2 a 200 is a status
    /// that has a page, as all others, as long as nothing was said.
    fn of(code: i32) -> Verdict {
        match code {
            -1 => Verdict::Declined,
            100..=199 | 201..=599 => Verdict::Status(code as u16),
            _ => Verdict::Done,
        }
    }
}

impl RequestRec {
    /// The handlers returned `code`.
    pub fn outcome(&mut self, code: i32) -> Outcome {
        self.send_info();
        if self.output.is_handed_over {
            // `$r->internal_redirect`: another request has given the answer, and this one may be silent.
            return Outcome::Answered;
        }
        match Verdict::of(code) {
            Verdict::Declined if self.output.is_untouched() => {
                return self.declined_file().map_or(Outcome::Error(404), Outcome::File);
            }
            Verdict::Status(status) if self.output.is_untouched() => return Outcome::Error(status),
            Verdict::Done if code == 200 && api() == Api::Two && self.output.is_untouched() => {
                return Outcome::Error(200);
            }
            Verdict::Status(status) if self.keeps_body() => {
                return Outcome::Error(self.complete().unwrap_or(status));
            }
            Verdict::Status(status) if self.contradicts_head(status) => return Outcome::Error(status),
            Verdict::Status(status) => self.status = status,
            Verdict::Done | Verdict::Declined => {}
        }
        match self.complete() {
            Some(status) => Outcome::Error(status),
            None => Outcome::Answered,
        }
    }

    /// Whether mod_perl 2 takes the status for an error that came after the head; a script's own status is returned, too.
    fn contradicts_head(&self, status: u16) -> bool {
        api() == Api::Two && status >= 400 && self.output.head_status().is_some_and(|said| said != status)
    }

    /// Whether what the handlers said is the answer, when the last of them said `code`.
    pub fn will_answer(&mut self, code: i32) -> bool {
        let is_ours = !self.output.is_handed_over && !self.output.is_settled() && self.output.failed.is_none();
        is_ours && (!self.output.is_untouched() || matches!(Verdict::of(code), Verdict::Done))
    }

    /// What the front would send of itself: `/page.html/more` names no file, and must not show `/page.html`.
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

    /// In httpd 2 a body that is whole when the answer begins has its own length, whatever was said of it: none is 0 bytes long. What HEAD
    /// would get is for the handler to say.
    fn forget_length_of_nothing(&mut self) {
        if api() == Api::Two && !self.is_head() && self.output.is_untouched() && self.output.bytes_sent() == 0 {
            self.tables.of_mut(Id::HeadersOut).unset(b"Content-Length");
        }
    }

    /// Decides the head; the status that must go out instead when that cannot be.
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

/// See [`Outcome`].
pub fn outcome(request: u64, code: i32) -> Outcome {
    speaking(request, |r| r.outcome(code)).unwrap_or(Outcome::Answered)
}

/// Whether what was said begins with this status.
pub fn has_said(request: u64, status: i32) -> bool {
    status > 0 && with(request, |r| r.output.head_status().map(i32::from) == Some(status)).unwrap_or(false)
}

/// The file that is the answer when nobody else gives one; `None` when the request has none.
pub fn declined_file(request: u64) -> Option<Vec<u8>> {
    with(request, RequestRec::declined_file).ok().flatten()
}

/// The front is to send this file.
pub fn send_file(request: u64, path: &[u8]) {
    let _ = with(request, |r| r.output.file = Some(path.to_vec()));
}

/// What was said is the answer: its head is decided.
pub fn commit(request: u64) {
    let _ = with(request, RequestRec::commit);
}

/// The answer is a page that tells the status.
pub fn send_page(request: u64, status: u16, page: Page<'_>) {
    let _ = with(request, |r| r.send_page(status, page));
}

/// A handler died: what it said is not sent, but this status, unless some of it has left.
pub fn fail(request: u64, status: u16) {
    let _ = with(request, |r| r.output.failed = Some(status));
}

/// The status that goes out in the place of what was said, if that is so.
pub fn failed(request: u64) -> Option<u16> {
    with(request, |r| r.output.failed).ok().flatten()
}

/// The type of the file that is the answer, where no handler said another.
pub fn say_type(request: u64, kind: &str) {
    let _ = with(request, |r| {
        if !kind.is_empty() && !r.has_set(Text::ContentType) {
            r.set_text(Text::ContentType, Some(kind.as_bytes()));
        }
    });
}

/// The language of the answer, where no handler said one.
pub fn say_language(request: u64, language: &str) {
    let _ = with(request, |r| {
        let headers = r.tables.of_mut(Id::HeadersOut);
        if headers.get(b"Content-Language").is_none() {
            headers.set(b"Content-Language", language.as_bytes());
        }
    });
}

/// What is said from now on is body, however it begins.
pub fn begin_body(request: u64) {
    let _ = speaking(request, RequestRec::end_header);
}

/// Throws away what was said and has not left; false when some of it stays.
pub fn discard(request: u64) -> bool {
    with(request, RequestRec::discard).unwrap_or(false)
}

/// `$r->custom_response`, if something was said for that status; the inner `None` takes the configuration's away.
pub fn custom_response(request: u64, status: u16) -> Option<Option<Vec<u8>>> {
    let find =
        |r: &mut RequestRec| r.custom_responses.iter().rfind(|(s, _)| *s == status).map(|(_, text)| text.clone());
    with(request, find).ok().flatten()
}

/// The status of the request that was redirected to this one, unless that was 200.
pub fn error_before(request: u64) -> Option<u16> {
    let before = crate::request_stack::with_stack(|stack| {
        let at = stack.at(request)?;
        Ok(stack.records[at].links.prev.map(|prev| stack.records[prev].status))
    });
    before.ok().flatten().filter(|status| *status != 200)
}
