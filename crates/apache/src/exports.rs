//! The C ABI of `include/apache.h`, the only folder of this crate with unsafe code: it turns pointers into
//! slices and back.
#![allow(unsafe_code, reason = "the border to C")]

mod apache_request;
mod internal_requests;

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use base::log::{ContextPosition, LogLevel as Level};

use crate::log::{log_in, print, set_level};
use crate::request_rec::field::{Number, Text};
use crate::request_rec::server::{server_number, server_text};
use crate::request_rec::table::Table;
use crate::request_stack::{
    Audience, Stale, audience_of_current, current, for_each, number, place, server, speaking, with,
};
use crate::tied_env;

const OK: c_int = 0;
const STALE: c_int = 1;
const FAILED: c_int = 2;

/// `apache_text`, from XS: bytes that live during the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Given<'a> {
    bytes: *const c_char,
    length: usize,
    lives: PhantomData<&'a [u8]>,
}

impl<'a> Given<'a> {
    /// `None`: undef
    fn get(self) -> Option<&'a [u8]> {
        // SAFETY: only C makes a `Given`: of null, or of readable bytes, as apache.h says.
        (!self.bytes.is_null()).then(|| unsafe { slice(self.bytes, self.length) })
    }

    fn bytes(self) -> &'a [u8] {
        self.get().unwrap_or_default()
    }
}

/// `apache_text`, for XS: bytes of a record, which XS copies at once.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ApacheText {
    bytes: *const c_char,
    length: usize,
}

impl ApacheText {
    const UNDEF: ApacheText = ApacheText { bytes: ptr::null(), length: 0 };

    fn of(bytes: &[u8]) -> ApacheText {
        ApacheText { bytes: bytes.as_ptr().cast(), length: bytes.len() }
    }

    fn of_option(bytes: Option<&[u8]>) -> ApacheText {
        bytes.map_or(ApacheText::UNDEF, ApacheText::of)
    }
}

/// A variable of XS, for a result.
type Out<'a, T> = &'a mut MaybeUninit<T>;

/// # Safety
/// `bytes` has `length` readable bytes for as long as the result is used; or `length` is 0.
unsafe fn slice<'a>(bytes: *const c_char, length: usize) -> &'a [u8] {
    match length {
        0 => &[],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts(bytes.cast(), length) },
    }
}

fn status<T>(result: Result<T, Stale>) -> c_int {
    match result {
        Ok(_) => OK,
        Err(_) => STALE,
    }
}

/// Reports failed filters to the code that prints.
fn filtered(result: Result<bool, Stale>) -> c_int {
    match result {
        Ok(false) => OK,
        Ok(true) => FAILED,
        Err(_) => STALE,
    }
}

fn give<T>(to: Out<'_, T>, result: Result<T, Stale>) -> c_int {
    status(result.map(|value| to.write(value)))
}

unsafe extern "C" {
    /// Registers the packages of this crate; an argument of `Interpreter::boot`.
    fn apache_xs_init(interpreter: *mut c_void);
}

/// The function with which `Interpreter::boot` registers the packages of this crate.
pub fn xs_init() -> libperl::XsInit {
    apache_xs_init
}

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

#[unsafe(no_mangle)]
extern "C" fn apache_generation() -> u64 {
    crate::generation()
}

#[unsafe(no_mangle)]
extern "C" fn apache_get_text(r: u64, field: u32, out: Out<'_, ApacheText>) -> c_int {
    let text = with(r, |r| ApacheText::of_option(Text::from_number(field).and_then(|field| r.text(field))));
    give(out, text)
}

#[unsafe(no_mangle)]
extern "C" fn apache_set_text(r: u64, field: u32, value: Given<'_>) -> c_int {
    let value = value.get();
    let Some(field) = Text::from_number(field) else { return OK };
    let set = status(with(r, |r| {
        r.set_text(field, value);
        r.notice_type(field);
    }));
    if field.is_of_client() {
        for_each(|r| r.set_text(field, value));
    }
    set
}

#[unsafe(no_mangle)]
extern "C" fn apache_get_number(r: u64, field: u32, out: Out<'_, i64>) -> c_int {
    let number = Number::from_number(field).map_or(Ok(0), |field| number(r, field));
    give(out, number)
}

#[unsafe(no_mangle)]
extern "C" fn apache_set_number(r: u64, field: u32, value: i64) -> c_int {
    status(with(r, |r| Number::from_number(field).map(|field| r.set_number(field, value))))
}

#[unsafe(no_mangle)]
extern "C" fn apache_requirement(r: u64, at: usize, mask: Out<'_, i64>, requirement: Out<'_, ApacheText>) -> c_int {
    let line = with(r, |r| match r.place.requires.get(at) {
        Some(line) => (line.method_mask, ApacheText::of(line.text.as_bytes())),
        None => (0, ApacheText::UNDEF),
    });
    line.map_or(STALE, |(m, text)| give(mask, Ok(m)) | give(requirement, Ok(text)))
}

#[unsafe(no_mangle)]
extern "C" fn apache_table_new(r: u64, table: Out<'_, u32>) -> c_int {
    give(table, with(r, |r| r.tables.new_table()))
}

#[unsafe(no_mangle)]
extern "C" fn apache_table_get(r: u64, table: u32, name: Given<'_>, value: Out<'_, ApacheText>) -> c_int {
    tied_env::bring(r, table);
    give(value, with(r, |r| ApacheText::of_option(r.table_value(table, name.bytes()))))
}

#[unsafe(no_mangle)]
extern "C" fn apache_table_entry(
    r: u64,
    table: u32,
    at: usize,
    name: Out<'_, ApacheText>,
    value: Out<'_, ApacheText>,
) -> c_int {
    tied_env::bring(r, table);
    let entry = with(r, |r| match r.table(table).and_then(|table| table.entry(at)) {
        Some((name, value)) => (ApacheText::of(name), ApacheText::of(value)),
        None => (ApacheText::UNDEF, ApacheText::UNDEF),
    });
    entry.map_or(STALE, |(n, v)| give(name, Ok(n)) | give(value, Ok(v)))
}

#[unsafe(no_mangle)]
extern "C" fn apache_table_change(r: u64, table: u32, verb: u32, name: Given<'_>, value: Given<'_>) -> c_int {
    let (name, value) = (name.bytes(), value.bytes());
    tied_env::bring(r, table);
    if verb == CLEAR {
        tied_env::clear(r, table);
    }
    let changed = status(with(r, |r| r.table_mut(table).map(|table| change(table, verb, name, value))));
    tied_env::show(r, table, name);
    changed
}

/// `APACHE_TABLE_CLEAR`
const CLEAR: u32 = 4;

fn change(table: &mut Table, verb: u32, name: &[u8], value: &[u8]) {
    match verb {
        0 => table.set(name, value),
        1 => table.add(name, value),
        2 => table.merge(name, value),
        3 => table.unset(name),
        _ => table.clear(),
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
extern "C" fn apache_filter_answer(r: u64) -> c_int {
    status(with(r, |_| ()).inspect(|()| crate::filter_answer(r)))
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
    status(crate::request_stack::flush_answer(r))
}

#[unsafe(no_mangle)]
extern "C" fn apache_filter_failed(r: u64, code: i64) -> c_int {
    let code = u16::try_from(code).ok().filter(|code| (400..600).contains(code)).unwrap_or(500);
    status(crate::filters::failed(r, code))
}

#[unsafe(no_mangle)]
extern "C" fn apache_send_http_header(r: u64, content_type: Given<'_>) -> c_int {
    status(speaking(r, |r| r.send_http_header(content_type.get())))
}

#[unsafe(no_mangle)]
extern "C" fn apache_send_cgi_header(r: u64, header: Given<'_>) -> c_int {
    status(speaking(r, |r| r.send_cgi_header(header.bytes())))
}

#[unsafe(no_mangle)]
extern "C" fn apache_cgi_header_out(r: u64, name: Given<'_>, value: Given<'_>) -> c_int {
    status(with(r, |r| r.cgi_header_out(name.bytes(), value.bytes())))
}

#[unsafe(no_mangle)]
extern "C" fn apache_expect_header(r: u64) -> c_int {
    status(with(r, |r| r.expect_header()))
}

#[unsafe(no_mangle)]
extern "C" fn apache_give_up(r: u64, reason: Given<'_>) -> c_int {
    status(with(r, |r| r.give_up(reason.bytes())))
}

#[unsafe(no_mangle)]
extern "C" fn apache_extend_timeout(r: u64, seconds: f64) -> c_int {
    status(with(r, |_| ()).inspect(|()| crate::request_stack::extend_timeout(seconds)))
}

#[unsafe(no_mangle)]
extern "C" fn apache_want_cleanup(r: u64) -> c_int {
    status(with(r, |_| ()).inspect(|()| crate::want_cleanup()))
}

#[unsafe(no_mangle)]
extern "C" fn apache_add_cgi_variables(r: u64) -> c_int {
    status(with(r, |r| r.add_cgi_variables()))
}

#[unsafe(no_mangle)]
extern "C" fn apache_child_terminate(r: u64) -> c_int {
    status(with(r, |_| ()).inspect(|()| crate::child_terminate()))
}

#[unsafe(no_mangle)]
extern "C" fn apache_server_text(host: u32, field: u32, out: Out<'_, ApacheText>) {
    let server = server(host);
    let field = Text::from_number(field);
    let text = server.as_ref().zip(field).and_then(|(server, field)| server_text(server, field));
    out.write(ApacheText::of_option(text));
}

/// Returns -1 when no such server exists.
#[unsafe(no_mangle)]
extern "C" fn apache_server_number(host: u32, field: u32) -> i64 {
    server(host).zip(Number::from_number(field)).map_or(-1, |(server, field)| server_number(&server, field))
}

#[unsafe(no_mangle)]
extern "C" fn apache_section(at: usize) -> i64 {
    place().and_then(|place| place.sections.get(at).copied()).map_or(-1, i64::from)
}

#[unsafe(no_mangle)]
extern "C" fn apache_server_var(host: u32, at: usize, name: Out<'_, ApacheText>, value: Out<'_, ApacheText>) {
    let server = server(host);
    let pair = server.as_ref().and_then(|server| server.set_vars.get(at));
    let (n, v) = match pair {
        Some((name, value)) => (ApacheText::of(name.as_bytes()), ApacheText::of(value.as_bytes())),
        None => (ApacheText::UNDEF, ApacheText::UNDEF),
    };
    name.write(n);
    value.write(v);
}

#[unsafe(no_mangle)]
extern "C" fn apache_server_alias(host: u32, at: usize, name: Out<'_, ApacheText>) {
    let server = server(host);
    let alias = server.as_ref().and_then(|server| server.names.get(at));
    name.write(ApacheText::of_option(alias.map(String::as_bytes)));
}

#[unsafe(no_mangle)]
extern "C" fn apache_add_version_component(text: Given<'_>) {
    crate::request_stack::add_version_component(&String::from_utf8_lossy(text.bytes()));
}

#[unsafe(no_mangle)]
extern "C" fn apache_set_server_port(host: u32, port: u16) {
    crate::request_stack::set_server_port(host, port);
}

#[unsafe(no_mangle)]
extern "C" fn apache_set_log_level(level: u32) {
    set_level(Level::from_number(level).unwrap_or(Level::Error));
}

#[unsafe(no_mangle)]
extern "C" fn apache_log(level: u32, context: u32, text: Given<'_>) {
    log_in(Level::from_number(level).unwrap_or(Level::Error), ContextPosition::from_number(context), text.bytes());
}

/// Hook for output on STDOUT.
#[unsafe(no_mangle)]
unsafe extern "C" fn apache_output(bytes: *const c_char, length: usize) -> c_int {
    // SAFETY: XS passes a string that lives during the call.
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
    // SAFETY: the caller's promise.
    let (name, value) = unsafe { (slice(name, name_length), slice(value, value_length)) };
    let _ = current(|r| r.head_add(name, value));
}
