//! Workers that wait for a slow client are set free: the rest of their answer goes to a file.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::pool::Pool;
use super::worker::Worker;
use crate::log;

/// A client that only breathes in is not slow, and a file costs more than to wait for it.
const PATIENCE: Duration = Duration::from_millis(50);

impl Pool {
    /// Called by the clock.
    pub(super) fn free_from_slow_clients(&self, now: Instant, limit: u64) {
        let waits = |worker: &Worker| worker.paused_at().is_some_and(|since| now.duration_since(since) >= PATIENCE);
        for worker in self.workers().iter().filter(|worker| waits(worker)) {
            spool(worker, limit);
        }
    }
}

fn spool(worker: &Rc<Worker>, limit: u64) {
    let Some(exchange) = worker.exchange.borrow().clone() else { return };
    let begun = exchange.borrow_mut().pending.begin_spool(limit);
    match begun {
        Ok(true) => exchange.borrow_mut().resume(),
        Ok(false) => {}
        // It stays as it is: the worker waits for its client.
        Err(error) => {
            let folder = std::env::temp_dir();
            let slot = worker.slot;
            log::debug(
                "front",
                format_args!("worker={slot} waits for its client, no file in {}: {error}", folder.display()),
            );
        }
    }
}
