//! The process that perl lives in: its current request, its children, its title.

use std::ffi::{CString, c_char, c_void};
use std::os::fd::{AsRawFd, BorrowedFd};

use libperl_sys as sys;

use crate::bytes;

/// `signal`, when its value is the number of the current request, makes that die; see `deadline.c`.
pub fn deadline_signal(signal: i32) {
    // SAFETY: installs a handler that is async-signal-safe, after the interpreter was made.
    unsafe { sys::cml_deadline_signal(signal) }
}

/// From now on this request is meant; 0 is none.
pub fn request_is(number: u64) {
    // SAFETY: writes two words that only this thread and its signal handler know.
    unsafe { sys::cml_request_is(number) }
}

/// The current request was given more time: that it was too slow is forgotten.
pub fn request_is_in_time() {
    // SAFETY: writes one such word.
    unsafe { sys::cml_request_is_in_time() }
}

/// What the current request does from now on stands behind its answer, and has its time for itself.
pub fn request_is_answered() {
    // SAFETY: writes two such words.
    unsafe { sys::cml_request_is_answered() }
}

/// Whether the current request has died because it took too long.
pub fn timed_out() -> bool {
    // SAFETY: reads one such word.
    unsafe { sys::cml_timed_out() != 0 }
}

/// Whether the current request takes too long. Who asks waits for something that is not Perl, and has the request end.
pub fn is_late() -> bool {
    // SAFETY: reads and writes one such word.
    unsafe { sys::cml_is_late() != 0 }
}

/// Whether this process is a child that Perl code forked off a worker. Such a one never speaks for the worker.
pub fn is_forked_child() -> bool {
    // SAFETY: reads a flag.
    unsafe { sys::cml_is_forked_child() != 0 }
}

/// Whether perl itself has ended a call, for lack of memory. Such a process should not take another.
pub fn gave_up() -> bool {
    // SAFETY: reads a flag.
    unsafe { sys::cml_gave_up() != 0 }
}

/// Whether the child of the next fork goes on as this process, with its way to the front.
pub fn next_fork_speaks(speaks: bool) {
    // SAFETY: writes a flag that the handlers of fork read.
    unsafe { sys::cml_next_fork_speaks(i32::from(speaks)) }
}

/// Closes `fds`, and no others that were named before, in every child that Perl code forks: nobody but the worker speaks to
/// the front. Not more than 64.
pub fn keep_from_children<'a>(fds: impl Iterator<Item = BorrowedFd<'a>>) {
    let fds: Vec<_> = fds.map(|fd| fd.as_raw_fd()).collect();
    // SAFETY: a pair of pointer and length; the numbers are copied. They are closed in forked children only, which have a
    // table of their own.
    unsafe { sys::cml_keep_from_children(fds.as_ptr(), fds.len()) }
}

/// Whether children may be there that nobody has waited for: somebody has forked, or C code is loaded that could do so in
/// its own way. While the worker is busy the latter is suspected now and then only.
pub fn may_have_children(is_busy: bool) -> bool {
    // SAFETY: reads a flag, and how many objects perl's loader has noted.
    unsafe { sys::cml_may_have_children(i32::from(is_busy)) != 0 }
}

/// Whether this process has unreaped children, and how others ended: pairs of a process and its status, for `waitpid` in Perl code.
pub fn has_children(has: bool, ended: &[[i32; 2]]) {
    // SAFETY: writes a flag, and copies as many pairs as there are.
    unsafe { sys::cml_has_children(i32::from(has), ended.as_ptr(), ended.len()) }
}

/// Adds a pair to the request's `%ENV`; only for the hook `environment`.
pub fn env_put(key: &[u8], value: &[u8]) {
    // SAFETY: two pairs of pointer and length; Perl copies both. The hook runs on Perl's thread, inside a request.
    unsafe { sys::cml_env_put(key.as_ptr().cast(), key.len(), value.as_ptr().cast(), value.len()) }
}

/// From now on [`env_changes`] tells what Perl code changes in the request's `%ENV`, until the request ends.
pub fn env_tie() {
    // SAFETY: makes a hash, on Perl's thread.
    unsafe { sys::cml_env_tie() }
}

/// What Perl code has changed in an `%ENV` that [`env_tie`] has tied.
#[derive(Debug, Default)]
pub struct EnvChanges {
    /// These are all of it: what else there was is gone.
    pub is_whole: bool,
    /// Names and their values; without one, a name is gone.
    pub pairs: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// What has changed since the last question. Runs no Perl code.
pub fn env_changes() -> EnvChanges {
    unsafe extern "C" fn add(to: *mut c_void, key: *const c_char, kl: usize, value: *const c_char, vl: usize) {
        // SAFETY: `to` is the vector below; the strings are valid during the call, and one that is NULL is none.
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

/// A tied `%ENV` that somebody has looked at shows what became of a name elsewhere.
pub fn env_follow(key: &[u8], value: Option<&[u8]>) {
    let (text, length) = value.map_or((std::ptr::null(), 0), |value| (value.as_ptr().cast(), value.len()));
    // SAFETY: pairs of pointer and length, copied; NULL is no value. It runs no Perl code.
    unsafe { sys::cml_env_follow(key.as_ptr().cast(), key.len(), text, length) }
}

/// Takes a name out of the request's `%ENV`, if somebody has looked at that.
pub fn env_forget(key: &[u8]) {
    // SAFETY: a pair of pointer and length; runs no Perl code.
    unsafe { sys::cml_env_forget(key.as_ptr().cast(), key.len()) }
}

/// What `ps` shows, cut to the room that the process began with.
pub fn set_title(title: &str) {
    let title = CString::new(title).unwrap_or_default();
    // SAFETY: a terminated string, copied.
    unsafe { sys::cml_set_title(title.as_ptr()) }
}
