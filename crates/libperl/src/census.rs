//! What lives in Perl's memory, by class.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};

use libperl_sys as sys;

use crate::Interpreter;

/// How many of a class there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Living {
    /// So many.
    pub count: usize,
    /// About so many bytes they take, without what they refer to.
    pub bytes: usize,
}

/// By the names of classes; what is blessed into none is `SCALAR`, `ARRAY`, `HASH`, `CODE` and so on.
pub type Census = BTreeMap<String, Living>;

impl Interpreter {
    /// Counts all. Nothing is written into Perl's memory.
    pub fn census(&self) -> Census {
        let mut census = Census::new();
        // SAFETY: no Perl code runs now; `tell` is called before this returns, with the census that it is given.
        unsafe { sys::cml_census(tell, (&raw mut census).cast()) }
        census
    }
}

extern "C" fn tell(to: *mut c_void, name: *const c_char, length: usize, count: usize, bytes: usize) {
    // SAFETY: `Interpreter::census` has lent it, and touches it again when all is told.
    let census = unsafe { &mut *to.cast::<Census>() };
    // SAFETY: the shim tells a name of so many bytes, which lives for this call.
    let name = unsafe { std::slice::from_raw_parts(name.cast::<u8>(), length) };
    let living = census.entry(String::from_utf8_lossy(name).into_owned()).or_default();
    living.count += count;
    living.bytes += bytes;
}
