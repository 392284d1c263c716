//! Calls of Perl code: texts, files, subs, handlers.

use std::ffi::{CStr, CString};
use std::ptr::{self, NonNull};

use libperl_sys as sys;

use crate::{Code, Interpreter, Result, done, own, text};

impl Interpreter {
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
    pub fn call(&self, sub: &'static CStr, argument: Option<&str>) -> Result {
        let (pointer, length) = argument.map_or((ptr::null(), 0), |a| (a.as_ptr().cast(), a.len()));
        // SAFETY: `sub` is terminated; null means no argument.
        done(unsafe { sys::cml_call_name(sub.as_ptr(), pointer, length) })
    }

    /// Calls the named sub with bytes while perl may be in the middle of another operation.
    pub fn call_aside(&self, sub: &'static CStr, bytes: &[u8]) -> Result {
        // SAFETY: `sub` is terminated, the bytes are pointer and length.
        done(unsafe { sys::cml_call_aside(sub.as_ptr(), bytes.as_ptr().cast(), bytes.len()) })
    }

    /// Calls the named sub with one string; returns its result as text.
    pub fn call_for_text(&self, sub: &'static CStr, argument: &str) -> Result<String> {
        let mut out = sys::Bytes { bytes: ptr::null(), length: 0 };
        // SAFETY: `sub` is terminated, the argument is pointer and length; `out` is filled, and copied before the next
        // call into Perl.
        done(unsafe { sys::cml_ask_name(sub.as_ptr(), argument.as_ptr().cast(), argument.len(), &mut out) })?;
        Ok(text(out))
    }

    /// Resolves a handler's name: `Package`, `Package::sub`, `Class->method` or `sub {…}`.
    pub fn resolve_handler(&self, name: &str) -> Result<Code> {
        let (mut code, mut invocant) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: both results are owned by us afterwards.
        let status = unsafe { sys::cml_resolve_handler(name.as_ptr().cast(), name.len(), &mut code, &mut invocant) };
        done(status)?;
        own(code, invocant)
    }

    /// Calls a handler with the `$r` of that request. Returns its numeric result; 0 if it has none.
    pub fn call_handler(&self, handler: &Code, request: u64) -> Result<i32> {
        let mut result = 0;
        let invocant = handler.invocant.map_or(ptr::null_mut(), NonNull::as_ptr);
        // SAFETY: both pointers are live references held by `handler`.
        let status = unsafe { sys::cml_call_handler(handler.code.as_ptr(), invocant, request, &mut result) };
        done(status).map(|()| result)
    }

    /// The class of the `$r` that handlers get.
    pub fn request_class_is(&self, name: &'static CStr) {
        // SAFETY: `name` is terminated; no Perl code runs now.
        unsafe { sys::cml_request_class(name.as_ptr()) }
    }
}
