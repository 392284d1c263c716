//! The life of a process with an interpreter: before and after a fork, between two requests, at its end.

use std::ffi::{CStr, c_int};

use libperl_sys as sys;

use crate::{Interpreter, LeftState};

impl Interpreter {
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
    pub fn run_as_program(&self, run: &'static CStr, bytes: &[u8], end: &'static CStr) -> i32 {
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

    /// The reason why this process must not take another request, for the log.
    pub fn must_leave(&self) -> Option<&'static str> {
        match sys::cml_must_leave() {
            sys::NO_DESCRIPTORS => {
                Some("nearly all descriptors are in use: the program opens files or sockets without closing them")
            }
            sys::OTHER_USER => Some("the user or groups of the process were changed ($<, $>, $( or $))"),
            sys::OTHER_ROOT => Some("chroot was called"),
            sys::OTHER_LIMITS => Some("a resource limit was changed (setrlimit, prlimit)"),
            sys::OTHER_NAMESPACE => Some("a namespace was changed (unshare, setns)"),
            sys::OTHER_RIGHTS => Some("capabilities, seccomp rules or no_new_privs of the process were changed"),
            sys::NO_HOME => Some(
                "the working directory cannot be restored: the directory in which the process started is no longer accessible",
            ),
            sys::OTHER_PRIORITY => Some("the priority of the process was changed (nice, setpriority)"),
            _ => None,
        }
    }

    /// Restores the state that the request changed; returns the changes.
    pub fn restore_state(&self) -> LeftState {
        // SAFETY: runs no request's code except destructors, which are guarded.
        LeftState(unsafe { sys::cml_restore_state() })
    }
}
