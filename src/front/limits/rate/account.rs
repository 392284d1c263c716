//! What one client has used of one limit.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::config::admission::{Rate, SpeedLimit};

/// A client that is refused has one line of the log in so long.
const QUIET: Duration = Duration::from_secs(60);

/// See the module's text.
pub struct Account {
    requests: Cell<Level>,
    pub(super) worker_seconds: Cell<Level>,
    /// Requests at work, and when they began, summed up as seconds after `opened`.
    at_work: Cell<(u32, f64)>,
    opened: Instant,
    worker_rate: Option<Rate>,
    /// When a line was last written, and how many were refused since.
    told: Cell<Option<(Instant, u32)>>,
}

/// So much is used, at that time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    pub(super) used: f64,
    at: Instant,
}

/// The time that one request takes a worker, on its way to an account.
pub struct Charge {
    account: Rc<Account>,
    since: Option<Instant>,
}

impl Account {
    pub(super) fn new(limit: &SpeedLimit, now: Instant) -> Account {
        let level = Level { used: 0.0, at: now };
        Account {
            requests: Cell::new(level),
            worker_seconds: Cell::new(level),
            at_work: Cell::default(),
            opened: now,
            worker_rate: limit.worker_seconds,
            told: Cell::default(),
        }
    }

    /// For how many seconds there is nothing left, if so.
    pub(super) fn missing(&self, limit: &SpeedLimit, now: Instant) -> Option<f64> {
        let requests = limit.requests.map(|rate| excess(rate, self.requests.get().at(rate, now).used + 1.0));
        let worker_seconds = limit
            .worker_seconds
            .map(|rate| excess(rate, self.worker_seconds.get().at(rate, now).used + self.unfinished(now)));
        // This request is in the first sum; what it will take a worker is in the second when it has.
        let requests = requests.filter(|missing| *missing > 0.0);
        let worker_seconds = worker_seconds.filter(|missing| *missing >= 0.0);
        requests.into_iter().chain(worker_seconds).reduce(f64::max)
    }

    pub(super) fn count(&self, limit: &SpeedLimit, now: Instant) {
        if let Some(rate) = limit.requests {
            self.requests.set(self.requests.get().at(rate, now).and(1.0));
        }
    }

    /// What the requests at work have taken so far.
    fn unfinished(&self, now: Instant) -> f64 {
        let (count, began) = self.at_work.get();
        f64::from(count) * now.duration_since(self.opened).as_secs_f64() - began
    }

    /// Whether it is time for a line, with how many were not told of.
    pub(super) fn told(&self, now: Instant) -> Option<u32> {
        match self.told.get() {
            Some((at, more)) if now.duration_since(at) < QUIET => {
                self.told.set(Some((at, more + 1)));
                None
            }
            told => {
                self.told.set(Some((now, 0)));
                Some(told.map_or(0, |(_, more)| more))
            }
        }
    }
}

/// How many seconds it takes until what is above the limit has drained away.
fn excess(rate: Rate, used: f64) -> f64 {
    (used - f64::from(rate.amount)) / speed(rate)
}

fn speed(rate: Rate) -> f64 {
    f64::from(rate.amount) / rate.period.as_secs_f64()
}

impl Level {
    /// What is left of it at that time.
    fn at(self, rate: Rate, now: Instant) -> Level {
        let drained = now.duration_since(self.at).as_secs_f64() * speed(rate);
        Level { used: (self.used - drained).max(0.0), at: now }
    }

    fn and(self, more: f64) -> Level {
        Level { used: self.used + more, ..self }
    }
}

impl Charge {
    /// For a request that has not begun.
    pub fn new(account: &Rc<Account>) -> Charge {
        Charge { account: account.clone(), since: None }
    }

    /// A worker has it.
    pub fn begin(&mut self, now: Instant) {
        self.end(now);
        let (count, began) = self.account.at_work.get();
        self.account.at_work.set((count + 1, began + now.duration_since(self.account.opened).as_secs_f64()));
        self.since = Some(now);
    }

    /// No worker has it any more.
    pub fn end(&mut self, now: Instant) {
        let (Some(since), account) = (self.since.take(), &self.account) else { return };
        let (count, began) = account.at_work.get();
        account.at_work.set((count - 1, began - since.duration_since(account.opened).as_secs_f64()));
        if let Some(rate) = account.worker_rate {
            let took = now.duration_since(since).as_secs_f64();
            account.worker_seconds.set(account.worker_seconds.get().at(rate, now).and(took));
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.end(Instant::now());
    }
}
