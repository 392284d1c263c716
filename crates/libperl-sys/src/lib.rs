//! The C interface of the shim: the declarations of `shim.h`.
//!
//! Start at `boot.c` and `guard.c`; docs/architecture.md has a row for each C file.
#![allow(unsafe_code, reason = "raw declarations; the safe layer is the crate `libperl`")]

use std::ffi::{c_char, c_int, c_uint, c_void};

/// Version and architecture of the perl whose headers and library were built in: `5.36.0 (x86_64-linux-gnu)`.
pub const PERL: &str = env!("CAMELEER_PERL");

/// `cml_status`
pub type RawStatus = c_int;
/// The call returned normally.
pub const OK: RawStatus = 0;
/// The code died; [`cml_error`] has the text.
pub const DIED: RawStatus = 1;
/// The code called `exit`.
pub const EXITED: RawStatus = 2;
/// The code was ended, because it continued to print after its client had left.
pub const UNHEARD: RawStatus = 3;

/// `cml_audience`: the client waits for the response.
pub const HERE: c_int = 0;
/// The rest of the response is dropped, but the client is connected.
pub const NOT_WANTED: c_int = 1;
/// The client has disconnected.
pub const GONE: c_int = 2;

/// `cml_reason`: nearly all descriptors are open.
pub const NO_DESCRIPTORS: c_int = 1;

/// `cml_reason`: a worker of root has changed its user or groups.
pub const OTHER_USER: c_int = 2;
/// `cml_reason`: chroot was called.
pub const OTHER_ROOT: c_int = 3;
/// `cml_reason`: a resource limit was changed.
pub const OTHER_LIMITS: c_int = 4;
/// `cml_reason`: the process is in another namespace.
pub const OTHER_NAMESPACE: c_int = 5;
/// `cml_reason`: capabilities, seccomp rules or no_new_privs were changed.
pub const OTHER_RIGHTS: c_int = 6;
/// `cml_reason`: the priority was changed.
pub const OTHER_PRIORITY: c_int = 7;
/// `cml_reason`: the working directory of its birth cannot be entered any more.
pub const NO_HOME: c_int = 8;

/// `cml_ending`: run END blocks.
pub const END_BLOCKS: c_int = 0;
/// `cml_ending`: end as a perl process ends.
pub const END_PROCESS: c_int = 1;
/// `cml_ending`: end as a perl process ends, and free all memory.
pub const END_ALL: c_int = 2;
/// `cml_ending`: destroy the objects that the process has made, within 3 s.
pub const END_OBJECTS: c_int = 3;
/// `cml_ending`: run END blocks, within 3 s.
pub const END_BLOCKS_SOON: c_int = 4;

/// Bytes that are valid until the next call into Perl.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// Start of the bytes; not terminated.
    pub bytes: *const c_char,
    /// If 0, nothing may be read at `bytes`.
    pub length: usize,
}

/// Receivers of output; called with Perl on the stack.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "documented in shim.h")]
pub struct Hooks {
    pub write: unsafe extern "C" fn(*const c_char, usize) -> c_int,
    pub flush: unsafe extern "C" fn() -> c_int,
    pub log: unsafe extern "C" fn(*const c_char, usize),
    pub head: unsafe extern "C" fn(c_int),
    pub header: unsafe extern "C" fn(*const c_char, usize, *const c_char, usize),
    pub environment: unsafe extern "C" fn(),
    pub extend: unsafe extern "C" fn(f64),
}

/// `cml_spans`: receivers of memory ranges and of referenced values.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "documented in shim.h")]
pub struct Spans {
    pub to: *mut c_void,
    pub span: unsafe extern "C" fn(to: *mut c_void, start: *const c_void, length: usize),
    pub child: unsafe extern "C" fn(to: *mut c_void, value: *const c_void),
}

/// `cml_names`: callbacks that receive names.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "documented in shim.h")]
pub struct Names {
    pub to: *mut c_void,
    pub within: unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize),
    pub name: unsafe extern "C" fn(*mut c_void, *const c_void, c_char, Naming, Bytes),
}

/// `cml_naming`
pub type Naming = c_int;

/// `cml_memory`: the memory of another process.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "documented in shim.h")]
pub struct RawMemory {
    pub read: unsafe extern "C" fn(from: *mut c_void, address: usize, into: *mut c_void, length: usize) -> c_int,
    pub from: *mut c_void,
}

/// `cml_tell_statement`
pub type TellStatement = unsafe extern "C" fn(*mut c_void, *const c_char, u64, u64, Bytes);

/// `cml_activity`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "documented in shim.h")]
pub struct RawActivity {
    pub request: u64,
    pub received_us: u64,
    pub begun_us: u64,
    pub perl: usize,
    pub lengths: [u16; 4],
    pub phase: u16,
    pub texts: [u8; 438],
    pub again: u64,
}

/// `cml_frame`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "documented in shim.h")]
pub struct RawFrame {
    pub kind: c_int,
    pub sub: usize,
    pub place: usize,
}

#[allow(missing_docs, reason = "documented in shim.h")]
mod declarations {
    use super::*;

    // Functions that only read or write numbers of the shim's own are safe.
    unsafe extern "C" {
        pub fn cml_boot(hooks: *const Hooks, xs_init: Option<unsafe extern "C" fn(*mut c_void)>, taint: c_int)
        -> c_int;
        pub fn cml_census(
            tell: extern "C" fn(to: *mut c_void, name: *const c_char, length: usize, count: usize, bytes: usize),
            to: *mut c_void,
        );
        pub fn cml_each_value(tell: extern "C" fn(to: *mut c_void, value: *const c_void), to: *mut c_void);
        pub fn cml_names_by(value: *const c_void, of: *const Names);
        pub fn cml_spans_of(value: *const c_void, of: *const Spans);
        pub fn cml_spans_of_stacks(of: *const Spans);
        pub fn cml_kind_of(
            value: *const c_void,
            tell: extern "C" fn(to: *mut c_void, name: *const c_char, length: usize),
            to: *mut c_void,
        );
        pub fn cml_before_forks();
        pub fn cml_before_promotion();
        pub fn cml_is_promoted();
        pub fn cml_after_fork();
        pub fn cml_end(what: c_int);
        pub fn cml_set_title(title: *const c_char);
        pub fn cml_version(out: *mut Bytes);
        pub fn cml_eval(code: *const c_char, length: usize, file: *const c_char, line: c_uint) -> RawStatus;
        pub fn cml_require(file: *const c_char, length: usize) -> RawStatus;
        pub fn cml_require_module(name: *const c_char, length: usize) -> RawStatus;
        pub fn cml_call_name(sub: *const c_char, argument: *const c_char, length: usize) -> RawStatus;
        pub fn cml_call_aside(sub: *const c_char, bytes: *const c_char, length: usize) -> RawStatus;
        pub fn cml_ask_name(sub: *const c_char, argument: *const c_char, length: usize, out: *mut Bytes) -> RawStatus;
        pub fn cml_resolve_handler(
            name: *const c_char,
            length: usize,
            code: *mut *mut c_void,
            invocant: *mut *mut c_void,
        ) -> RawStatus;
        pub fn cml_request_class(name: *const c_char);
        pub safe fn cml_keep_autoflush();
        pub fn cml_call_handler(
            code: *mut c_void,
            invocant: *mut c_void,
            request: u64,
            result: *mut c_int,
        ) -> RawStatus;
        pub fn cml_load_psgi(source: *const c_char, length: usize, is_file: c_int, app: *mut *mut c_void) -> RawStatus;
        pub fn cml_error(out: *mut Bytes);
        pub safe fn cml_exit_code() -> c_int;
        pub fn cml_release(sv: *mut c_void);
        pub fn cml_psgi_begin(https: c_int, entries: c_int);
        pub fn cml_psgi_put(key: *const c_char, key_length: usize, value: *const c_char, value_length: usize);
        pub fn cml_psgi_run(app: *mut c_void, needs_cleanup: *mut c_int, leave: *mut c_int) -> RawStatus;
        pub fn cml_psgi_cleanup(leave: *mut c_int) -> RawStatus;
        pub fn cml_stdin_is(fd: c_int) -> c_int;
        pub fn cml_flush_stdout();
        pub fn cml_drain_fd1();
        pub fn cml_stdout_is_log(is_log: c_int) -> c_int;
        pub fn cml_stderr_is_log();
        pub fn cml_env_begin();
        pub fn cml_env_enter();
        pub fn cml_env_leave();
        pub fn cml_env_refresh();
        pub fn cml_env_forget(key: *const c_char, key_length: usize);
        pub fn cml_env_put(key: *const c_char, key_length: usize, value: *const c_char, value_length: usize);
        pub fn cml_env_end();
        pub fn cml_env_tie();
        pub fn cml_env_changes(
            report: unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize),
            arg: *mut c_void,
        ) -> c_int;
        pub fn cml_env_follow(key: *const c_char, key_length: usize, value: *const c_char, value_length: usize);
        pub fn cml_env_base(
            each: unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize),
            argument: *mut c_void,
        );
        pub safe fn cml_gave_up() -> c_int;
        pub safe fn cml_is_forked_child() -> c_int;
        pub safe fn cml_loop_socket(fd: c_int);
        pub safe fn cml_next_fork_speaks(speaks: c_int);
        pub fn cml_is_request_child();
        pub fn cml_call_as_program(sub: *const c_char, bytes: *const c_char, length: usize) -> c_int;
        pub safe fn cml_may_have_children(is_busy: c_int) -> c_int;
        pub fn cml_has_children(has: c_int, ended: *const [c_int; 2], count: usize);
        pub fn cml_keep_from_children(fds: *const c_int, count: usize);
        pub fn cml_remember_state();
        pub fn cml_restore_state() -> c_uint;
        pub safe fn cml_must_leave() -> c_int;
        pub safe fn cml_deadline_signal(signal: c_int);
        pub safe fn cml_request_is(number: u64);
        pub safe fn cml_request_is_in_time();
        pub safe fn cml_request_is_answered();
        pub safe fn cml_timed_out() -> c_int;
        pub safe fn cml_is_late() -> c_int;
        pub fn cml_activity_begins(number: u64, received_us: u64, texts: *const Bytes);
        pub safe fn cml_activity_ends();
        pub safe fn cml_activity_phase(phase: u16) -> u16;
        pub safe fn cml_activity_address() -> usize;
        pub fn cml_activity_of(memory: *const RawMemory, address: usize, out: *mut RawActivity) -> c_int;
        pub fn cml_stack_of(memory: *const RawMemory, perl: usize, frames: *mut RawFrame, room: usize) -> usize;
        pub fn cml_sub_name_of(memory: *const RawMemory, sub: usize, into: *mut c_char, room: usize) -> usize;
        pub fn cml_method_name_of(memory: *const RawMemory, name: usize, into: *mut c_char, room: usize) -> usize;
        pub fn cml_place_of(
            memory: *const RawMemory,
            place: usize,
            into: *mut c_char,
            room: usize,
            line: *mut c_uint,
        ) -> usize;
        pub safe fn cml_trace_statements(traced: c_int);
        pub fn cml_each_statement(tell: TellStatement, to: *mut c_void);
        pub fn cml_operator_name(number: usize) -> *const c_char;
    }
}
pub use declarations::*;
