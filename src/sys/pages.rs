//! How the kernel keeps the pages of this process and of those that it forks.

use std::io;

use nix::errno::Errno;
use nix::libc;

/// Lets the kernel join pages that have the same content, now and in processes that are forked (Linux 6.4).
pub fn merge_same_pages() -> io::Result<()> {
    let (on, none): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: takes integers; a kernel that does not know it says so.
    Errno::result(unsafe { libc::prctl(libc::PR_SET_MEMORY_MERGE, on, none, none, none) })?;
    Ok(())
}
