//! PSGI applications: loading, the environment of a call, the call, its cleanup handlers.

use std::ffi::c_int;
use std::ptr;

use libperl_sys as sys;

use crate::{Code, Interpreter, Result, done, own};

/// Work that remains after a PSGI call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PsgiRun {
    /// `psgix.cleanup.handlers` is not empty: call [`Interpreter::psgi_cleanup`] after the response.
    pub needs_cleanup: bool,
    /// `psgix.harakiri.commit` is set.
    pub leave: bool,
}

impl Interpreter {
    /// Loads a PSGI application from a file, or from code.
    pub fn load_psgi(&self, source: &str, is_file: bool) -> Result<Code> {
        let mut app = ptr::null_mut();
        let (text, length) = (source.as_ptr().cast(), source.len());
        // SAFETY: pointer and length of one string; the result is owned by us.
        let status = unsafe { sys::cml_load_psgi(text, length, c_int::from(is_file), &mut app) };
        done(status)?;
        own(app, ptr::null_mut())
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
}
