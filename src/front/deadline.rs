//! `RequestTimeout`: what happens to a request that is in Perl for too long.
//!
//! ```text
//!   0 ─────────── RequestTimeout ───── half of the grace ───── RequestTimeoutGrace
//!     works         told: dies           told again: where       killed: 504
//!                   with its stack       it is stuck
//! ```
//!
//! Time in which a slow client holds the worker up does not count. A program that asks for more time starts anew.

use std::rc::Rc;
use std::time::{Duration, Instant};

use wire::control::FromFront;

use super::base::failure::Failure;
use super::exchange::Exchange;
use super::pool::Pool;
use super::worker::{Worker, describe};
use crate::log;

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Nothing,
    Interrupt,
    Kill,
}

impl Pool {
    /// Called by the clock.
    pub(super) fn enforce_deadlines(&self, now: Instant) {
        for worker in self.workers() {
            match due(&worker, now) {
                Due::Nothing => {}
                Due::Interrupt => self.interrupt(&worker),
                Due::Kill => {
                    self.discard_as(&worker, "has worked on one request for too long", Failure::RequestTimeout)
                }
            }
        }
    }

    fn interrupt(&self, worker: &Rc<Worker>) {
        let Some(exchange) = worker.exchange.borrow().clone() else { return };
        exchange.borrow_mut().interrupts += 1;
        let request = exchange.borrow().id;
        if exchange.borrow().interrupts == 1 {
            let what = describe(&exchange);
            log::warn(
                "front",
                format_args!("worker={} pid={} RequestTimeout has passed for {what}", worker.id.slot, worker.pid.get()),
            );
        }
        self.say(FromFront::Interrupt { worker: worker.id, request });
    }
}

fn due(worker: &Worker, now: Instant) -> Due {
    let exchange = worker.exchange.borrow();
    match exchange.as_ref().map(|exchange| exchange.borrow()) {
        Some(exchange) if !worker.is_paused() => due_after(&exchange, now.duration_since(exchange.started_at)),
        _ => Due::Nothing,
    }
}

fn due_after(exchange: &Exchange, worked: Duration) -> Due {
    let (run, grace) = (exchange.limits.run, exchange.limits.grace);
    if run.is_zero() || worked < run {
        return Due::Nothing;
    }
    if worked >= run.saturating_add(grace) {
        return Due::Kill;
    }
    match exchange.interrupts {
        0 => Due::Interrupt,
        1 if worked >= run + grace / 2 => Due::Interrupt,
        _ => Due::Nothing,
    }
}
