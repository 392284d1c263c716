//! How a process of ours begins and with whom it ends: front, mold and workers.

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
use super::signals::{FOR_THE_MASTER, dispose, parent_signal, unblock_signals};

/// Where front and mold find their end of the control channel.
const CONTROL: RawFd = 3;

/// Lets `command` start as front or mold: it dies with us, ignores the master's signals and has `channel` at 3.
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
    // SAFETY: between fork and exec `enter` only makes async-signal-safe system calls and allocates nothing.
    unsafe { command.pre_exec(enter) };
}

fn inherit_as_control(channel: RawFd) -> io::Result<()> {
    // SAFETY: both numbers are plain integers to the kernel; whatever was at 3 is this child's copy, about to be closed
    // by exec anyway.
    let placed = match channel {
        CONTROL => unsafe { libc::fcntl(CONTROL, libc::F_SETFD, 0) },
        _ => unsafe { libc::dup2(channel, CONTROL) },
    };
    Errno::result(placed)?;
    Ok(())
}

/// The control channel that [`become_role`] left at descriptor 3. Call it once, first thing in a role.
pub fn control_channel() -> io::Result<OwnedFd> {
    // SAFETY: F_GETFD only asks whether the number is open.
    Errno::result(unsafe { libc::fcntl(CONTROL, libc::F_GETFD) })?;
    // SAFETY: it is open, and a role's first statement runs before anything else could have opened or taken it.
    let channel = unsafe { OwnedFd::from_raw_fd(CONTROL) };
    if SFlag::from_bits_truncate(fstat(&channel)?.st_mode) & SFlag::S_IFMT != SFlag::S_IFSOCK {
        return Err(Errno::ENOTSOCK.into());
    }
    fcntl(&channel, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(channel)
}

/// The mold sees the end of the master by itself from now on, and ends its children before it goes.
pub fn outlive_master() -> io::Result<()> {
    Ok(prctl::set_pdeathsig(None)?)
}

/// Ends this process when its parent, that one, ends.
pub fn die_with(master: Pid) -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if getppid() == master { Ok(()) } else { Err(Errno::ESRCH.into()) }
}

/// The master whose end is a worker's end. Written once, before the signal can come; read in its handler.
static FOLLOWED: AtomicI32 = AtomicI32::new(0);

/// A worker outlives its mold, because the master adopts it, but not the master: even in the middle of a request.
pub fn follow(mold: Pid, master: Pid) -> io::Result<()> {
    FOLLOWED.store(master.as_raw(), Ordering::Relaxed);
    let handler: extern "C" fn(i32) = parent_ended;
    // SAFETY: all zeroes is a valid sigaction.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: `parent_ended` makes async-signal-safe system calls only; SA_RESTART hides it from the site's code.
    Errno::result(unsafe { libc::sigaction(parent_signal(), &action, std::ptr::null_mut()) })?;
    arm()?;
    let parent = getppid();
    if parent == mold || parent == master { Ok(()) } else { Err(Errno::ESRCH.into()) }
}

fn arm() -> io::Result<()> {
    // SAFETY: the call takes integers; the signal has a handler.
    Errno::result(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, parent_signal()) })?;
    Ok(())
}

/// The mold has ended, or the master with it. In the first case the master is our parent now.
extern "C" fn parent_ended(_: i32) {
    if getppid().as_raw() != FOLLOWED.load(Ordering::Relaxed) || arm().is_err() {
        exit_now(0);
    }
}
