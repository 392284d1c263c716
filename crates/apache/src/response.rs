//! The end of a response: what a handler's number means, and what is left to send.

use wire::reply::{End, Head, LogKind, Reply};

use crate::error_page::{is_bodyless, page};
use crate::field::Text;
use crate::head::is_header;
use crate::output::Stage;
use crate::request::{Finished, RequestRec};
use crate::tables::Id;

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
        if let Some(target) = self.output.elsewhere.take() {
            return self.go_elsewhere(&target);
        }
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
        self.output.send_reference(self.frame.id(), &Reply::File(path), &last, &mut *self.client);
        self.finished()
    }

    fn go_elsewhere(&mut self, target: &[u8]) -> Finished {
        let last = self.last_word(false);
        self.output.send_reference(self.frame.id(), &Reply::Elsewhere(target), &last, &mut *self.client);
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
            cpu_us: if self.place.log_cpu { crate::current::cpu_since_last() } else { 0 },
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
}

#[cfg(test)]
mod tests;
