//! Connections handed over by the front: the handlers own the client's socket and occupy the worker until they
//! return.

use std::os::fd::{AsRawFd, OwnedFd};

use super::at::LocatedRequest;
use super::phases::{DECLINED, OK, run};
use crate::log_context::{note, report};
use config::Phase;

/// httpd's DONE: ends the PreConnection phase; the connection continues.
const DONE: i32 = -2;

/// Runs the connection's handlers. Perl code uses copies of the descriptor, which end with the connection's pool.
pub(super) fn converse(at: LocatedRequest<'_>, socket: Option<OwnedFd>) {
    let Some(socket) = socket else { return report("the message about a connection has no descriptor of its socket") };
    let perl = &at.site.perl;
    perl.env_begin();
    // The connection's pool is destroyed by the cleanup.
    apache::want_cleanup();
    let patience = at.site.config.timeouts.client.as_micros();
    let words = format!("{}\0{patience}", socket.as_raw_fd());
    note(perl.call(c"Cameleer::ModPerl2::begin_connection", Some(&words)));
    at.enter();
    perl.request_class_is(c"Apache2::Connection");
    if matches!(run(at, Phase::PreConnection), OK | DECLINED | DONE) {
        run(at, Phase::ProcessConnection);
    }
    perl.request_class_is(c"Apache2::RequestRec");
    perl.drain_output();
    // The front waits for a response, which it does not send to a client.
    apache::send_page(at.request, apache::failed(at.request).unwrap_or(200), apache::ErrorPage::Ours(""));
}
