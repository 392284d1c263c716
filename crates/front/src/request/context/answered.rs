//! How a request was answered: the figures and headers of its response, for logs and statistics.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use http::HeaderMap;
use http::header::CONTENT_LENGTH;

use super::RequestContext;
use crate::log::entry::{Ending, ResponseTally};

/// The response, as far as it was sent.
#[derive(Default)]
pub struct Answered {
    pub(super) tally: RefCell<ResponseTally>,
    /// The response's headers, stored only if a log format uses one.
    pub(super) headers: OnceCell<HeaderMap>,
    /// Notes of `Header note`.
    pub(super) notes: RefCell<BTreeMap<String, String>>,
}

impl RequestContext {
    pub fn set_note(&self, name: &str, value: String) {
        self.answered.notes.borrow_mut().insert(name.to_owned(), value);
    }

    /// The value of a note that `Header note` has set.
    pub fn note(&self, name: &str) -> Option<String> {
        self.answered.notes.borrow().get(name).cloned()
    }

    pub fn set_status(&self, status: u16) {
        self.answered.tally.borrow_mut().status = status;
    }

    /// Stores the response's headers if a log format uses one. `length` is that of the body, from which hyper writes
    /// `Content-Length`.
    pub fn set_headers(&self, headers: &HeaderMap, length: Option<u64>) {
        if self.generation.access_logs.want_response() {
            let mut headers = headers.clone();
            if let Some(length) = length {
                headers.entry(CONTENT_LENGTH).or_insert_with(|| length.into());
            }
            let _ = self.answered.headers.set(headers);
        }
    }

    pub fn count_sent(&self, bytes: usize) {
        self.answered.tally.borrow_mut().body_bytes += bytes as u64;
    }

    /// Marks the response as handed over whole; `kept`: the connection stays open.
    pub fn complete(&self, kept: bool) {
        self.answered.tally.borrow_mut().ending = if kept { Ending::Kept } else { Ending::Closed };
    }

    /// Marks the response as aborted: the client will not get the rest.
    pub fn abort(&self) {
        self.answered.tally.borrow_mut().ending = Ending::Aborted;
    }

    /// Notes that the connection will not carry another request.
    pub(super) fn keeps_no_connection(&self) {
        let mut tally = self.answered.tally.borrow_mut();
        if tally.ending == Ending::Kept {
            tally.ending = Ending::Closed;
        }
    }
}
