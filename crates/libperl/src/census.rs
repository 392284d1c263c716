//! The contents of Perl's memory, by class.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};

use libperl_sys as sys;

use crate::Interpreter;

/// The number and size of the objects of a class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Living {
    /// Number of objects.
    pub count: usize,
    /// Approximate size in bytes, without the values that they refer to.
    pub bytes: usize,
}

/// Keys are class names; unblessed values are under `SCALAR`, `ARRAY`, `HASH`, `CODE` and so on.
pub type Census = BTreeMap<String, Living>;

impl Interpreter {
    /// Counts all values. Perl's memory is not written to.
    pub fn census(&self) -> Census {
        let mut census = Census::new();
        // SAFETY: no Perl code runs now; `tell` is called before this returns, with the census that it is given.
        unsafe { sys::cml_census(tell, (&raw mut census).cast()) }
        census
    }
}

extern "C" fn tell(to: *mut c_void, name: *const c_char, length: usize, count: usize, bytes: usize) {
    // SAFETY: `Interpreter::census` lends it for the call.
    let census = unsafe { &mut *to.cast::<Census>() };
    // SAFETY: the shim passes a name of that length, valid during the call.
    let name = unsafe { std::slice::from_raw_parts(name.cast::<u8>(), length) };
    let living = census.entry(String::from_utf8_lossy(name).into_owned()).or_default();
    living.count += count;
    living.bytes += bytes;
}
