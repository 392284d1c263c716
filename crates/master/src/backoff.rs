//! Waits between attempts after a failure: 0.1 s, 0.2 s, … 30 s, or a shorter maximum where no other process can serve
//! meanwhile. 30 s without a failure reset the wait.

use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_millis(100);
const MAX_DURATION: Duration = Duration::from_secs(30);

/// Number of consecutive failures.
#[derive(Debug)]
pub struct Backoff {
    failures: u32,
    until: Option<Instant>,
    longest: Duration,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff::up_to(MAX_DURATION)
    }
}

impl Backoff {
    /// A backoff with `longest` as its maximum wait.
    pub fn up_to(longest: Duration) -> Backoff {
        Backoff { failures: 0, until: None, longest }
    }

    /// Notes a failure and returns the wait. Failures during a wait belong to the same batch and do not lengthen it.
    pub fn failed(&mut self, now: Instant) -> Duration {
        if let Some(until) = self.until.filter(|until| *until > now) {
            return until - now;
        }
        if self.until.is_some_and(|until| now - until >= MAX_DURATION) {
            self.failures = 0;
        }
        let wait = FIRST.saturating_mul(1 << self.failures.min(16)).min(self.longest);
        self.failures += 1;
        self.until = Some(now + wait);
        wait
    }

    /// Notes a success: the next wait is the shortest one.
    pub fn succeeded(&mut self) {
        *self = Backoff::up_to(self.longest);
    }

    /// Number of attempts that may begin now while `trying` are under way. After a failure: one at a time.
    pub fn allows(&self, now: Instant, trying: u32) -> u32 {
        match self.until {
            None => u32::MAX,
            Some(until) if now < until || trying > 0 => 0,
            Some(_) => 1,
        }
    }

    /// The end of the wait after the last failure, be it past.
    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// The end of a wait under way.
    pub fn ends(&self, now: Instant) -> Option<Instant> {
        self.until.filter(|until| *until > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_half_a_minute() {
        let mut now = Instant::now();
        let mut backoff = Backoff::default();
        let mut waits = Vec::new();
        for _ in 0..11 {
            let wait = backoff.failed(now);
            waits.push(wait.as_millis());
            now += wait;
        }
        assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000]);
    }

    #[test]
    fn a_long_time_without_failures_resets_the_wait() {
        let now = Instant::now();
        let mut backoff = Backoff::up_to(FIRST * 2);
        assert_eq!(backoff.failed(now), FIRST);
        assert_eq!(backoff.failed(now + FIRST), FIRST * 2);
        assert_eq!(backoff.failed(now + FIRST * 10), FIRST * 2, "that is the longest");
        assert_eq!(backoff.failed(now + MAX_DURATION * 2), FIRST);
    }

    #[test]
    fn failures_of_one_batch_count_once() {
        let now = Instant::now();
        let mut backoff = Backoff::default();
        assert_eq!(backoff.failed(now), FIRST);
        assert_eq!(backoff.failed(now), FIRST);
        assert_eq!(backoff.failed(now + FIRST), FIRST * 2);
    }

    #[test]
    fn after_a_failure_one_at_a_time_is_tried_until_one_works() {
        let now = Instant::now();
        let mut backoff = Backoff::default();
        assert_eq!(backoff.allows(now, 4), u32::MAX);
        backoff.failed(now);
        assert_eq!(backoff.allows(now, 0), 0);
        assert_eq!(backoff.allows(now + FIRST, 0), 1);
        assert_eq!(backoff.allows(now + FIRST, 1), 0);
        backoff.succeeded();
        assert_eq!(backoff.allows(now, 0), u32::MAX);
    }
}
