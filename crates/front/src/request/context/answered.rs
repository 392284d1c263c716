//! How a request was answered: the figures and headers of its response, for logs and statistics.

use std::cell::{Cell, OnceCell};

use http::HeaderMap;

use super::RequestContext;
use crate::log::entry::{Ending, ResponseTally};

/// The response, as far as it was sent.
#[derive(Default)]
pub struct Answered {
    pub(super) tally: Cell<ResponseTally>,
    /// The response's headers, stored only if a log format uses one.
    pub(super) headers: OnceCell<HeaderMap>,
}

impl RequestContext {
    /// Sets the status for the log.
    pub fn set_status(&self, status: u16) {
        self.answered.tally.update(|tally| ResponseTally { status, ..tally });
    }

    /// Stores the response's headers if a log format uses one.
    pub fn set_headers(&self, headers: &HeaderMap) {
        if self.generation.access_logs.want_answer() {
            let _ = self.answered.headers.set(headers.clone());
        }
    }

    /// Counts bytes of the body as sent.
    pub fn count_sent(&self, bytes: usize) {
        self.answered.tally.update(|tally| ResponseTally { body_bytes: tally.body_bytes + bytes as u64, ..tally });
    }

    /// Marks the response as handed over whole; `kept`: the connection stays open.
    pub fn complete(&self, kept: bool) {
        self.set_ending(if kept { Ending::Kept } else { Ending::Closed });
    }

    /// Marks the response as aborted: the client will not get the rest.
    pub fn abort(&self) {
        self.set_ending(Ending::Aborted);
    }

    /// Notes that the connection will not carry another request.
    pub(super) fn keeps_no_connection(&self) {
        if self.answered.tally.get().ending == Ending::Kept {
            self.set_ending(Ending::Closed);
        }
    }

    fn set_ending(&self, ending: Ending) {
        self.answered.tally.update(|tally| ResponseTally { ending, ..tally });
    }
}
