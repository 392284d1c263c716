//! How a request was answered: the figures and headers of its response, for logs and statistics.

use std::cell::{Cell, OnceCell};
use std::time::Duration;

use http::HeaderMap;

use super::RequestContext;
use crate::log::entry::Ending;

/// The status logged for a client that left before the response, as in nginx.
const CLIENT_LEFT: u16 = 499;

/// The response, as far as it was sent.
#[derive(Default)]
pub struct Answered {
    pub(super) tally: Cell<ResponseTally>,
    /// The response's headers, stored only if a log format uses one.
    pub(super) headers: OnceCell<HeaderMap>,
}

/// Figures of a response.
#[derive(Debug, Clone, Copy)]
pub struct ResponseTally {
    pub status: u16,
    /// Time from the complete head to the last byte.
    pub took: Duration,
    /// Body bytes sent, without chunk headers.
    pub body_bytes: u64,
    /// Bytes received for this request; for HTTP/2, those of its stream.
    pub received_bytes: u64,
    /// Bytes sent for this request.
    pub sent_bytes: u64,
    pub ending: Ending,
}

impl Default for ResponseTally {
    fn default() -> ResponseTally {
        ResponseTally {
            status: CLIENT_LEFT,
            took: Duration::ZERO,
            body_bytes: 0,
            received_bytes: 0,
            sent_bytes: 0,
            ending: Ending::Aborted,
        }
    }
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
