//! Ctrl-C: the first one ends the run with a report, a second one the program.

use std::io;

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use tokio::io::unix::AsyncFd;

/// INT and TERM, held back while this lives.
pub struct Interrupt {
    signals: SigSet,
    descriptor: AsyncFd<SignalFd>,
}

impl Interrupt {
    /// In the runtime that runs, whose only thread this is.
    #[allow(deprecated, reason = "the new spelling is unsafe; a SignalFd owns its descriptor and never changes it")]
    pub fn new() -> io::Result<Interrupt> {
        let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
        signals.thread_block()?;
        let descriptor = SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Interrupt { signals, descriptor: AsyncFd::new(descriptor)? })
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
        let _ = self.signals.thread_unblock();
    }
}
