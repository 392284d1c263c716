//! Delays refusals for lack of a worker. A client that is refused immediately may retry immediately; answering
//! thousands would use the processors that workers need. Refusals beyond a number in each second are therefore sent a
//! second later.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Number of refusals in each second that are sent without delay; more than a site of normal size sees.
const AT_ONCE: u32 = 500;
/// Delay of further refusals; at most as long as `Retry-After`.
const LATER: Duration = Duration::from_secs(1);

/// Count of refusals of all threads.
#[derive(Debug)]
pub struct Refusals {
    began: Instant,
    /// Low 32 bits: seconds since `began`. High 32 bits: refusals in that second.
    now: AtomicU64,
}

impl Refusals {
    /// Creates a count without refusals.
    pub fn new(now: Instant) -> Refusals {
        Refusals { began: now, now: AtomicU64::new(0) }
    }

    /// Counts a refusal, and returns the delay of its response.
    pub fn one_more(&self, now: Instant) -> Duration {
        let second = now.saturating_duration_since(self.began).as_secs() & u64::from(u32::MAX);
        let count = |known: u64| if known & u64::from(u32::MAX) == second { (known >> 32) + 1 } else { 1 };
        let next = |known: u64| Some(second | count(known).min(u64::from(u32::MAX)) << 32);
        let known = self.now.fetch_update(Relaxed, Relaxed, next).unwrap_or_else(|known| known);
        if count(known) > u64::from(AT_ONCE) { LATER } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_refusals_of_each_second_are_sent_at_once() {
        let began = Instant::now();
        let refusals = Refusals::new(began);
        for second in [0, 1, 100] {
            let now = began + Duration::from_secs(second);
            let held = (0..2 * AT_ONCE).filter(|_| !refusals.one_more(now).is_zero()).count();
            assert_eq!(held, AT_ONCE as usize, "second {second}");
        }
    }
}
