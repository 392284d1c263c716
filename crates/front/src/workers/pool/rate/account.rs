//! What one client has used of one limit.

use std::time::{Duration, Instant};

use config::scheduling::{Rate, SpeedLimit};

/// A client that is refused has one line of the log in so long.
const QUIET: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Account {
    requests: Level,
    pub(super) worker_seconds: Level,
    /// How many requests are at work.
    at_work: u32,
    /// When these began, summed up as seconds after `opened`.
    began: f64,
    opened: Instant,
    worker_rate: Option<Rate>,
    /// When a line was last written, and how many were refused since.
    told: Option<(Instant, u32)>,
}

/// So much is used, at that time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    pub(super) used: f64,
    at: Instant,
}

impl Account {
    pub(super) fn new(limit: &SpeedLimit, now: Instant) -> Account {
        let level = Level { used: 0.0, at: now };
        Account {
            requests: level,
            worker_seconds: level,
            at_work: 0,
            began: 0.0,
            opened: now,
            worker_rate: limit.worker_seconds,
            told: None,
        }
    }

    /// For how many seconds there is nothing left, if so.
    pub(super) fn missing(&self, limit: &SpeedLimit, now: Instant) -> Option<f64> {
        let requests = limit.requests.map(|rate| excess(rate, self.requests.at(rate, now).used + 1.0));
        let worker_seconds = limit
            .worker_seconds
            .map(|rate| excess(rate, self.worker_seconds.at(rate, now).used + self.unfinished(now)));
        // This request is in the first sum; what it will take a worker is in the second when it has.
        let requests = requests.filter(|missing| *missing > 0.0);
        let worker_seconds = worker_seconds.filter(|missing| *missing >= 0.0);
        requests.into_iter().chain(worker_seconds).reduce(f64::max)
    }

    pub(super) fn count(&mut self, limit: &SpeedLimit, now: Instant) {
        if let Some(rate) = limit.requests {
            self.requests = self.requests.at(rate, now).and(1.0);
        }
    }

    /// What the requests at work have taken so far.
    fn unfinished(&self, now: Instant) -> f64 {
        f64::from(self.at_work) * self.age(now) - self.began
    }

    fn age(&self, at: Instant) -> f64 {
        at.duration_since(self.opened).as_secs_f64()
    }

    /// A worker has a request of this client.
    pub(super) fn begin(&mut self, now: Instant) {
        self.at_work += 1;
        self.began += self.age(now);
    }

    /// A worker has no longer the request that [`Account::begin`] was told of then.
    pub(super) fn end(&mut self, since: Instant, now: Instant) {
        self.at_work -= 1;
        self.began -= self.age(since);
        if let Some(rate) = self.worker_rate {
            let took = now.duration_since(since).as_secs_f64();
            self.worker_seconds = self.worker_seconds.at(rate, now).and(took);
        }
    }

    /// How many requests of this client are at work.
    pub(super) fn at_work(&self) -> u32 {
        self.at_work
    }

    /// Whether it is time for a line, with how many were not told of.
    pub(super) fn tell(&mut self, now: Instant) -> Option<u32> {
        match &mut self.told {
            Some((at, more)) if now.duration_since(*at) < QUIET => {
                *more += 1;
                None
            }
            told => Some(told.replace((now, 0)).map_or(0, |(_, more)| more)),
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
