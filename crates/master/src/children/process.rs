//! A process identified by more than its number, which the kernel reuses.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The process of a worker, which cannot be mistaken for another process.
#[derive(Debug)]
pub struct WorkerProcess {
    pid: Pid,
    /// The pidfd. `None`: no descriptor was free, and `began`, the start time of the process, distinguishes it from a
    /// later process of the same number.
    handle: Option<OwnedFd>,
    began: u64,
}

/// Why a process is not taken for a worker.
#[derive(Debug, PartialEq, Eq)]
pub enum NotForked {
    /// The process has ended already.
    Ended,
    /// The process belongs to another program, or the worker already has one: it must not be killed.
    Foreign,
}

impl WorkerProcess {
    pub(super) fn open(pid: Pid, is_its_child: impl FnOnce(Pid) -> bool) -> Result<WorkerProcess, NotForked> {
        let handle = match sys::pidfd_open(pid) {
            Ok(handle) => Some(handle),
            Err(error) if [libc::ESRCH, libc::EINVAL].map(Some).contains(&error.raw_os_error()) => {
                return Err(NotForked::Ended);
            }
            Err(_) => None,
        };
        let (parent, began) = parent_and_begin(pid).ok_or(NotForked::Ended)?;
        let process = WorkerProcess { pid, handle, began };
        // The facts read from `/proc` belong to the process of the handle only while that process exists.
        if !process.exists() {
            return Err(NotForked::Ended);
        }
        if is_its_child(parent) { Ok(process) } else { Err(NotForked::Foreign) }
    }

    /// Whether the process is still running.
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

/// Whether a process is a child of this one.
pub fn is_our_child(pid: Pid) -> bool {
    parent_and_begin(pid).is_some_and(|(parent, _)| parent == nix::unistd::getpid())
}

/// The fourth and the 22nd field of /proc/PID/stat. The second, the program's name, may hold any characters.
fn parent_and_begin(pid: Pid) -> Option<(Pid, u64)> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let behind_name = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(stat.get(behind_name + 1..)?).ok()?;
    let mut fields = fields.split_ascii_whitespace().skip(1);
    Some((Pid::from_raw(fields.next()?.parse().ok()?), fields.nth(17)?.parse().ok()?))
}
