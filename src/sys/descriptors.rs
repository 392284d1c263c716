//! Descriptors by their numbers, and how many there may be.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use anyhow::bail;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The `count` descriptors from 3 on that systemd handed over. Call it once, before anything else opens a file.
pub fn passed_descriptors(count: usize) -> io::Result<Vec<OwnedFd>> {
    (3..).take(count).map(passed_descriptor).collect()
}

fn passed_descriptor(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_SETFD on a number that may be closed fails with EBADF and does nothing else.
    Errno::result(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    // SAFETY: it is open, and LISTEN_PID said that it was opened for this process.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Whatever whoever started us left open is not for the programs that scripts start. A kernel before 5.11 cannot say so of
/// all at once; what is open there stays as it is.
pub fn keep_inherited_from_children() {
    const FIRST: libc::c_uint = 3;
    // SAFETY: it only marks descriptors to be closed by exec; all that we mean to pass on we pass explicitly.
    unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

/// The descriptors below are theirs.
const FOR_PROGRAMS: RawFd = 64;

/// Moves a descriptor out of the way of programs, which may know none above 1024 (select) and have the lowest numbers.
pub fn out_of_the_way(fd: OwnedFd) -> io::Result<OwnedFd> {
    let high = fcntl(&fd, FcntlArg::F_DUPFD_CLOEXEC(FOR_PROGRAMS))?;
    // SAFETY: the kernel just made it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(high) })
}

/// Descriptor `to` becomes another name for what `from` is. Only for the standard streams, which nobody owns.
pub fn replace(from: RawFd, to: RawFd) -> io::Result<()> {
    // SAFETY: the numbers are plain integers to the kernel, and no `OwnedFd` of ours holds 0, 1 or 2.
    Errno::result(unsafe { libc::dup2(from, to) })?;
    Ok(())
}

/// Workers keep descriptors out of the way of programs, from 64 on.
const FEWEST_FILES: u64 = 96;

/// How many files a process may have open.
pub fn file_limit() -> u64 {
    getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft)
}

/// Allows this process and its children as many open files as the administrator permits.
pub fn raise_file_limit() -> anyhow::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if hard < FEWEST_FILES {
        bail!(
            "only {hard} open files are allowed (ulimit -Hn, systemd's LimitNOFILE): {FEWEST_FILES} are needed at least"
        );
    }
    Ok(setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?)
}
