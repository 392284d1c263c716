//! Password hashes by the system's crypt(3).

use std::ffi::{CStr, CString, c_char, c_int, c_void};

#[link(name = "crypt")]
unsafe extern "C" {
    fn crypt_rn(phrase: *const c_char, setting: *const c_char, data: *mut c_void, size: c_int) -> *mut c_char;
}

/// crypt(3): hashes a password with the method and salt of `setting`. `None` if the method is unknown.
pub fn crypt(password: &[u8], setting: &str) -> Option<String> {
    /// The size of `struct crypt_data`, an ABI constant of libxcrypt.
    const SIZE: usize = 32768;
    let (phrase, setting) = (CString::new(password).ok()?, CString::new(setting).ok()?);
    let mut data = vec![0u64; SIZE / size_of::<u64>()];
    // SAFETY: two C strings that live during the call, and `SIZE` zeroed, aligned bytes that nothing else uses.
    let hash = unsafe { crypt_rn(phrase.as_ptr(), setting.as_ptr(), data.as_mut_ptr().cast(), SIZE as c_int) };
    if hash.is_null() {
        return None;
    }
    // SAFETY: the result is not null, so it is a C string within `data`, which still lives.
    let hash = unsafe { CStr::from_ptr(hash) };
    hash.to_str().ok().map(str::to_owned)
}
