//! What a request asks of databases, for its trace.

use std::ffi::{CStr, c_char, c_void};

use libperl_sys as sys;

/// A call of a method of DBI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// `DBI::st::execute`
    pub method: String,
    /// In µs since 1970.
    pub begun_us: u64,
    /// In µs.
    pub taken_us: u64,
    /// Without values; a long one is cut.
    pub text: String,
}

/// From now on, statements are noted, or not.
pub fn trace_statements(is_traced: bool) {
    // SAFETY: no Perl code runs now.
    unsafe { sys::cml_trace_statements(i32::from(is_traced)) }
}

/// Those since [`trace_statements`], the first ones.
pub fn statements() -> Vec<Statement> {
    let mut all: Vec<Statement> = Vec::new();
    // SAFETY: what is lent is used before this returns.
    unsafe { sys::cml_each_statement(tell, (&raw mut all).cast()) }
    all
}

unsafe extern "C" fn tell(
    to: *mut c_void,
    method: *const c_char,
    begun_us: u64,
    taken_us: u64,
    text: *const c_char,
    length: usize,
) {
    // SAFETY: `statements` has lent it, and touches it again when all is told.
    let all = unsafe { &mut *to.cast::<Vec<Statement>>() };
    // SAFETY: the names of methods are constant; so many bytes of the text live for this call.
    let (method, text) = unsafe { (CStr::from_ptr(method), std::slice::from_raw_parts(text.cast::<u8>(), length)) };
    let (method, text) = (method.to_string_lossy().into_owned(), String::from_utf8_lossy(text).into_owned());
    all.push(Statement { method, begun_us, taken_us, text });
}
