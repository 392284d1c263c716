//! Handles Ctrl-C while a shadow runs, so that the shadow is ended first.

use anyhow::bail;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// Blocks INT and TERM while this value exists.
pub struct InterruptGuard {
    before: SigSet,
    signals: SignalFd,
}

impl InterruptGuard {
    /// Blocks SIGINT and SIGTERM, which are then polled, until the guard is dropped.
    pub fn new() -> anyhow::Result<InterruptGuard> {
        let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
        let before = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        let signals = SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(InterruptGuard { before, signals })
    }

    /// Fails if a signal has arrived.
    pub fn check(&self) -> anyhow::Result<()> {
        match self.signals.read_signal()? {
            Some(_) => bail!("interrupted: nothing was changed"),
            None => Ok(()),
        }
    }
}

impl Drop for InterruptGuard {
    fn drop(&mut self) {
        let _ = self.before.thread_set_mask();
    }
}
