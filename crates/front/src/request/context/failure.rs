//! The recording of a failed request, for `RecordFailures`.

use super::RequestContext;
use crate::base::protocol::protocol;
use crate::base::target;
use crate::failures::{FailedBody, RecordedRequest};
use crate::log::entry::since_1970;
use wire::frame::name_in_logs;

/// The lowest status that is recorded.
const FAILED: u16 = 500;

impl RequestContext {
    /// Stores the body that a worker gets, if failures are recorded.
    pub fn remember_body(&self, body: impl FnOnce() -> FailedBody) {
        if self.generation.failures.is_some() {
            let _ = self.body.set(body());
        }
    }

    /// Passes a failed request to the thread that records it. A request without a worker is refused by the server
    /// itself, for reasons that the error log has.
    pub(super) fn record_failure(&self, had_worker: bool) {
        let Some(recorder) = &self.generation.failures else { return };
        let status = self.answered.tally.borrow().status;
        if status < FAILED || !had_worker {
            return;
        }
        let local = &self.client.local;
        let scheme = if self.is_secure() { "https" } else { "http" };
        recorder.offer(RecordedRequest {
            received: self.received,
            id: name_in_logs(since_1970(self.received), self.number()),
            status,
            method: self.head.method.clone(),
            target: self.sent_target(),
            protocol: protocol(self.head.version),
            host: self.head.uri.authority().map(|host| host.to_string()),
            headers: self.head.headers.clone(),
            body: self.body.get().cloned().unwrap_or_default(),
            server: local.socket.map(|address| format!("{scheme}://{address}")),
        });
    }

    fn sent_target(&self) -> Vec<u8> {
        let written = self.head.uri.path_and_query().map(|target| target.as_str().as_bytes());
        target::as_sent(&self.head).or(written).unwrap_or(b"/").to_vec()
    }
}
