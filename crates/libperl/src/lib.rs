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
//!
//! Start at [`Interpreter`]: [`Interpreter::boot`], then [`Interpreter::call_handler`].
#![allow(unsafe_code, reason = "this crate is the wall around libperl-sys")]

mod calls;
mod census;
mod environment;
mod handles;
mod left;
mod life;
mod observe;
mod process;
mod psgi;
mod spans;
mod statements;

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

pub use census::{Census, Living};
pub use environment::{EnvChanges, env_changes, env_follow, env_forget, env_put, env_tie};
pub use left::LeftState;
use libperl_sys as sys;
pub use libperl_sys::{GONE, HERE, Hooks, NOT_WANTED, PERL};
pub use observe::{
    FrameCode, MemoryReader, PerlActivity, PerlFrame, StackReader, activity, activity_address, activity_begins,
    activity_ends, activity_phase,
};
pub use process::{
    deadline_signal, gave_up, has_children, is_forked_child, is_late, keep_from_children, loop_socket,
    may_have_children, next_fork_speaks, request_is, request_is_answered, request_is_in_time, set_title, timed_out,
};
pub use psgi::PsgiRun;
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
            Interrupted::Exited(code) => write!(f, "the code called exit({code})"),
            Interrupted::Unheard => f.write_str("the code continued to print after its client had disconnected"),
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
