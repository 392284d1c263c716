//! `CgiMode fork`: a script runs in a child of the worker, which has it compiled already. The child speaks to the front in the
//! worker's place and ends with the request: no global of one run is there in the next. The worker waits.

use std::io;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use super::Asker;
use crate::config::Handler;
use crate::config::program::CgiMode;
use crate::sys;
use crate::worker::Next;
use crate::worker::location::ResolvedLocation;
use crate::worker::log_context::report;
use crate::worker::site::Site;

/// What a child says by its exit code: it was well, or the worker must leave too.
const STAYS: i32 = 0;
const LEAVES: i32 = 10;

impl Site {
    /// Whether requests of this place have a process each.
    pub(super) fn forks(&self, location: &ResolvedLocation) -> bool {
        location.settings.handler == Handler::CgiScript && location.settings.program.mode == CgiMode::Fork
    }

    /// Compiles the request's script, if that is not done, and forks. `None` in the child.
    pub(super) fn fork_for(&self, request: u64) -> io::Result<Option<Pid>> {
        self.perl.env_begin();
        let prepared = self.perl.resolve_handler("Apache::Registry::prepare");
        if prepared.and_then(|prepare| self.perl.call_handler(&prepare, request)).is_err() {
            // The child meets the same, and says it.
            self.unwind();
        }
        let worker = getpid();
        libperl::next_fork_speaks(true);
        let forked = sys::fork();
        libperl::next_fork_speaks(false);
        let forked = forked?;
        if forked.is_none() {
            sys::die_with(worker)?;
            self.perl.is_request_child();
        }
        Ok(forked)
    }

    /// In the child, when all but the end is said: what a process does at its end.
    pub(super) fn child_is_done(&self, asker: &dyn Asker) {
        self.perl.end(false);
        self.perl.drain_output();
        if asker.has_heard() {
            // It was for the worker, which will never hear it.
            apache::child_terminate();
        }
    }

    /// Ends the child.
    pub(super) fn end_child(&self, next: Next) -> ! {
        self.perl.end_as_process();
        sys::exit_now(if next == Next::Leave { LEAVES } else { STAYS })
    }

    /// Waits for the child's end; a request that takes too long is the child's affair.
    pub(super) fn wait_for(&self, child: Pid, number: u64) -> Next {
        let handle = sys::pidfd_open(child);
        loop {
            match waitpid(child, None) {
                Err(Errno::EINTR) if libperl::is_late() => {
                    libperl::request_is(number); // so that the next signal is heard as well
                    if let Ok(handle) = &handle {
                        let _ = sys::pidfd_queue(handle.as_fd(), sys::deadline_signal(), number);
                    }
                }
                Err(Errno::EINTR) => {}
                Ok(WaitStatus::Exited(_, STAYS)) => return Next::Stay,
                Ok(WaitStatus::Signaled(_, signal, _)) => return lost(signal),
                _ => return Next::Leave,
            }
        }
    }
}

/// The front waits for an end that nobody says: that of the worker is heard.
fn lost(signal: Signal) -> Next {
    report(&format!("the script's process was killed by {signal}"));
    Next::Leave
}
