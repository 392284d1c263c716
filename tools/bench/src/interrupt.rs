//! Ctrl-C: the first one ends the run with a report, a second one the program.

use std::io;

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use tokio::io::unix::AsyncFd;

/// INT and TERM, held back while this lives, on this thread and those that it starts.
pub struct Held {
    /// What was held back before, and is afterwards.
    before: SigSet,
}

impl Held {
    /// Holds them back.
    pub fn new() -> io::Result<Held> {
        Ok(Held { before: signals().thread_swap_mask(SigmaskHow::SIG_BLOCK)? })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.before.thread_set_mask();
    }
}

fn signals() -> SigSet {
    SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM])
}

/// Tells when one of them has come; who has it holds them back.
pub struct Interrupt(AsyncFd<SignalFd>);

impl Interrupt {
    /// In the runtime that runs.
    #[allow(deprecated, reason = "the new spelling is unsafe; a SignalFd owns its descriptor and never changes it")]
    pub fn new() -> io::Result<Interrupt> {
        let descriptor = SignalFd::with_flags(&signals(), SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Interrupt(AsyncFd::new(descriptor)?))
    }

    /// Returns when one has come.
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
