//! Functions that concern the process: its current request, its children, its title.

use std::ffi::{CString, c_char, c_void};
use std::os::fd::{AsRawFd, BorrowedFd};

use libperl_sys as sys;

use crate::bytes;

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
    // SAFETY: a pair of pointer and length; the numbers are copied. They are closed in forked children only, which have a
    // table of their own.
    unsafe { sys::cml_keep_from_children(fds.as_ptr(), fds.len()) }
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

/// Adds a pair to the request's `%ENV`; only for the hook `environment`.
pub fn env_put(key: &[u8], value: &[u8]) {
    // SAFETY: two pairs of pointer and length; Perl copies both. The hook runs on Perl's thread, inside a request.
    unsafe { sys::cml_env_put(key.as_ptr().cast(), key.len(), value.as_ptr().cast(), value.len()) }
}

/// Starts to record changes of the request's `%ENV` by Perl code, for [`env_changes`], until the request ends.
pub fn env_tie() {
    // SAFETY: makes a hash, on Perl's thread.
    unsafe { sys::cml_env_tie() }
}

/// Changes of a tied `%ENV`, see [`env_tie`].
#[derive(Debug, Default)]
pub struct EnvChanges {
    /// Whether `pairs` is the whole environment, and all other names are gone.
    pub is_whole: bool,
    /// Names and new values; `None`: the name was removed.
    pub pairs: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// The changes since the last call. Runs no Perl code.
pub fn env_changes() -> EnvChanges {
    unsafe extern "C" fn add(to: *mut c_void, key: *const c_char, kl: usize, value: *const c_char, vl: usize) {
        // SAFETY: `to` is the vector below; the strings are valid during the call, NULL means no value.
        unsafe {
            let pairs = &mut *to.cast::<Vec<(Vec<u8>, Option<Vec<u8>>)>>();
            pairs.push((bytes(key, kl).to_vec(), (!value.is_null()).then(|| bytes(value, vl).to_vec())));
        }
    }
    let mut changes = EnvChanges::default();
    // SAFETY: `add` gets back the pointer that it expects.
    changes.is_whole = unsafe { sys::cml_env_changes(add, (&raw mut changes.pairs).cast()) } != 0;
    changes
}

/// Sets a name in a tied `%ENV` that was accessed; `None` removes it.
pub fn env_follow(key: &[u8], value: Option<&[u8]>) {
    let (text, length) = value.map_or((std::ptr::null(), 0), |value| (value.as_ptr().cast(), value.len()));
    // SAFETY: pairs of pointer and length, copied; NULL is no value. It runs no Perl code.
    unsafe { sys::cml_env_follow(key.as_ptr().cast(), key.len(), text, length) }
}

/// Removes a name from the request's `%ENV`, if that was accessed.
pub fn env_forget(key: &[u8]) {
    // SAFETY: a pair of pointer and length; runs no Perl code.
    unsafe { sys::cml_env_forget(key.as_ptr().cast(), key.len()) }
}

/// Sets the title that `ps` shows, cut to the room of the original arguments.
pub fn set_title(title: &str) {
    let title = CString::new(title).unwrap_or_default();
    // SAFETY: a terminated string, copied.
    unsafe { sys::cml_set_title(title.as_ptr()) }
}
