//! Raw file descriptors, and the limit of open files.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use anyhow::bail;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The descriptors with these numbers, each named once, that another process has opened for this one. Must be called
/// once, before anything else opens a file.
pub fn passed_descriptors(numbers: &[RawFd]) -> io::Result<Vec<OwnedFd>> {
    numbers.iter().copied().map(passed_descriptor).collect()
}

fn passed_descriptor(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_SETFD on a number that may be closed fails with EBADF and does nothing else.
    Errno::result(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    // SAFETY: the descriptor is open, and was opened for this process: LISTEN_PID or SERVER_STARTER_PORT names it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Marks all inherited descriptors close-on-exec, so that programs of scripts do not get them. Kernels before 5.11 do
/// not support this, and the descriptors stay inheritable.
pub fn keep_inherited_from_children() {
    const FIRST: libc::c_uint = 3;
    // SAFETY: the call only marks descriptors to be closed by exec; descriptors for children are passed explicitly.
    unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Lowest descriptor of the server; lower numbers are left to programs.
const FOR_PROGRAMS: RawFd = 64;

/// Moves a descriptor above those of programs, which may require the lowest numbers, or numbers below 1024 (select).
pub fn out_of_the_way(fd: OwnedFd) -> io::Result<OwnedFd> {
    let high = fcntl(&fd, FcntlArg::F_DUPFD_CLOEXEC(FOR_PROGRAMS))?;
    // SAFETY: the kernel just created the descriptor for the caller.
    Ok(unsafe { OwnedFd::from_raw_fd(high) })
}

/// Makes descriptor `to` a duplicate of `from`. Only for the standard streams, which no `OwnedFd` owns.
pub fn replace(from: RawFd, to: RawFd) -> io::Result<()> {
    // SAFETY: the numbers are plain integers to the kernel, and no `OwnedFd` of ours holds 0, 1 or 2.
    Errno::result(unsafe { libc::dup2(from, to) })?;
    Ok(())
}

/// Minimum limit of open files: workers use descriptors from 64 on.
const MIN_FILES: u64 = 96;

/// Limit of open files of this process.
pub fn file_limit() -> u64 {
    getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft)
}

/// Raises the limit of open files of this process and its children to the hard limit.
pub fn raise_file_limit() -> anyhow::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if hard < MIN_FILES {
        bail!(
            "the limit of open files is {hard} (ulimit -Hn, systemd's LimitNOFILE); raise it to at least {MIN_FILES}"
        );
    }
    Ok(setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?)
}
