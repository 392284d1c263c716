//! Watches a warming process: interrupts requests that take too long, and notes how the process ends.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid, pipe2};

use super::RehearsalResult;
use super::errors::Errors;
use super::events::{self, Events, WatchEvent};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessExit {
    Code(i32),
    Signal(Signal),
    Unknown,
}

impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessExit::Code(code) => write!(f, "exit code {code}"),
            ProcessExit::Signal(signal) => write!(f, "{signal}"),
            ProcessExit::Unknown => f.write_str("unknown status"),
        }
    }
}

/// A pipe with a non-blocking read end.
pub fn pipe() -> io::Result<(File, File)> {
    let (read, write) = pipe2(OFlag::O_CLOEXEC)?;
    fcntl(&read, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok((read.into(), write.into()))
}

pub struct Watch {
    process: OwnedFd,
    events: Option<File>,
    by: Instant,
    current: Option<Current>,
}

struct Current {
    number: u64,
    /// Time of the next step: the interrupt, or the kill after an interrupt.
    due: Instant,
    grace: Duration,
    is_interrupted: bool,
}

impl Watch {
    pub fn new(process: OwnedFd, events: File, by: Instant) -> Watch {
        Watch { process, events: Some(events), by, current: None }
    }

    /// Watches a child until it ends.
    pub fn child(mut self, pid: Pid, errors: File, verdicts: &mut Vec<RehearsalResult>) {
        let mut errors = Errors::new(errors);
        let mut is_late = false;
        let exit = loop {
            self.wait(Some(&errors.pipe), if is_late { None } else { Some(self.next_turn()) });
            // Check the child's end before reading the pipes: then all that it wrote before its end has arrived.
            let ended = waitpid(pid, Some(WaitPidFlag::WNOHANG));
            errors.take_in();
            self.receive(|verdict| {
                if !matches!(verdict, RehearsalResult::Skipped) {
                    errors.belong_to(verdict.is_well());
                }
                verdicts.push(verdict);
            });
            match ended {
                Ok(WaitStatus::StillAlive) => {}
                Ok(WaitStatus::Exited(_, code)) => break ProcessExit::Code(code),
                Ok(WaitStatus::Signaled(_, signal, _)) => break ProcessExit::Signal(signal),
                _ => break ProcessExit::Unknown,
            }
            if !is_late && (Instant::now() >= self.by || self.interrupt()) {
                is_late = true;
                let _ = sys::pidfd_kill(self.process.as_fd(), Signal::SIGKILL);
            }
        };
        errors.log_rest();
        if self.current.is_some() {
            verdicts.push(if is_late { RehearsalResult::Late } else { RehearsalResult::Ended(exit) });
        }
    }

    /// Watches the mold until its requests are done.
    fn mold(mut self) {
        while self.events.is_some() {
            self.wait(None, Some(self.next_turn()));
            self.receive(drop);
            self.interrupt();
        }
    }

    /// Time of the next action without an event.
    fn next_turn(&self) -> Instant {
        self.current.as_ref().map_or(self.by, |current| current.due.min(self.by))
    }

    fn wait(&self, errors: Option<&File>, until: Option<Instant>) {
        let files = self.events.iter().chain(errors).map(AsFd::as_fd);
        let fds = files.chain([self.process.as_fd()]).map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let left = until.map(|until| until.saturating_duration_since(Instant::now()).as_millis());
        // Round up by 1 ms: waking too early would poll in a busy loop.
        let left = left.map(|left| u16::try_from(left + 1).unwrap_or(u16::MAX));
        let _ = poll(&mut fds.collect::<Vec<_>>(), left);
    }

    fn receive(&mut self, mut take_result: impl FnMut(RehearsalResult)) {
        while let Some(events) = &mut self.events {
            match events::read(events) {
                Ok(WatchEvent::Begins { number, limit }) => self.current = Some(self.begun(number, limit)),
                Ok(WatchEvent::Ends(answer)) => {
                    self.current = None;
                    take_result(RehearsalResult::Answered(answer));
                }
                Ok(WatchEvent::Skipped) => take_result(RehearsalResult::Skipped),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Ok(WatchEvent::Done) | Err(_) => self.events = None,
            }
        }
    }

    /// Starts a request. Each request gets at most half of the remaining time.
    fn begun(&self, number: u64, limit: Option<(Duration, Duration)>) -> Current {
        let now = Instant::now();
        let half = self.by.saturating_duration_since(now) / 2;
        let (limit, grace) = limit.unwrap_or((half, Duration::ZERO));
        let limit = if limit.is_zero() { half } else { limit.min(half) };
        Current { number, due: now + limit, grace: grace.min(half / 2), is_interrupted: false }
    }

    /// Interrupts the request if it is due. Returns true if it was interrupted before and still runs.
    fn interrupt(&mut self) -> bool {
        let Some(current) = self.current.as_mut().filter(|current| Instant::now() >= current.due) else { return false };
        if current.is_interrupted {
            current.due += Duration::from_secs(1);
            return true;
        }
        let _ = sys::pidfd_queue(self.process.as_fd(), sys::deadline_signal(), current.number);
        (current.is_interrupted, current.due) = (true, current.due + current.grace);
        false
    }
}

/// A child that watches this process, until this value is dropped.
pub struct WatcherChild {
    events: Events,
    child: Option<Pid>,
}

impl WatcherChild {
    pub fn events(&self) -> &Events {
        &self.events
    }
}

/// Starts a child that watches this process. If that fails, the process runs unwatched.
pub fn by_a_child(by: Instant) -> WatcherChild {
    let begun = || -> io::Result<WatcherChild> {
        let (received, events) = pipe()?;
        let mold = getpid();
        let process = sys::pidfd_open(mold)?;
        let Some(child) = sys::fork()? else {
            drop(events);
            libperl::set_title("cameleer: warm-up watch");
            if sys::die_with(mold).is_ok() {
                Watch::new(process, received, by).mold();
            }
            sys::exit_now(0);
        };
        libperl::keep_from_children(std::iter::once(events.as_fd()));
        Ok(WatcherChild { events: Events(Some(events)), child: Some(child) })
    };
    begun().unwrap_or(WatcherChild { events: Events(None), child: None })
}

impl Drop for WatcherChild {
    fn drop(&mut self) {
        libperl::keep_from_children(std::iter::empty());
        self.events.are_done();
        if let Some(child) = self.child {
            let _ = waitpid(child, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::WarmUpOutcome;

    #[test]
    fn events_arrive_as_sent() {
        let (mut read, write) = pipe().unwrap();
        let events = Events(Some(write));
        let limit = Some((Duration::ZERO, Duration::from_secs(5)));
        events.begins(7, limit);
        events.ends(WarmUpOutcome::Status(404));
        events.skips();
        assert_eq!(events::read(&mut read).unwrap(), WatchEvent::Begins { number: 7, limit });
        assert_eq!(events::read(&mut read).unwrap(), WatchEvent::Ends(WarmUpOutcome::Status(404)));
        assert_eq!(events::read(&mut read).unwrap(), WatchEvent::Skipped);
        assert_eq!(events::read(&mut read).unwrap_err().kind(), ErrorKind::WouldBlock);
        events.are_done();
        assert_eq!(events::read(&mut read).unwrap(), WatchEvent::Done);
    }
}
