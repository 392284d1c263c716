//! A connection that the front has handed over: its handlers have the client's socket, and until they return the worker is theirs.

use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

use super::phases::{DECLINED, OK};
use crate::location::ResolvedLocation;
use crate::log_context::{note, report};
use crate::site::Site;
use config::Phase;

/// A handler of PreConnection for which it is enough; the connection goes on.
const DONE: i32 = -2;

impl Site {
    /// Runs the connection's handlers. Perl code uses copies of the descriptor, which end with the connection's pool.
    pub(super) fn converse(&self, request: u64, location: Rc<ResolvedLocation>, socket: Option<OwnedFd>) {
        let Some(socket) = socket else { return report("a connection came without its socket") };
        self.perl.env_begin();
        // Its pool ends with it.
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
        // The front waits for an answer, which it tells nobody.
        apache::send_page(request, apache::failed(request).unwrap_or(200), apache::Page::Ours(""));
    }
}
