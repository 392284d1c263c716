//! Database statements of a request, for traces.

use std::ffi::{CStr, c_char, c_void};
use std::slice;

use libperl_sys as sys;

/// A call of a DBI method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// `DBI::st::execute`
    pub method: String,
    /// Start, in µs since 1970.
    pub begun_us: u64,
    /// Duration, in µs.
    pub taken_us: u64,
    /// The statement without values; a long one is cut.
    pub text: String,
}

/// Starts or stops the recording of SQL statements in this process.
pub fn trace_statements(is_traced: bool) {
    sys::cml_trace_statements(i32::from(is_traced))
}

/// The first statements since [`trace_statements`].
pub fn statements() -> Vec<Statement> {
    let mut all: Vec<Statement> = Vec::new();
    // SAFETY: `all` is used only during the call.
    unsafe { sys::cml_each_statement(tell, (&raw mut all).cast()) }
    all
}

unsafe extern "C" fn tell(to: *mut c_void, method: *const c_char, begun_us: u64, taken_us: u64, text: sys::Bytes) {
    // SAFETY: `statements` lends it for the call.
    let all = unsafe { &mut *to.cast::<Vec<Statement>>() };
    // SAFETY: method names are constant; the text is valid during the call.
    let (method, text) = unsafe { (CStr::from_ptr(method), slice::from_raw_parts(text.bytes.cast(), text.length)) };
    let (method, text) = (method.to_string_lossy().into_owned(), String::from_utf8_lossy(text).into_owned());
    all.push(Statement { method, begun_us, taken_us, text });
}
