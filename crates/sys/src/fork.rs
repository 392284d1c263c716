//! Forking and ending of processes.

use std::io;
use std::os::fd::AsFd;

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, getpid, getppid};

use super::pidfd::pidfd_open;

/// Forks. Returns `None` in the child.
pub fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the calling process has one thread, so no other thread can hold a lock in the child.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(Some(child)),
        ForkResult::Child => Ok(None),
    }
}

/// Forks a process that becomes a child of the subreaper (PR_SET_CHILD_SUBREAPER). Returns `true` in the new process.
pub fn fork_orphan() -> io::Result<bool> {
    if let Some(between) = fork()? {
        return match waitpid(between, None)? {
            WaitStatus::Exited(_, 0) => Ok(false),
            _ => Err(io::Error::other("the intermediate process could not fork")),
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

/// Waits until `parent` has ended. The kernel reports its end after its children were reparented.
fn wait_for_adoption(parent: Pid) {
    while getppid() == parent {
        let Ok(process) = pidfd_open(parent) else { continue };
        let _ = poll(&mut [PollFd::new(process.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE);
    }
}

/// Ends this process without running exit handlers.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: the call does not return and accesses no memory of this process.
    unsafe { libc::_exit(code) }
}
