//! Reverse lookup of host names.

use std::ffi::CStr;
use std::net::{IpAddr, SocketAddr};

use nix::libc;
use nix::sys::socket::{SockaddrLike, SockaddrStorage};

/// The name of an address by the system's resolver (getnameinfo). Blocks until it is found.
pub fn name_of(address: IpAddr) -> Option<String> {
    let address = SockaddrStorage::from(SocketAddr::new(address, 0));
    let mut name = [0; libc::NI_MAXHOST as usize];
    // SAFETY: a socket address with its length, a buffer with its length, and no service buffer.
    let failed = unsafe {
        libc::getnameinfo(
            address.as_ptr(),
            address.len(),
            name.as_mut_ptr().cast(),
            libc::NI_MAXHOST,
            std::ptr::null_mut(),
            0,
            libc::NI_NAMEREQD,
        )
    };
    let name = CStr::from_bytes_until_nul(&name).ok()?;
    (failed == 0).then(|| name.to_str().ok().map(str::to_owned)).flatten()
}
