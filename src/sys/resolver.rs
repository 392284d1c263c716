//! Names of addresses.

use std::ffi::CStr;
use std::net::{IpAddr, SocketAddr};

use nix::libc;
use nix::sys::socket::{SockaddrLike, SockaddrStorage};

/// The name of an address, from /etc/hosts, a name server, or wherever the system looks. Waits for the answer.
pub fn name_of(address: IpAddr) -> Option<String> {
    let address = SockaddrStorage::from(SocketAddr::new(address, 0));
    let mut name = [0; libc::NI_MAXHOST as usize];
    // SAFETY: a socket address with its own length, room for a name with its length, and no service asked for.
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
