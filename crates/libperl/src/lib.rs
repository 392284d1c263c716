//! libperl as Rust wants it: one interpreter a process; `die` and `exit` are values; unsafe ends here.
//!
//! | Perl | here |
//! |---|---|
//! | `die` | [`Interrupted::Died`] with Perl's text, unchanged |
//! | `exit` | [`Interrupted::Exited`] |
//! | a code reference | [`Code`], which gives its reference back on drop |
//! | `%ENV` of a request | [`Interpreter::env_begin`] |
//!
//! What is asked without an interpreter at hand stands in `process`: it belongs to the process.
//!
//! No method hands out a pointer into Perl, and no Perl `longjmp` passes a Rust frame: see `shim.h`.
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
pub use left::Left;
use libperl_sys as sys;
pub use libperl_sys::Hooks;
pub use observe::{
    Activity, Frame, FrameCode, Memory, StackReader, activity, activity_address, activity_begins, activity_ends,
    activity_phase,
};
pub use process::{
    EnvChanges, deadline_signal, env_changes, env_follow, env_forget, env_put, env_tie, gave_up, has_children,
    is_forked_child, is_late, keep_from_children, may_have_children, next_fork_speaks, request_is, request_is_answered,
    request_is_in_time, set_title, timed_out,
};
pub use spans::{Owned, Span};
pub use statements::{Statement, statements, trace_statements};

/// Why a call into Perl did not return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interrupted {
    /// `die`: the text, unchanged.
    Died(String),
    /// `exit`: the code.
    Exited(i32),
}

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Interrupted::Died(text) => f.write_str(text.trim_end()),
            Interrupted::Exited(code) => write!(f, "called exit({code})"),
        }
    }
}

impl std::error::Error for Interrupted {}

/// What a call into Perl gives.
pub type Result<T = ()> = std::result::Result<T, Interrupted>;

/// A code reference (or a PSGI application), with the class it is called on when it is a method.
#[derive(Debug)]
pub struct Code {
    code: NonNull<c_void>,
    invocant: Option<NonNull<c_void>>,
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: both are references that the shim counted for us, given back once.
        unsafe {
            sys::cml_release(self.code.as_ptr());
            if let Some(invocant) = self.invocant {
                sys::cml_release(invocant.as_ptr());
            }
        }
    }
}

/// What a PSGI call leaves to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PsgiRun {
    /// `psgix.cleanup.handlers` is not empty: call [`Interpreter::psgi_cleanup`] after the response.
    pub needs_cleanup: bool,
    /// `psgix.harakiri.commit` is set.
    pub leave: bool,
}

/// The process's interpreter. Not `Send`: Perl belongs to the thread that made it. Perl code that one method runs may
/// come back into another (a handler that starts a subrequest), so none takes it exclusively.
#[derive(Debug)]
pub struct Interpreter(PhantomData<*const ()>);

static BOOTED: AtomicBool = AtomicBool::new(false);

/// Registers XS packages (`newXS`) while the interpreter is being made; gets the `PerlInterpreter *`.
pub type XsInit = unsafe extern "C" fn(*mut c_void);

impl Interpreter {
    /// Makes the interpreter; a second call in one process is refused.
    pub fn boot(hooks: &Hooks, xs_init: Option<XsInit>) -> std::result::Result<Interpreter, &'static str> {
        Self::boot_with(hooks, xs_init, false)
    }

    /// The same with `-T` when `taint` is true.
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

    /// To be called in a process that has loaded what it will, and from now on only forks.
    pub fn before_forks(&self) {
        // SAFETY: no Perl code runs now.
        unsafe { sys::cml_before_forks() }
    }

    /// To be called in a worker that forks the next mold, and in a mold that has answered requests.
    pub fn before_promotion(&self) {
        // SAFETY: no Perl code runs now.
        unsafe { sys::cml_before_promotion() }
    }

    /// To be called in that fork, and in that mold: it answers nothing from now on.
    pub fn is_promoted(&self) {
        // SAFETY: no Perl code runs now; the descriptors that it closes are the shim's own.
        unsafe { sys::cml_is_promoted() }
        crate::keep_from_children(std::iter::empty());
    }

    /// To be called once in every forked worker, before its first request.
    pub fn after_fork(&self) {
        // SAFETY: no Perl code runs now.
        unsafe { sys::cml_after_fork() }
    }

    /// In a child that does nothing but to run one script of the request: calls the named sub with bytes, as perl runs a
    /// file, then the sub for the end, END blocks and destructors. Returns the exit status.
    pub fn run_as_program(&self, run: &'static std::ffi::CStr, bytes: &[u8], end: &'static std::ffi::CStr) -> i32 {
        // SAFETY: the names are terminated, the bytes are pointer and length; what dies or exits comes back to the shim.
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

    /// What every request starts from, and [`Interpreter::restore_state`] returns to, is as it is now.
    pub fn remember_state(&self) {
        // SAFETY: no Perl code runs now.
        unsafe { sys::cml_remember_state() }
    }

    /// Runs END blocks, last thing in a process; `destruct` also destroys every object, which un-shares memory just to
    /// free it.
    pub fn end(&self, destruct: bool) {
        self.end_of(if destruct { sys::END_ALL } else { sys::END_BLOCKS });
    }

    /// The same as perl does it at the end of a process: objects end, memory is left to the kernel.
    pub fn end_as_process(&self) {
        self.end_of(sys::END_PROCESS);
    }

    /// Runs END blocks, and ends the process when they take longer than 3 s.
    pub fn end_soon(&self) {
        self.end_of(sys::END_BLOCKS_SOON);
    }

    /// Destroys the objects that this process has made, not those from before its fork; ends the process when that takes longer
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

    /// Calls the named sub with one string, or with nothing.
    pub fn call(&self, sub: &'static std::ffi::CStr, argument: Option<&str>) -> Result {
        let (pointer, length) = argument.map_or((std::ptr::null(), 0), |a| (a.as_ptr().cast(), a.len()));
        // SAFETY: `sub` is terminated; null means no argument.
        done(unsafe { sys::cml_call_name(sub.as_ptr(), pointer, length) })
    }

    /// Calls the named sub with bytes, in the middle of whatever perl does.
    pub fn call_aside(&self, sub: &'static std::ffi::CStr, bytes: &[u8]) -> Result {
        // SAFETY: `sub` is terminated, the bytes are pointer and length.
        done(unsafe { sys::cml_call_aside(sub.as_ptr(), bytes.as_ptr().cast(), bytes.len()) })
    }

    /// Calls the named sub with one string; what it returns, as text.
    pub fn ask(&self, sub: &'static std::ffi::CStr, argument: &str) -> Result<String> {
        let mut out = sys::Bytes { bytes: std::ptr::null(), length: 0 };
        // SAFETY: `sub` is terminated, the argument is pointer and length; `out` is filled, and copied before the next
        // call into Perl.
        done(unsafe { sys::cml_ask_name(sub.as_ptr(), argument.as_ptr().cast(), argument.len(), &mut out) })?;
        Ok(text(out))
    }

    /// The code that a handler's name means: `Package`, `Package::sub`, `Class->method` or `sub {…}`.
    pub fn resolve_handler(&self, name: &str) -> Result<Code> {
        let (mut code, mut invocant) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: both results are owned by us afterwards.
        let status = unsafe { sys::cml_resolve_handler(name.as_ptr().cast(), name.len(), &mut code, &mut invocant) };
        done(status)?;
        own(code, invocant)
    }

    /// Calls a handler with `$r` of that request; its numeric result (nothing: 0).
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

    /// `$|` of STDOUT stays in each request what start-up code made of it.
    pub fn keep_autoflush(&self) {
        // SAFETY: sets a flag.
        unsafe { sys::cml_keep_autoflush() }
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

    /// Adds a pair to it.
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

    /// Runs the cleanup handlers; true when one of them committed harakiri.
    pub fn psgi_cleanup(&self) -> (Result, bool) {
        let mut leave = 0;
        // SAFETY: psgi_run said that there is something to clean.
        let status = unsafe { sys::cml_psgi_cleanup(&mut leave) };
        (done(status), leave != 0)
    }

    /// Descriptor 0 and STDIN become `body`, or empty.
    pub fn set_stdin(&self, body: Option<OwnedFd>) -> std::io::Result<()> {
        let fd = body.map_or(-1, IntoRawFd::into_raw_fd);
        // SAFETY: the descriptor's ownership passes to the shim.
        match unsafe { sys::cml_stdin_is(fd) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }

    /// What STDOUT's layers still hold and what children wrote to descriptor 1 joins the response.
    pub fn drain_output(&self) {
        // SAFETY: layers in Perl run guarded; the rest reads a descriptor and calls a hook.
        unsafe {
            sys::cml_flush_stdout();
            sys::cml_drain_fd1();
        }
    }

    /// Whether what is printed to STDOUT goes into the log instead of the answer; returns how it was.
    pub fn stdout_is_log(&self, is_log: bool) -> bool {
        // SAFETY: sets a flag; layers in Perl run guarded, and what children have printed goes to a hook.
        unsafe { sys::cml_stdout_is_log(is_log.into()) != 0 }
    }

    /// Descriptor 2 is a new error log: the one to return to after a script that opened STDERR elsewhere.
    pub fn stderr_is_log(&self) {
        // SAFETY: duplicates a descriptor.
        unsafe { sys::cml_stderr_is_log() }
    }

    /// Begins `%ENV` of a request: when somebody looks at it, the hook `environment` fills it by [`env_put`]. It ends
    /// with [`Interpreter::restore_state`].
    pub fn env_begin(&self) {
        // SAFETY: swaps one hash for another.
        unsafe { sys::cml_env_begin() }
    }

    /// A request inside the current one has an `%ENV` of its own, until [`Interpreter::env_leave`].
    pub fn env_enter(&self) {
        // SAFETY: puts one hash aside for another.
        unsafe { sys::cml_env_enter() }
    }

    /// See [`Interpreter::env_enter`].
    pub fn env_leave(&self) {
        // SAFETY: puts the hash back; without one that was put aside it does nothing.
        unsafe { sys::cml_env_leave() }
    }

    /// The hook `environment` fills `%ENV` once more, if somebody has looked at it.
    pub fn env_refresh(&self) {
        // SAFETY: the hook gets the hash that it got before.
        unsafe { sys::cml_env_refresh() }
    }

    /// `%ENV` as the start-up code left it.
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

    /// Why this process must not take another request, for the log.
    pub fn must_leave(&self) -> Option<&'static str> {
        // SAFETY: looks at the process, and at what C code of ours has noted.
        match unsafe { sys::cml_must_leave() } {
            sys::NO_DESCRIPTORS => {
                Some("nearly all descriptors are open: files or sockets are opened and never closed")
            }
            sys::OTHER_USER => Some("its user or groups are others now: $<, $>, $( or $) was set"),
            sys::OTHER_ROOT => Some("chroot was called"),
            sys::OTHER_LIMITS => Some("a resource limit is another now (setrlimit, prlimit)"),
            sys::OTHER_NAMESPACE => Some("a namespace is another now (unshare, setns)"),
            sys::OTHER_RIGHTS => Some("its capabilities, seccomp rules or no_new_privs are others now"),
            sys::OTHER_PRIORITY => Some("its priority is another now (nice, setpriority)"),
            _ => None,
        }
    }

    /// Puts back what the request changed; says by name what that was.
    pub fn restore_state(&self) -> Left {
        // SAFETY: runs no request's code except destructors, which are guarded.
        Left(unsafe { sys::cml_restore_state() })
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
    let code = NonNull::new(code.cast()).ok_or_else(|| Interrupted::Died("no code there".into()))?;
    Ok(Code { code, invocant: NonNull::new(invocant.cast()) })
}

fn done(status: sys::Status) -> Result {
    match status {
        sys::OK => Ok(()),
        // SAFETY: reads a number.
        sys::EXITED => Err(Interrupted::Exited(unsafe { sys::cml_exit_code() })),
        _ => {
            let mut out = sys::Bytes { bytes: std::ptr::null(), length: 0 };
            // SAFETY: fills `out`; copied before the next call into Perl.
            unsafe { sys::cml_error(&mut out) };
            Err(Interrupted::Died(text(out)))
        }
    }
}
