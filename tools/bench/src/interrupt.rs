//! Ctrl-C: the first one ends the run with a report, a second one the program.

use std::io;

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use tokio::io::unix::AsyncFd;

/// Blocks INT and TERM while it lives, for this thread and threads that it starts.
pub struct BlockedSignals {
    /// The signal mask to restore.
    before: SigSet,
}

impl BlockedSignals {
    pub fn new() -> io::Result<BlockedSignals> {
        Ok(BlockedSignals { before: signals().thread_swap_mask(SigmaskHow::SIG_BLOCK)? })
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        let _ = self.before.thread_set_mask();
    }
}

fn signals() -> SigSet {
    SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM])
}

/// Waits for one of the signals, which must be blocked.
pub struct Interrupt(AsyncFd<SignalFd>);

impl Interrupt {
    /// Waits for the signal in the current tokio runtime.
    #[allow(deprecated, reason = "the new spelling is unsafe; a SignalFd owns its descriptor and never changes it")]
    pub fn new() -> io::Result<Interrupt> {
        let descriptor = SignalFd::with_flags(&signals(), SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Interrupt(AsyncFd::new(descriptor)?))
    }

    /// Returns when a signal has come.
    pub async fn wait(&self) -> io::Result<()> {
        loop {
            let mut ready = self.0.readable().await?;
            if let Ok(Some(_)) = self.0.get_ref().read_signal() {
                return Ok(());
            }
            ready.clear_ready();
        }
    }
}
