//! Kernel settings for the pages of this process and its children.

use std::io;

use nix::errno::Errno;
use nix::libc;

/// Lets the kernel merge pages with equal contents, in this process and its children (KSM, Linux 6.4).
pub fn merge_same_pages() -> io::Result<()> {
    let (on, none): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: the call takes integers; a kernel without support returns an error.
    Errno::result(unsafe { libc::prctl(libc::PR_SET_MEMORY_MERGE, on, none, none, none) })?;
    Ok(())
}
