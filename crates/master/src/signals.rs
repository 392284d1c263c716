//! The signals of the master, read from a descriptor.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// Requests that signals stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalRequest {
    /// CHLD: a process has ended or was stopped.
    Reap,
    /// TERM, QUIT, WINCH: finish the requests under way, then end.
    StopGracefully,
    /// INT: stop immediately.
    StopFast,
    /// HUP: read the configuration and the code anew.
    Reload,
    /// USR1: reopen the logs.
    ReopenLogs,
    /// TTIN: one worker more, until the next reload.
    OneMore,
    /// TTOU: one worker fewer, until the next reload.
    OneFewer,
    /// URG: a worker becomes the mold.
    Refork,
    /// USR2: ignored.
    Nothing,
}

const OBEYED: [(Signal, SignalRequest); 11] = [
    (Signal::SIGCHLD, SignalRequest::Reap),
    (Signal::SIGTERM, SignalRequest::StopGracefully),
    (Signal::SIGQUIT, SignalRequest::StopGracefully),
    (Signal::SIGWINCH, SignalRequest::StopGracefully),
    (Signal::SIGINT, SignalRequest::StopFast),
    (Signal::SIGHUP, SignalRequest::Reload),
    (Signal::SIGUSR1, SignalRequest::ReopenLogs),
    (Signal::SIGUSR2, SignalRequest::Nothing),
    (Signal::SIGURG, SignalRequest::Refork),
    (Signal::SIGTTIN, SignalRequest::OneMore),
    (Signal::SIGTTOU, SignalRequest::OneFewer),
];

/// The signalfd of the master.
#[derive(Debug)]
pub struct Signals(SignalFd);

impl Signals {
    /// Blocks the signals, so that they wait to be read. Children must unblock them.
    pub fn block() -> io::Result<Signals> {
        sys::default_child_signal()?;
        let mut set: SigSet = OBEYED.iter().map(|(signal, _)| *signal).collect();
        // A terminal sends WINCH when its window changes size; see `waits_in_a_terminal`.
        if waits_in_a_terminal() {
            set.remove(Signal::SIGWINCH);
        }
        set.thread_block()?;
        Ok(Signals(SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?))
    }

    pub fn next(&self) -> Option<SignalRequest> {
        let arrived = self.0.read_signal().ok().flatten()?;
        OBEYED.iter().find(|(signal, _)| *signal as u32 == arrived.ssi_signo).map(|(_, request)| *request)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Whether a terminal may send WINCH when its window changes size. httpd takes that signal for a graceful stop.
fn waits_in_a_terminal() -> bool {
    use std::io::IsTerminal;
    io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal()
}
