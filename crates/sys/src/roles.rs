//! Start and end of the server's processes: front, mold and workers.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::libc;
use nix::sys::prctl;
use nix::sys::signal::{SigHandler, Signal};
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::{Pid, getpid, getppid};

use super::fork::exit_now;
use super::signals::{FOR_THE_MASTER, dispose, handle, parent_signal, unblock_signals};

/// Descriptor of the control channel in front and mold.
const CONTROL: RawFd = 3;

/// Prepares `command` for front or mold: it ends with the master, ignores the master's signals, and has `channel` as
/// descriptor 3.
pub fn become_role(command: &mut Command, channel: RawFd) {
    let master = getpid();
    let enter = move || {
        die_with(master)?;
        unblock_signals()?;
        for signal in FOR_THE_MASTER {
            dispose(signal, SigHandler::SigIgn)?;
        }
        inherit_as_control(channel)
    };
    // SAFETY: `enter` makes only async-signal-safe system calls between fork and exec, and allocates nothing.
    unsafe { command.pre_exec(enter) };
}

fn inherit_as_control(channel: RawFd) -> io::Result<()> {
    if channel == CONTROL {
        // SAFETY: F_SETFD changes only a flag of the descriptor.
        Errno::result(unsafe { libc::fcntl(CONTROL, libc::F_SETFD, 0) })?;
    } else {
        // SAFETY: an open descriptor 3 is this child's copy, which exec would close anyway.
        Errno::result(unsafe { libc::dup2(channel, CONTROL) })?;
    }
    Ok(())
}

/// The control channel, passed by [`become_role`] as descriptor 3. Must be called once, as the first step of a process.
pub fn control_channel() -> io::Result<OwnedFd> {
    // SAFETY: F_GETFD only tests whether the descriptor is open.
    Errno::result(unsafe { libc::fcntl(CONTROL, libc::F_GETFD) })?;
    // SAFETY: the descriptor is open, and nothing else in this process has opened or taken it yet.
    let channel = unsafe { OwnedFd::from_raw_fd(CONTROL) };
    if SFlag::from_bits_truncate(fstat(&channel)?.st_mode) & SFlag::S_IFMT != SFlag::S_IFSOCK {
        return Err(Errno::ENOTSOCK.into());
    }
    fcntl(&channel, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(channel)
}

/// Lets the mold outlive the master: it detects the master's end itself, and ends its children first.
pub fn outlive_master() -> io::Result<()> {
    Ok(prctl::set_pdeathsig(None)?)
}

/// Ends this process when its parent `master` ends.
pub fn die_with(master: Pid) -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if getppid() == master { Ok(()) } else { Err(Errno::ESRCH.into()) }
}

/// Process id of the master that a worker follows. Written once before the signal can arrive, read in its handler.
static FOLLOWED: AtomicI32 = AtomicI32::new(0);

/// Ends a worker with the master, even during a request, but not with its mold: the master adopts the worker when the
/// mold ends.
pub fn follow(mold: Pid, master: Pid) -> io::Result<()> {
    FOLLOWED.store(master.as_raw(), Ordering::Relaxed);
    // SA_RESTART hides the signal from the site's code.
    handle(parent_signal(), parent_ended, libc::SA_RESTART)?;
    arm()?;
    let parent = getppid();
    if parent == mold || parent == master { Ok(()) } else { Err(Errno::ESRCH.into()) }
}

fn arm() -> io::Result<()> {
    // SAFETY: the call takes integers, and the signal has a handler.
    Errno::result(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, parent_signal()) })?;
    Ok(())
}

/// Signal handler for the end of the parent. After the end of the mold alone, the master is the new parent.
extern "C" fn parent_ended(_: i32) {
    if getppid().as_raw() != FOLLOWED.load(Ordering::Relaxed) || arm().is_err() {
        exit_now(0);
    }
}
