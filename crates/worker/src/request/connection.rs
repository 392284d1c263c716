//! Connections handed over by the front: the handlers own the client's socket and occupy the worker until they
//! return.

use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

use super::phases::{DECLINED, OK};
use crate::location::ResolvedLocation;
use crate::log_context::{note, report};
use crate::site::Site;
use config::Phase;

/// httpd's DONE: ends the PreConnection phase; the connection continues.
const DONE: i32 = -2;

impl Site {
    /// Runs the connection's handlers. Perl code uses copies of the descriptor, which end with the connection's pool.
    pub(super) fn converse(&self, request: u64, location: Rc<ResolvedLocation>, socket: Option<OwnedFd>) {
        let Some(socket) = socket else { return report("a connection came without its socket") };
        self.perl.env_begin();
        // The connection's pool is destroyed by the cleanup.
        apache::want_cleanup();
        let patience = self.config.timeouts.client.as_micros();
        let words = format!("{}\0{patience}", socket.as_raw_fd());
        note(self.perl.call(c"Cameleer::ModPerl2::begin_connection", Some(&words)));
        self.runs_in(request, &location);
        self.perl.request_class_is(c"Apache2::Connection");
        if matches!(self.phase(&location, request, Phase::PreConnection), OK | DECLINED | DONE) {
            self.phase(&location, request, Phase::ProcessConnection);
        }
        self.perl.request_class_is(c"Apache2::RequestRec");
        self.perl.drain_output();
        // The front waits for an answer, which it does not send to a client.
        apache::send_page(request, apache::failed(request).unwrap_or(200), apache::Page::Ours(""));
    }
}
