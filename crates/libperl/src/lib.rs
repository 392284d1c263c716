//! A safe interface to libperl: one interpreter per process; `die` and `exit` are values; no unsafe code above
//! this crate.
//!
//! | Perl | here |
//! |---|---|
//! | `die` | [`Interrupted::Died`] with Perl's text, unchanged |
//! | `exit` | [`Interrupted::Exited`] |
//! | output for a client that has left | [`Interrupted::Unheard`] |
//! | a code reference | [`Code`], which gives its reference back on drop |
//! | `%ENV` of a request | [`Interpreter::env_begin`] |
//!
//! Functions that need no interpreter are in `process`: they concern the process.
//!
//! No method returns a pointer into Perl, and no Perl `longjmp` crosses a Rust frame: see `shim.h`.
#![allow(unsafe_code, reason = "this crate is the wall around libperl-sys")]

mod census;
mod left;
mod observe;
mod process;
mod spans;
mod statements;

use std::ffi::{CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

pub use census::{Census, Living};
pub use left::LeftState;
use libperl_sys as sys;
pub use libperl_sys::{GONE, HERE, Hooks, NOT_WANTED};
pub use observe::{
    FrameCode, MemoryReader, PerlActivity, PerlFrame, StackReader, activity, activity_address, activity_begins,
    activity_ends, activity_phase,
};
pub use process::{
    EnvChanges, deadline_signal, env_changes, env_follow, env_forget, env_put, env_tie, gave_up, has_children,
    is_forked_child, is_late, keep_from_children, may_have_children, next_fork_speaks, request_is, request_is_answered,
    request_is_in_time, set_title, timed_out,
};
pub use spans::{Owned, ValueSpan};
pub use statements::{Statement, statements, trace_statements};

/// Why a call into Perl did not return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interrupted {
    /// The code died; the text is unchanged.
    Died(String),
    /// The code called `exit` with this code.
    Exited(i32),
    /// The code was ended, because it continued to print after its client had disconnected.
    Unheard,
}

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Interrupted::Died(text) => f.write_str(text.trim_end()),
            Interrupted::Exited(code) => write!(f, "called exit({code})"),
            Interrupted::Unheard => f.write_str("continued to print after its client had disconnected"),
        }
    }
}

impl std::error::Error for Interrupted {}

/// The result of a call into Perl.
pub type Result<T = ()> = std::result::Result<T, Interrupted>;

/// A code reference or a PSGI application; for a method, also the class that it is called on.
#[derive(Debug)]
pub struct Code {
    code: NonNull<c_void>,
    invocant: Option<NonNull<c_void>>,
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the shim has counted both references for this value, which releases each once.
        unsafe {
            sys::cml_release(self.code.as_ptr());
            if let Some(invocant) = self.invocant {
                sys::cml_release(invocant.as_ptr());
            }
        }
    }
}

/// Work that remains after a PSGI call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PsgiRun {
    /// `psgix.cleanup.handlers` is not empty: call [`Interpreter::psgi_cleanup`] after the response.
    pub needs_cleanup: bool,
    /// `psgix.harakiri.commit` is set.
    pub leave: bool,
}

/// The process's interpreter. Not `Send`: Perl belongs to the thread that made it. Perl code that one method
/// runs may call back into another (a handler that starts a subrequest), so methods take `&self`.
#[derive(Debug)]
pub struct Interpreter(PhantomData<*const ()>);

static BOOTED: AtomicBool = AtomicBool::new(false);

/// Registers XS packages (`newXS`) while the interpreter boots; gets the `PerlInterpreter *`.
pub type XsInit = unsafe extern "C" fn(*mut c_void);

impl Interpreter {
    /// Makes the interpreter; fails on a second call in the process.
    pub fn boot(hooks: &Hooks, xs_init: Option<XsInit>) -> std::result::Result<Interpreter, &'static str> {
        Self::boot_with(hooks, xs_init, false)
    }

    /// Like [`Interpreter::boot`], with taint mode (`-T`) when `taint` is true.
    pub fn boot_with(
        hooks: &Hooks,
        xs_init: Option<XsInit>,
        taint: bool,
    ) -> std::result::Result<Interpreter, &'static str> {
        if BOOTED.swap(true, Ordering::SeqCst) {
            return Err("this process already has a Perl interpreter");
        }
        // SAFETY: called once a process, on the thread that will use it; the hooks are copied.
        match unsafe { sys::cml_boot(hooks, xs_init, c_int::from(taint)) } {
            0 => Ok(Interpreter(PhantomData)),
            _ => Err("libperl could not be started"),
        }
    }

    /// `5.36.0`
    pub fn version(&self) -> String {
        let mut out = sys::Bytes { bytes: std::ptr::null(), length: 0 };
        // SAFETY: fills `out` with a static string.
        unsafe { sys::cml_version(&mut out) };
        text(out)
    }

    /// Prepares a process that has loaded its code, and from now on only forks.
    pub fn before_forks(&self) {
        // SAFETY: no Perl code runs now.
        unsafe { sys::cml_before_forks() }
    }

    /// Prepares a worker that is about to fork the next mold, or a mold that has answered requests.
    pub fn before_promotion(&self) {
        // SAFETY: no Perl code runs now.
        unsafe { sys::cml_before_promotion() }
    }

    /// Makes the fork of a worker a mold, which answers no requests.
    pub fn is_promoted(&self) {
        // SAFETY: no Perl code runs now; the descriptors that it closes are the shim's own.
        unsafe { sys::cml_is_promoted() }
        crate::keep_from_children(std::iter::empty());
    }

    /// Must be called once in each forked worker, before its first request.
    pub fn after_fork(&self) {
        // SAFETY: no Perl code runs now.
        unsafe { sys::cml_after_fork() }
    }

    /// Runs a script in a child that runs no other code: calls the sub `run` with bytes, as perl runs a file, then the
    /// sub `end`, END blocks and destructors. Returns the exit status.
    pub fn run_as_program(&self, run: &'static std::ffi::CStr, bytes: &[u8], end: &'static std::ffi::CStr) -> i32 {
        // SAFETY: the names are terminated, the bytes are pointer and length; die and exit return to the shim.
        let status = unsafe {
            sys::cml_is_request_child();
            let status = sys::cml_call_as_program(run.as_ptr(), bytes.as_ptr().cast(), bytes.len());
            sys::cml_call_as_program(end.as_ptr(), std::ptr::null(), 0);
            status
        };
        self.end(false);
        self.end_as_process();
        status
    }

    /// Stores the current state, to which [`Interpreter::restore_state`] returns after each request.
    pub fn remember_state(&self) {
        // SAFETY: no Perl code runs now.
        unsafe { sys::cml_remember_state() }
    }

    /// Runs END blocks at the end of a process. With `destruct`, also destroys every object, which un-shares
    /// memory just to free it.
    pub fn end(&self, destruct: bool) {
        self.end_of(if destruct { sys::END_ALL } else { sys::END_BLOCKS });
    }

    /// Ends the interpreter as perl ends a process: objects are destroyed, memory is left to the kernel.
    pub fn end_as_process(&self) {
        self.end_of(sys::END_PROCESS);
    }

    /// Runs END blocks; ends the process when they take longer than 3 s.
    pub fn end_soon(&self) {
        self.end_of(sys::END_BLOCKS_SOON);
    }

    /// Destroys the objects that this process has made since its fork; ends the process when that takes longer
    /// than 3 s.
    pub fn end_objects(&self) {
        self.end_of(sys::END_OBJECTS);
    }

    fn end_of(&self, what: c_int) {
        // SAFETY: Perl code is guarded; after perl's own end the caller ends the process.
        unsafe { sys::cml_end(what) }
    }

    /// Runs `code`; messages name `file` and `line`.
    pub fn eval(&self, code: &str, file: &str, line: u32) -> Result {
        let file = CString::new(file.replace(['\0', '"', '\n'], "?")).unwrap_or_default();
        // SAFETY: pointer and length of one string; the file name is terminated.
        done(unsafe { sys::cml_eval(code.as_ptr().cast(), code.len(), file.as_ptr(), line) })
    }

    /// `require "file"`
    pub fn require(&self, file: &str) -> Result {
        // SAFETY: pointer and length of one string.
        done(unsafe { sys::cml_require(file.as_ptr().cast(), file.len()) })
    }

    /// `require Module`
    pub fn require_module(&self, name: &str) -> Result {
        // SAFETY: pointer and length of one string.
        done(unsafe { sys::cml_require_module(name.as_ptr().cast(), name.len()) })
    }

    /// Calls the named sub, with one string if there is an argument.
    pub fn call(&self, sub: &'static std::ffi::CStr, argument: Option<&str>) -> Result {
        let (pointer, length) = argument.map_or((std::ptr::null(), 0), |a| (a.as_ptr().cast(), a.len()));
        // SAFETY: `sub` is terminated; null means no argument.
        done(unsafe { sys::cml_call_name(sub.as_ptr(), pointer, length) })
    }

    /// Calls the named sub with bytes while perl may be in the middle of another operation.
    pub fn call_aside(&self, sub: &'static std::ffi::CStr, bytes: &[u8]) -> Result {
        // SAFETY: `sub` is terminated, the bytes are pointer and length.
        done(unsafe { sys::cml_call_aside(sub.as_ptr(), bytes.as_ptr().cast(), bytes.len()) })
    }

    /// Calls the named sub with one string; returns its result as text.
    pub fn call_for_text(&self, sub: &'static std::ffi::CStr, argument: &str) -> Result<String> {
        let mut out = sys::Bytes { bytes: std::ptr::null(), length: 0 };
        // SAFETY: `sub` is terminated, the argument is pointer and length; `out` is filled, and copied before the next
        // call into Perl.
        done(unsafe { sys::cml_ask_name(sub.as_ptr(), argument.as_ptr().cast(), argument.len(), &mut out) })?;
        Ok(text(out))
    }

    /// Resolves a handler's name: `Package`, `Package::sub`, `Class->method` or `sub {…}`.
    pub fn resolve_handler(&self, name: &str) -> Result<Code> {
        let (mut code, mut invocant) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: both results are owned by us afterwards.
        let status = unsafe { sys::cml_resolve_handler(name.as_ptr().cast(), name.len(), &mut code, &mut invocant) };
        done(status)?;
        own(code, invocant)
    }

    /// Calls a handler with the `$r` of that request. Returns its numeric result; 0 if it has none.
    pub fn call_handler(&self, handler: &Code, request: u64) -> Result<i32> {
        let mut result = 0;
        let invocant = handler.invocant.map_or(std::ptr::null_mut(), NonNull::as_ptr);
        // SAFETY: both pointers are live references held by `handler`.
        let status = unsafe { sys::cml_call_handler(handler.code.as_ptr(), invocant, request, &mut result) };
        done(status).map(|()| result)
    }

    /// Loads a PSGI application from a file, or from code.
    pub fn load_psgi(&self, source: &str, is_file: bool) -> Result<Code> {
        let mut app = std::ptr::null_mut();
        // SAFETY: pointer and length of one string; the result is owned by us.
        let status =
            unsafe { sys::cml_load_psgi(source.as_ptr().cast(), source.len(), c_int::from(is_file), &mut app) };
        done(status)?;
        own(app, std::ptr::null_mut())
    }

    /// Applies the start-up code's `$|` of STDOUT to each request.
    pub fn keep_autoflush(&self) {
        sys::cml_keep_autoflush()
    }

    /// The class of the `$r` that handlers get.
    pub fn request_class_is(&self, name: &'static std::ffi::CStr) {
        // SAFETY: `name` is terminated; no Perl code runs now.
        unsafe { sys::cml_request_class(name.as_ptr()) }
    }

    /// Begins the environment of a PSGI call, with the constant `psgi.*` entries.
    pub fn psgi_begin(&self, https: bool, entries: usize) {
        // SAFETY: plain numbers.
        unsafe { sys::cml_psgi_begin(c_int::from(https), entries as c_int) }
    }

    /// Adds a pair to the environment of a PSGI call.
    pub fn psgi_put(&self, key: &[u8], value: &[u8]) {
        // SAFETY: two pairs of pointer and length; Perl copies both.
        unsafe { sys::cml_psgi_put(key.as_ptr().cast(), key.len(), value.as_ptr().cast(), value.len()) }
    }

    /// Calls the application; its response goes through the hooks.
    pub fn psgi_run(&self, app: &Code) -> (Result, PsgiRun) {
        let (mut needs_cleanup, mut leave) = (0, 0);
        // SAFETY: a live reference; psgi_begin was called by contract of the worker.
        let status = unsafe { sys::cml_psgi_run(app.code.as_ptr(), &mut needs_cleanup, &mut leave) };
        (done(status), PsgiRun { needs_cleanup: needs_cleanup != 0, leave: leave != 0 })
    }

    /// Runs the cleanup handlers; returns whether one of them set `psgix.harakiri.commit`.
    pub fn psgi_cleanup(&self) -> (Result, bool) {
        let mut leave = 0;
        // SAFETY: `psgi_run` has returned that cleanup handlers exist.
        let status = unsafe { sys::cml_psgi_cleanup(&mut leave) };
        (done(status), leave != 0)
    }

    /// Makes `body`, or an empty file, descriptor 0 and STDIN.
    pub fn set_stdin(&self, body: Option<OwnedFd>) -> std::io::Result<()> {
        let fd = body.map_or(-1, IntoRawFd::into_raw_fd);
        // SAFETY: the descriptor's ownership passes to the shim.
        match unsafe { sys::cml_stdin_is(fd) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }

    /// Adds the output buffered in STDOUT's layers, and the output of children on descriptor 1, to the response.
    pub fn drain_output(&self) {
        // SAFETY: layers in Perl run guarded; the rest reads a descriptor and calls a hook.
        unsafe {
            sys::cml_flush_stdout();
            sys::cml_drain_fd1();
        }
    }

    /// Sets whether output to STDOUT goes to the log instead of the response; returns the previous setting.
    pub fn stdout_is_log(&self, is_log: bool) -> bool {
        // SAFETY: sets a flag; layers in Perl run guarded, and output of children goes to a hook.
        unsafe { sys::cml_stdout_is_log(is_log.into()) != 0 }
    }

    /// Makes the current descriptor 2 the error log, to which STDERR returns after a script that reopened it.
    pub fn stderr_is_log(&self) {
        // SAFETY: duplicates a descriptor.
        unsafe { sys::cml_stderr_is_log() }
    }

    /// Begins a request's `%ENV`. On the first access the hook `environment` fills it by [`env_put`].
    /// [`Interpreter::restore_state`] ends it.
    pub fn env_begin(&self) {
        // SAFETY: swaps one hash for another.
        unsafe { sys::cml_env_begin() }
    }

    /// Gives a request inside the current one its own `%ENV`, until [`Interpreter::env_leave`].
    pub fn env_enter(&self) {
        // SAFETY: puts one hash aside for another.
        unsafe { sys::cml_env_enter() }
    }

    /// Returns to the `%ENV` before [`Interpreter::env_enter`].
    pub fn env_leave(&self) {
        // SAFETY: puts the hash back; does nothing when none was put aside.
        unsafe { sys::cml_env_leave() }
    }

    /// Has the hook `environment` fill `%ENV` again, if `%ENV` was accessed.
    pub fn env_refresh(&self) {
        // SAFETY: the hook gets the hash of the last call.
        unsafe { sys::cml_env_refresh() }
    }

    /// `%ENV` of the start-up code.
    pub fn env_base(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        unsafe extern "C" fn add(to: *mut c_void, key: *const c_char, kl: usize, value: *const c_char, vl: usize) {
            // SAFETY: `to` is the vector below; the strings are valid during the call.
            unsafe {
                let pairs = &mut *to.cast::<Vec<(Vec<u8>, Vec<u8>)>>();
                pairs.push((bytes(key, kl).to_vec(), bytes(value, vl).to_vec()));
            }
        }
        let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        // SAFETY: `add` gets back the pointer that it expects.
        unsafe { sys::cml_env_base(add, (&raw mut pairs).cast()) };
        pairs
    }

    /// The reason why this process must not take another request, for the log.
    pub fn must_leave(&self) -> Option<&'static str> {
        match sys::cml_must_leave() {
            sys::NO_DESCRIPTORS => {
                Some("nearly all descriptors are in use: the program opens files or sockets without closing them")
            }
            sys::OTHER_USER => Some("its user or groups were changed ($<, $>, $( or $))"),
            sys::OTHER_ROOT => Some("chroot was called"),
            sys::OTHER_LIMITS => Some("a resource limit was changed (setrlimit, prlimit)"),
            sys::OTHER_NAMESPACE => Some("a namespace was changed (unshare, setns)"),
            sys::OTHER_RIGHTS => Some("its capabilities, seccomp rules or no_new_privs were changed"),
            sys::NO_HOME => Some(
                "its working directory cannot be restored: the directory in which it started is no longer accessible",
            ),
            sys::OTHER_PRIORITY => Some("its priority was changed (nice, setpriority)"),
            _ => None,
        }
    }

    /// Restores the state that the request changed; returns the changes.
    pub fn restore_state(&self) -> LeftState {
        // SAFETY: runs no request's code except destructors, which are guarded.
        LeftState(unsafe { sys::cml_restore_state() })
    }
}

/// # Safety
/// `pointer` has `length` readable bytes, or is null with length 0.
unsafe fn bytes<'a>(pointer: *const c_char, length: usize) -> &'a [u8] {
    if pointer.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(pointer.cast(), length) }
}

fn text(from: sys::Bytes) -> String {
    // SAFETY: the shim filled both fields.
    String::from_utf8_lossy(unsafe { bytes(from.bytes, from.length) }).into_owned()
}

fn own<T>(code: *mut T, invocant: *mut T) -> Result<Code> {
    let code =
        NonNull::new(code.cast()).ok_or_else(|| Interrupted::Died("no code found for the handler's name".into()))?;
    Ok(Code { code, invocant: NonNull::new(invocant.cast()) })
}

fn done(status: sys::RawStatus) -> Result {
    match status {
        sys::OK => Ok(()),
        sys::EXITED => Err(Interrupted::Exited(sys::cml_exit_code())),
        sys::UNHEARD => Err(Interrupted::Unheard),
        _ => {
            let mut out = sys::Bytes { bytes: std::ptr::null(), length: 0 };
            // SAFETY: fills `out`; copied before the next call into Perl.
            unsafe { sys::cml_error(&mut out) };
            Err(Interrupted::Died(text(out)))
        }
    }
}
