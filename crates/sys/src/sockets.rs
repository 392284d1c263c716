//! Socket options that neither std nor nix provides.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;

/// Lets the kernel report a connection only when its client has sent data, or after about `most`.
pub fn defer_accept(listener: impl AsFd, most: Duration) -> io::Result<()> {
    let seconds = libc::c_int::try_from(most.as_secs()).map_err(io::Error::other)?;
    let length = size_of_val(&seconds) as libc::socklen_t;
    let value = std::ptr::from_ref(&seconds).cast();
    let fd = listener.as_fd().as_raw_fd();
    // SAFETY: the kernel reads `length` bytes of `value`, which outlives the call.
    Errno::result(unsafe { libc::setsockopt(fd, libc::IPPROTO_TCP, libc::TCP_DEFER_ACCEPT, value, length) })?;
    Ok(())
}
