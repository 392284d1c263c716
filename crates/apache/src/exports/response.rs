//! The response: its head, its body, and filters of the body.

use std::ffi::{c_char, c_int};

use super::{FAILED, OK, STALE, XsText, slice, status};
use crate::request_stack::{Stale, speaking, with};

/// Reports failed filters to the code that prints.
fn filtered(result: Result<bool, Stale>) -> c_int {
    match result {
        Ok(false) => OK,
        Ok(true) => FAILED,
        Err(_) => STALE,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_write(r: u64, bytes: *const c_char, length: usize) -> c_int {
    // SAFETY: XS passes a string that lives during the call.
    let bytes = unsafe { slice(bytes, length) };
    filtered(crate::filters::write(r, bytes))
}

#[unsafe(no_mangle)]
extern "C" fn apache_rflush(r: u64) -> c_int {
    filtered(crate::filters::flush_record(r))
}

#[unsafe(no_mangle)]
extern "C" fn apache_filter_response(r: u64) -> c_int {
    status(with(r, |_| ()).inspect(|()| crate::filter_response(r)))
}

#[unsafe(no_mangle)]
extern "C" fn apache_filter_body(r: u64) -> c_int {
    status(crate::filters::filter_body(r))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_write_filtered(r: u64, bytes: *const c_char, length: usize) -> c_int {
    // SAFETY: XS passes a string that lives during the call.
    status(crate::filters::written(r, unsafe { slice(bytes, length) }))
}

#[unsafe(no_mangle)]
extern "C" fn apache_flush_filtered(r: u64) -> c_int {
    status(crate::request_stack::flush_response(r))
}

#[unsafe(no_mangle)]
extern "C" fn apache_filter_failed(r: u64, code: i64) -> c_int {
    let code = u16::try_from(code).ok().filter(|code| (400..600).contains(code)).unwrap_or(500);
    status(crate::filters::failed(r, code))
}

#[unsafe(no_mangle)]
extern "C" fn apache_send_http_header(r: u64, content_type: XsText<'_>) -> c_int {
    status(speaking(r, |r| r.send_http_header(content_type.get())))
}

#[unsafe(no_mangle)]
extern "C" fn apache_send_cgi_header(r: u64, header: XsText<'_>) -> c_int {
    status(speaking(r, |r| r.send_cgi_header(header.bytes())))
}

#[unsafe(no_mangle)]
extern "C" fn apache_cgi_header_out(r: u64, name: XsText<'_>, value: XsText<'_>) -> c_int {
    status(with(r, |r| r.cgi_header_out(name.bytes(), value.bytes())))
}

#[unsafe(no_mangle)]
extern "C" fn apache_expect_header(r: u64) -> c_int {
    status(with(r, |r| r.expect_header()))
}
