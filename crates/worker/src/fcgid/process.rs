//! A process of a FastCGI program.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use wire::fcgid::ProgramSpec;

use super::policy::ProcessState;
use crate::program::child::resource_limits;
use base::stamp::Stamp;

/// Time between SIGTERM and SIGKILL.
const PATIENCE: Duration = Duration::from_secs(3);

/// A running program, which leads a process group.
pub struct FcgidProcess {
    pub pid: Pid,
    handle: OwnedFd,
    pub spec: Rc<ProgramSpec>,
    /// State of the file when the process was started.
    stamp: Option<Stamp>,
    pub socket: PathBuf,
    born: Instant,
    idle_since: Instant,
    pub requests: u64,
    pub lease: Option<u64>,
    /// Begin, method and path of the current request.
    pub current: Option<(Instant, String)>,
    /// When the process gets SIGKILL; set when SIGTERM is sent.
    killed_at: Option<Instant>,
}

impl FcgidProcess {
    /// Starts a program that listens at `socket`. Descriptor 0 is changed and restored.
    pub fn start(spec: Rc<ProgramSpec>, socket: PathBuf, no_input: BorrowedFd<'_>) -> io::Result<FcgidProcess> {
        let listener = UnixListener::bind(&socket)?;
        let image =
            sys::Image::new(spec.file.as_os_str().as_bytes(), spec.arguments.clone(), spec.environment.clone())?;
        sys::replace(listener.as_raw_fd(), 0)?;
        let log = io::stderr();
        let started =
            sys::start_program(&image, &spec.folder, [log.as_fd(), log.as_fd()], &resource_limits(spec.limits));
        sys::replace(no_input.as_raw_fd(), 0)?;
        let (pid, handle) = started.inspect_err(|_| drop(fs::remove_file(&socket)))?;
        let now = Instant::now();
        let stamp = stamp(&spec);
        Ok(FcgidProcess {
            pid,
            handle,
            spec,
            stamp,
            socket,
            born: now,
            idle_since: now,
            requests: 0,
            lease: None,
            current: None,
            killed_at: None,
        })
    }

    /// A descriptor that is readable when the process has ended.
    pub fn end(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// The state for decisions about requests for `spec`.
    pub fn state(&self, spec: &ProgramSpec, stamp: Option<Stamp>) -> ProcessState {
        ProcessState {
            is_busy: self.lease.is_some(),
            is_ending: self.killed_at.is_some(),
            is_standing: self.spec.standing > 0,
            is_of_class: *self.spec == *spec && self.stamp == stamp,
            born: self.born,
            idle_since: self.idle_since,
            requests: self.requests,
        }
    }

    /// Whether the program's file has changed since the start.
    pub fn is_outdated(&self) -> bool {
        self.stamp != stamp(&self.spec)
    }

    /// Time since the start.
    pub fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.born)
    }

    /// Ends the lease after a complete response.
    pub fn is_free(&mut self, now: Instant) {
        (self.lease, self.current, self.idle_since) = (None, None, now);
        self.requests += 1;
    }

    /// Sends SIGTERM to the process group, once; SIGKILL follows after `PATIENCE`.
    pub fn stop(&mut self, now: Instant) {
        if self.killed_at.is_none() {
            let _ = killpg(self.pid, Signal::SIGTERM);
            self.killed_at = Some(now + PATIENCE);
        }
    }

    /// Sends SIGKILL if the process still runs `PATIENCE` after SIGTERM. Returns the time at which that is due.
    pub fn kill_if_due(&self, now: Instant) -> Option<Instant> {
        let due = self.killed_at?;
        if due <= now {
            let _ = killpg(self.pid, Signal::SIGKILL);
        }
        Some(due)
    }

    /// Whether SIGTERM was sent.
    pub fn is_ending(&self) -> bool {
        self.killed_at.is_some()
    }

    /// How the process has ended; `None` while it runs.
    pub fn reap(&self) -> Option<String> {
        match waitpid(self.pid, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(_, code)) => Some(format!("exited with status {code}")),
            Ok(WaitStatus::Signaled(_, signal, _)) => Some(format!("was ended by {signal}")),
            Ok(_) => None,
            Err(_) => Some("has ended".to_owned()),
        }
    }
}

impl Drop for FcgidProcess {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.socket);
        // Children of the program that outlive it would hold its socket.
        let _ = killpg(self.pid, Signal::SIGKILL);
    }
}

/// The state of a program's file.
pub fn stamp(spec: &ProgramSpec) -> Option<Stamp> {
    fs::metadata(&spec.file).ok().map(|found| Stamp::of(&found))
}
