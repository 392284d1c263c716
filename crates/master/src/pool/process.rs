//! A process by more than its number, which the kernel gives to another one later.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A process that cannot be mistaken for another.
#[derive(Debug)]
pub struct Process {
    /// Its number, for logs.
    pub pid: Pid,
    /// Without one, because no descriptor was to be had, its number means it as long as `began` is when that began.
    handle: Option<OwnedFd>,
    began: u64,
}

/// Why a process is not taken for a worker's.
#[derive(Debug, PartialEq, Eq)]
pub enum NotForked {
    /// It has ended already.
    Ended,
    /// It is somebody else's, or the worker has one: to kill it would be murder.
    Foreign,
}

impl Process {
    pub(super) fn open(pid: Pid, is_its_child: impl FnOnce(Pid) -> bool) -> Result<Process, NotForked> {
        let handle = match sys::pidfd_open(pid) {
            Ok(handle) => Some(handle),
            Err(error) if [libc::ESRCH, libc::EINVAL].map(Some).contains(&error.raw_os_error()) => {
                return Err(NotForked::Ended);
            }
            Err(_) => None,
        };
        let (parent, began) = parent_and_begin(pid).ok_or(NotForked::Ended)?;
        let process = Process { pid, handle, began };
        // Only now is it sure that what was read is about the process that the handle means.
        if !process.exists() {
            return Err(NotForked::Ended);
        }
        if is_its_child(parent) { Ok(process) } else { Err(NotForked::Foreign) }
    }

    /// Whether it has not ended.
    pub fn exists(&self) -> bool {
        match &self.handle {
            Some(handle) => sys::pidfd_exists(handle.as_fd()),
            None => parent_and_begin(self.pid).is_some_and(|(_, began)| began == self.began),
        }
    }

    pub(super) fn signal(&self, signal: Signal) -> io::Result<()> {
        match &self.handle {
            Some(handle) => sys::pidfd_kill(handle.as_fd(), signal),
            None if self.exists() => Ok(kill(self.pid, signal)?),
            None => Err(Errno::ESRCH.into()),
        }
    }

    pub(super) fn queue(&self, signal: i32, value: u64) -> io::Result<()> {
        match &self.handle {
            Some(handle) => sys::pidfd_queue(handle.as_fd(), signal, value),
            None if self.exists() => sys::queue(self.pid, signal, value),
            None => Err(Errno::ESRCH.into()),
        }
    }
}

/// Whether it is a child of ours.
pub fn is_our_child(pid: Pid) -> bool {
    parent_and_begin(pid).is_some_and(|(parent, _)| parent == nix::unistd::getpid())
}

/// Of /proc/PID/stat, the fourth and the twenty-second field; the program's name, the second, may hold anything.
fn parent_and_begin(pid: Pid) -> Option<(Pid, u64)> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let behind_name = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(stat.get(behind_name + 1..)?).ok()?;
    let mut fields = fields.split_ascii_whitespace().skip(1);
    Some((Pid::from_raw(fields.next()?.parse().ok()?), fields.nth(17)?.parse().ok()?))
}
