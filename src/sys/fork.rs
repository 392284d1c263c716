//! How a process becomes two, and how one ends.

use std::io;
use std::os::fd::AsFd;

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, getpid, getppid};

use super::pidfd::pidfd_open;

/// Forks. `None` in the child.
pub fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the caller is a process that has one thread, so the child finds no lock taken.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(Some(child)),
        ForkResult::Child => Ok(None),
    }
}

/// Forks a process that is not our child but that of who adopts orphans (PR_SET_CHILD_SUBREAPER). `true` in it.
pub fn fork_orphan() -> io::Result<bool> {
    if let Some(between) = fork()? {
        return match waitpid(between, None)? {
            WaitStatus::Exited(_, 0) => Ok(false),
            _ => Err(io::Error::other("the process between could not fork")),
        };
    }
    let between = getpid();
    match fork() {
        Ok(None) => {
            wait_for_adoption(between);
            Ok(true)
        }
        Ok(Some(_)) => exit_now(0),
        Err(_) => exit_now(1),
    }
}

/// Waits until `parent` has ended: its end is told after its children were given away.
fn wait_for_adoption(parent: Pid) {
    while getppid() == parent {
        let Ok(process) = pidfd_open(parent) else { continue };
        let _ = poll(&mut [PollFd::new(process.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE);
    }
}

/// Ends this process without another line of anybody's code.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: it does not return and touches no memory of ours.
    unsafe { libc::_exit(code) }
}
