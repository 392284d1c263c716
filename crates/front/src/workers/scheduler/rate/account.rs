//! Usage of one limit by one client.

use std::time::{Duration, Instant};

use config::scheduling::{Rate, SpeedLimit};

use crate::limits::pace::UnreportedUsage;

/// Interval between log lines about a refused client.
const QUIET: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Account {
    requests: Level,
    pub(super) worker_seconds: Level,
    /// Number of requests at work.
    at_work: u32,
    /// Sum of the start times of the requests at work, in seconds after `opened`.
    began: f64,
    opened: Instant,
    worker_rate: Option<Rate>,
    /// Usage that the store of `LimitStore` has not counted.
    unreported: [Level; 2],
    /// Until when the store refuses the client.
    refused_until: Instant,
    /// Time of the last log line, and number of requests refused since.
    last_report: Option<(Instant, u32)>,
}

/// Usage at a given time.
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
            unreported: [level; 2],
            refused_until: now,
            last_report: None,
        }
    }

    /// Seconds until the client may send a request; `None`: now.
    pub(super) fn missing(&self, limit: &SpeedLimit, now: Instant) -> Option<f64> {
        let requests = limit.requests.map(|rate| excess(rate, self.requests.at(rate, now).used + 1.0));
        let worker_seconds = limit
            .worker_seconds
            .map(|rate| excess(rate, self.worker_seconds.at(rate, now).used + self.unfinished(now)));
        // The request count includes this request. Its worker time is unknown, so that usage must only be below the
        // limit.
        let requests = requests.filter(|missing| *missing > 0.0);
        let worker_seconds = worker_seconds.filter(|missing| *missing >= 0.0);
        let by_store = self.refused_until.saturating_duration_since(now).as_secs_f64();
        let by_store = Some(by_store).filter(|missing| *missing > 0.0);
        requests.into_iter().chain(worker_seconds).chain(by_store).reduce(f64::max)
    }

    /// Usage that the store has not counted, for a report. It counts as reported from now on.
    pub(super) fn take_unreported(&mut self, limit: &SpeedLimit, now: Instant) -> UnreportedUsage {
        let [requests, worker_seconds] = std::mem::replace(&mut self.unreported, [Level { used: 0.0, at: now }; 2]);
        let used = |level: Level, rate: Option<Rate>| rate.map_or(0.0, |rate| level.at(rate, now).used);
        UnreportedUsage {
            requests: used(requests, limit.requests),
            worker_seconds: used(worker_seconds, limit.worker_seconds),
            unfinished: self.unfinished(now).max(0.0),
            is_report: false,
        }
    }

    /// Whether the store has not counted all usage of requests that have ended.
    pub(super) fn has_unreported(&self, limit: &SpeedLimit, now: Instant) -> bool {
        let rates = [limit.requests, limit.worker_seconds];
        { self.unreported.iter().zip(rates) }
            .any(|(level, rate)| rate.is_some_and(|rate| level.at(rate, now).used > 0.0))
    }

    /// Notes usage that the store has not counted.
    pub(super) fn add_unreported(&mut self, limit: &SpeedLimit, usage: UnreportedUsage, now: Instant) {
        let rates = [(limit.requests, usage.requests), (limit.worker_seconds, usage.worker_seconds)];
        for (level, (rate, more)) in self.unreported.iter_mut().zip(rates) {
            if let Some(rate) = rate {
                *level = level.at(rate, now).and(more);
            }
        }
    }

    /// Notes that the store refuses the client for this time.
    pub(super) fn refuse(&mut self, wait: Duration, now: Instant) {
        self.refused_until = now + wait;
    }

    pub(super) fn count(&mut self, limit: &SpeedLimit, now: Instant) {
        if let Some(rate) = limit.requests {
            self.requests = self.requests.at(rate, now).and(1.0);
        }
    }

    /// Seconds that the requests at work have used so far.
    fn unfinished(&self, now: Instant) -> f64 {
        f64::from(self.at_work) * self.age(now) - self.began
    }

    fn age(&self, at: Instant) -> f64 {
        at.duration_since(self.opened).as_secs_f64()
    }

    /// Counts a request that a worker begins.
    pub(super) fn begin(&mut self, now: Instant) {
        self.at_work += 1;
        self.began += self.age(now);
    }

    /// Ends a request that began at `since`.
    pub(super) fn end(&mut self, since: Instant, now: Instant) {
        self.at_work -= 1;
        self.began -= self.age(since);
        if let Some(rate) = self.worker_rate {
            let took = now.duration_since(since).as_secs_f64();
            self.worker_seconds = self.worker_seconds.at(rate, now).and(took);
            let [_, unreported] = &mut self.unreported;
            *unreported = unreported.at(rate, now).and(took);
        }
    }

    pub(super) fn at_work(&self) -> u32 {
        self.at_work
    }

    /// Whether a log line is due; if so, the number of refusals that were not logged.
    pub(super) fn take_count(&mut self, now: Instant) -> Option<u32> {
        match &mut self.last_report {
            Some((at, more)) if now.duration_since(*at) < QUIET => {
                *more += 1;
                None
            }
            reported => Some(reported.replace((now, 0)).map_or(0, |(_, more)| more)),
        }
    }
}

/// Seconds until the usage above the limit has drained.
fn excess(rate: Rate, used: f64) -> f64 {
    (used - f64::from(rate.amount)) / speed(rate)
}

fn speed(rate: Rate) -> f64 {
    f64::from(rate.amount) / rate.period.as_secs_f64()
}

impl Level {
    /// Usage after draining until `now`.
    fn at(self, rate: Rate, now: Instant) -> Level {
        let drained = now.duration_since(self.at).as_secs_f64() * speed(rate);
        Level { used: (self.used - drained).max(0.0), at: now }
    }

    fn and(self, more: f64) -> Level {
        Level { used: self.used + more, ..self }
    }
}
