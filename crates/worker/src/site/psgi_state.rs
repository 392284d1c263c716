//! Requests of PSGI applications to the worker, for the time after their response.

use std::cell::Cell;

use libperl::PsgiRun;

/// Requests of the applications that ran since the last check.
#[derive(Default)]
pub struct PsgiState {
    leave: Cell<bool>,
    cleanup: Cell<bool>,
}

impl PsgiState {
    pub fn note(&self, run: &PsgiRun) {
        self.cleanup.set(self.cleanup.get() || run.needs_cleanup);
        self.leave.set(self.leave.get() || run.leave);
    }

    /// Whether an application asked this worker to leave (`psgix.harakiri.commit`).
    pub fn leaves(&self) -> bool {
        self.leave.get()
    }

    /// Forgets that an application asked this worker to leave.
    pub fn stay(&self) {
        self.leave.set(false);
    }

    /// Whether `psgix.cleanup.handlers` wait for the response to be sent; false from then on.
    pub fn take_cleanup(&self) -> bool {
        self.cleanup.take()
    }
}
