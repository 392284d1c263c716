//! Functions that concern the process: its current request, its children, its title.

use std::ffi::CString;
use std::os::fd::{AsRawFd, BorrowedFd};

use libperl_sys as sys;

/// Sets the signal that makes the current request die, if the signal's value is the request's number; see
/// `deadline.c`.
pub fn deadline_signal(signal: i32) {
    sys::cml_deadline_signal(signal)
}

/// Sets the number of the current request; 0: none.
pub fn request_is(number: u64) {
    sys::cml_request_is(number)
}

/// Forgets that the current request was late, after it was given more time.
pub fn request_is_in_time() {
    sys::cml_request_is_in_time()
}

/// Begins the work after the response, which has its own RequestTimeout.
pub fn request_is_answered() {
    sys::cml_request_is_answered()
}

/// Whether the current request has died because it took too long.
pub fn timed_out() -> bool {
    sys::cml_timed_out() != 0
}

/// Whether the current request is late, in code outside of Perl that must then end the request.
pub fn is_late() -> bool {
    sys::cml_is_late() != 0
}

/// Whether this process is a child that Perl code has forked in a worker. Such a child must not send messages to the
/// front.
pub fn is_forked_child() -> bool {
    sys::cml_is_forked_child() != 0
}

/// Whether perl itself has ended a call for lack of memory. The process should not take another request.
pub fn gave_up() -> bool {
    sys::cml_gave_up() != 0
}

/// Sets whether the child of the next fork continues as this worker, with its connection to the front.
pub fn next_fork_speaks(speaks: bool) {
    sys::cml_next_fork_speaks(i32::from(speaks))
}

/// Makes children that Perl code forks close `fds`, at most 64: only the worker may talk to the front. Replaces
/// the list of an earlier call.
pub fn keep_from_children<'a>(fds: impl Iterator<Item = BorrowedFd<'a>>) {
    let fds: Vec<_> = fds.map(|fd| fd.as_raw_fd()).collect();
    // SAFETY: a pair of pointer and length; the numbers are copied. They are closed in forked children only, which have
    // a table of their own.
    unsafe { sys::cml_keep_from_children(fds.as_ptr(), fds.len()) }
}

/// Makes a socket of the event loop /dev/null in children that Perl code forks. It need not be reported when it is
/// closed.
pub fn loop_socket(socket: BorrowedFd<'_>) {
    sys::cml_loop_socket(socket.as_raw_fd());
}

/// Whether unreaped children may exist: after a fork, or when C code is loaded that may fork on its own. While
/// the worker is busy, forks by C code are assumed only from time to time.
pub fn may_have_children(is_busy: bool) -> bool {
    sys::cml_may_have_children(i32::from(is_busy)) != 0
}

/// Records whether this process has unreaped children, and which ones were reaped: pairs of pid and status, for
/// `waitpid` in Perl code.
pub fn has_children(has: bool, ended: &[[i32; 2]]) {
    // SAFETY: writes a flag, and copies as many pairs as there are.
    unsafe { sys::cml_has_children(i32::from(has), ended.as_ptr(), ended.len()) }
}

/// Sets the title that `ps` shows, cut to the room of the original arguments.
pub fn set_title(title: &str) {
    let title = CString::new(title).unwrap_or_default();
    // SAFETY: a terminated string, copied.
    unsafe { sys::cml_set_title(title.as_ptr()) }
}
