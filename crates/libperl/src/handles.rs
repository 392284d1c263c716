//! STDIN, STDOUT and STDERR of a request.

use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};

use libperl_sys as sys;

use crate::Interpreter;

impl Interpreter {
    /// Applies the start-up code's `$|` of STDOUT to each request.
    pub fn keep_autoflush(&self) {
        sys::cml_keep_autoflush()
    }

    /// Makes `body`, or an empty file, descriptor 0 and STDIN.
    pub fn set_stdin(&self, body: Option<OwnedFd>) -> io::Result<()> {
        let fd = body.map_or(-1, IntoRawFd::into_raw_fd);
        // SAFETY: the descriptor's ownership passes to the shim.
        match unsafe { sys::cml_stdin_is(fd) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
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
}
