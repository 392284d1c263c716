//! The C ABI of `include/apache.h`, the only folder of this crate with unsafe code: it turns pointers into
//! slices and back.
#![allow(unsafe_code, reason = "the border to C")]

mod broadcast;
mod event;
mod hooks;
mod internal_requests;
mod log;
mod request;
mod response;
mod server;
mod table;

pub use hooks::hooks;

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use crate::request_rec::field::{Number, Text};
use crate::request_stack::{Stale, for_each, number, with};

const OK: c_int = 0;
const STALE: c_int = 1;
const FAILED: c_int = 2;
const UNKNOWN_VERB: c_int = 3;

/// `apache_text`, from XS: bytes that live during the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct XsText<'a> {
    bytes: *const c_char,
    length: usize,
    lives: PhantomData<&'a [u8]>,
}

impl<'a> XsText<'a> {
    /// `None`: undef
    fn get(self) -> Option<&'a [u8]> {
        // SAFETY: only C makes an `XsText`: of null, or of readable bytes, as apache.h says.
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

#[unsafe(no_mangle)]
extern "C" fn apache_record_number() -> u64 {
    crate::record_number()
}

#[unsafe(no_mangle)]
extern "C" fn apache_get_text(r: u64, field: u32, out: Out<'_, ApacheText>) -> c_int {
    let text = with(r, |r| ApacheText::of_option(Text::from_number(field).and_then(|field| r.text(field))));
    give(out, text)
}

#[unsafe(no_mangle)]
extern "C" fn apache_set_text(r: u64, field: u32, value: XsText<'_>) -> c_int {
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
extern "C" fn apache_give_up(r: u64, reason: XsText<'_>) -> c_int {
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
