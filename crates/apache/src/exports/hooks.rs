//! Hooks of the interpreter, which the shim calls: output, the log, `%ENV`, responses of PSGI applications.

use std::ffi::{c_char, c_int};

use super::slice;
use crate::log::print;
use crate::request_stack::{Audience, audience_of_current, current};

/// The interpreter's output hooks: STDOUT is the current request's response, STDERR the error log.
pub fn hooks() -> libperl::Hooks {
    libperl::Hooks {
        write: apache_output,
        flush: apache_flush,
        log: apache_stderr,
        head: apache_head_start,
        header: apache_head_add,
        environment: apache_environment,
        extend: apache_extend,
    }
}

/// Hook for output on STDERR.
unsafe extern "C" fn apache_stderr(bytes: *const c_char, length: usize) {
    // SAFETY: the shim passes a string that lives during the call.
    print(unsafe { slice(bytes, length) });
}

/// The hook of the first access to %ENV.
unsafe extern "C" fn apache_environment() {
    crate::request_stack::fill_env();
}

/// The hook of a PSGI application that needs more time.
unsafe extern "C" fn apache_extend(seconds: f64) {
    crate::request_stack::extend_timeout(seconds);
}

/// Hook for output on STDOUT.
#[unsafe(no_mangle)]
unsafe extern "C" fn apache_output(bytes: *const c_char, length: usize) -> c_int {
    // SAFETY: the shim passes a string that lives during the call.
    crate::output(unsafe { slice(bytes, length) });
    audience()
}

/// Hook for a flush of STDOUT.
#[unsafe(no_mangle)]
extern "C" fn apache_flush() -> c_int {
    crate::flush();
    audience()
}

/// Whether the current response still has a receiver.
fn audience() -> c_int {
    match audience_of_current() {
        Audience { has_left: true, .. } => libperl::GONE,
        Audience { is_unwanted: true, .. } => libperl::NOT_WANTED,
        _ => libperl::HERE,
    }
}

/// The hook of a PSGI response's status.
#[unsafe(no_mangle)]
extern "C" fn apache_head_start(status: c_int) {
    let _ = current(|r| r.head_start(status));
}

/// The hook of a PSGI response's header.
#[unsafe(no_mangle)]
unsafe extern "C" fn apache_head_add(
    name: *const c_char,
    name_length: usize,
    value: *const c_char,
    value_length: usize,
) {
    // SAFETY: the shim passes two strings that live during the call.
    let (name, value) = unsafe { (slice(name, name_length), slice(value, value_length)) };
    let _ = current(|r| r.head_add(name, value));
}
