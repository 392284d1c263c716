//! `%ENV`: that of the start-up code, and one for each request.

use std::ffi::{c_char, c_void};

use libperl_sys as sys;

use crate::{Interpreter, bytes};

impl Interpreter {
    /// Begins a request's `%ENV`. On the first access the hook `environment` fills it by [`env_put`].
    /// [`Interpreter::restore_state`] ends it.
    pub fn env_begin(&self) {
        // SAFETY: swaps one hash for another.
        unsafe { sys::cml_env_begin() }
    }

    /// Gives a request inside the current one its own `%ENV`, until [`Interpreter::env_leave`].
    pub fn env_enter(&self) {
        // SAFETY: puts one hash aside for another.
        unsafe { sys::cml_env_enter() }
    }

    /// Returns to the `%ENV` before [`Interpreter::env_enter`].
    pub fn env_leave(&self) {
        // SAFETY: puts the hash back; does nothing when none was put aside.
        unsafe { sys::cml_env_leave() }
    }

    /// Has the hook `environment` fill `%ENV` again, if `%ENV` was accessed.
    pub fn env_refresh(&self) {
        // SAFETY: the hook gets the hash that it got before.
        unsafe { sys::cml_env_refresh() }
    }

    /// `%ENV` of the start-up code.
    pub fn env_base(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        unsafe extern "C" fn add(to: *mut c_void, key: *const c_char, kl: usize, value: *const c_char, vl: usize) {
            // SAFETY: `to` is the vector below; the strings are valid during the call.
            unsafe {
                let pairs = &mut *to.cast::<Vec<(Vec<u8>, Vec<u8>)>>();
                pairs.push((bytes(key, kl).to_vec(), bytes(value, vl).to_vec()));
            }
        }
        let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        // SAFETY: `add` gets back the pointer that it expects.
        unsafe { sys::cml_env_base(add, (&raw mut pairs).cast()) };
        pairs
    }
}

/// Adds a pair to the request's `%ENV`; only for the hook `environment`.
pub fn env_put(key: &[u8], value: &[u8]) {
    // SAFETY: two pairs of pointer and length; Perl copies both. The hook runs on Perl's thread, inside a request.
    unsafe { sys::cml_env_put(key.as_ptr().cast(), key.len(), value.as_ptr().cast(), value.len()) }
}

/// Starts to record changes of the request's `%ENV` by Perl code, for [`env_changes`], until the request ends.
pub fn env_tie() {
    // SAFETY: makes a hash, on Perl's thread.
    unsafe { sys::cml_env_tie() }
}

/// Changes of a tied `%ENV`, see [`env_tie`].
#[derive(Debug, Default)]
pub struct EnvChanges {
    /// Whether `pairs` is the whole environment, and all other names are gone.
    pub is_whole: bool,
    /// Names and new values; `None`: the name was removed.
    pub pairs: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// The changes since the last call. Runs no Perl code.
pub fn env_changes() -> EnvChanges {
    unsafe extern "C" fn add(to: *mut c_void, key: *const c_char, kl: usize, value: *const c_char, vl: usize) {
        // SAFETY: `to` is the vector below; the strings are valid during the call, NULL means no value.
        unsafe {
            let pairs = &mut *to.cast::<Vec<(Vec<u8>, Option<Vec<u8>>)>>();
            pairs.push((bytes(key, kl).to_vec(), (!value.is_null()).then(|| bytes(value, vl).to_vec())));
        }
    }
    let mut changes = EnvChanges::default();
    // SAFETY: `add` gets back the pointer that it expects.
    changes.is_whole = unsafe { sys::cml_env_changes(add, (&raw mut changes.pairs).cast()) } != 0;
    changes
}

/// Sets a name in a tied `%ENV` that was accessed; `None` removes it.
pub fn env_follow(key: &[u8], value: Option<&[u8]>) {
    let (text, length) = value.map_or((std::ptr::null(), 0), |value| (value.as_ptr().cast(), value.len()));
    // SAFETY: pairs of pointer and length, copied; NULL is no value. It runs no Perl code.
    unsafe { sys::cml_env_follow(key.as_ptr().cast(), key.len(), text, length) }
}

/// Removes a name from the request's `%ENV`, if that was accessed.
pub fn env_forget(key: &[u8]) {
    // SAFETY: a pair of pointer and length; runs no Perl code.
    unsafe { sys::cml_env_forget(key.as_ptr().cast(), key.len()) }
}
