//! Ctrl-C: the first one ends the run with a report, a second one the program.

use std::io;

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use tokio::io::unix::AsyncFd;

/// INT and TERM, held back while this lives.
pub struct Interrupt {
    /// What was held back before, and is afterwards.
    before: SigSet,
    descriptor: AsyncFd<SignalFd>,
}

impl Interrupt {
    /// In the runtime that runs, whose only thread this is.
    #[allow(deprecated, reason = "the new spelling is unsafe; a SignalFd owns its descriptor and never changes it")]
    pub fn new() -> io::Result<Interrupt> {
        let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
        let before = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        let descriptor = SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Interrupt { before, descriptor: AsyncFd::new(descriptor)? })
    }

    /// Returns when one has come.
    pub async fn wait(&self) -> io::Result<()> {
        loop {
            let mut ready = self.descriptor.readable().await?;
            if let Ok(Some(_)) = self.descriptor.get_ref().read_signal() {
                return Ok(());
            }
            ready.clear_ready();
        }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        let _ = self.before.thread_set_mask();
    }
}
