//! How many requests are refused because there is no worker for them. Who is refused at once may come again at once; when thousands do, answering
//! them would take the processors that the workers need. So, beyond a number, refusals of a second leave a second later.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// So many of a second leave at once: a site of normal size never sees more.
const AT_ONCE: u32 = 500;
/// The others leave so much later. It is no longer than `Retry-After` asks for.
const LATER: Duration = Duration::from_secs(1);

/// Of all threads.
#[derive(Debug)]
pub struct Refusals {
    began: Instant,
    /// The second, counted from `began`, and above that how many there were in it.
    now: AtomicU64,
}

impl Refusals {
    /// None yet.
    pub fn new(now: Instant) -> Refusals {
        Refusals { began: now, now: AtomicU64::new(0) }
    }

    /// One more. For how long its answer is held back.
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
    fn some_of_each_second_leave_at_once() {
        let began = Instant::now();
        let refusals = Refusals::new(began);
        for second in [0, 1, 100] {
            let now = began + Duration::from_secs(second);
            let held = (0..2 * AT_ONCE).filter(|_| !refusals.one_more(now).is_zero()).count();
            assert_eq!(held, AT_ONCE as usize, "second {second}");
        }
    }
}
