//! The slowest requests of the last minutes, for the status page. A faster request costs only one comparison.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use wire::control::SlowRequest;

use super::lock::lock;

/// Maximum number of requests in each window.
const MOST: usize = 20;
/// Length of a window. The current and the previous one are shown.
const WINDOW: Duration = Duration::from_secs(150);

/// The slowest requests of the current and the previous window.
#[derive(Debug, Default)]
pub struct Slowest {
    /// Requests of at most this duration, in µs, are not recorded.
    floor_us: AtomicU64,
    windows: Mutex<Windows>,
}

#[derive(Debug, Default)]
struct Windows {
    began: Option<Instant>,
    now: Vec<SlowRequest>,
    before: Vec<SlowRequest>,
}

impl Slowest {
    /// Records a request of duration `took`, if it is slow enough; `tell` builds its description.
    pub fn note(&self, took: Duration, tell: impl FnOnce() -> SlowRequest) {
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if took_us <= self.floor_us.load(Relaxed) {
            return;
        }
        let mut windows = lock(&self.windows);
        windows.pass(Instant::now());
        windows.now.push(tell());
        windows.now.sort_by_key(|request| std::cmp::Reverse(request.took_us()));
        windows.now.truncate(MOST);
        self.floor_us.store(windows.floor_us(), Relaxed);
    }

    /// The slowest requests, slowest first.
    pub fn list(&self) -> Vec<SlowRequest> {
        let mut windows = lock(&self.windows);
        windows.pass(Instant::now());
        self.floor_us.store(windows.floor_us(), Relaxed);
        let mut all: Vec<SlowRequest> = windows.now.iter().chain(&windows.before).cloned().collect();
        all.sort_by_key(|request| std::cmp::Reverse(request.took_us()));
        all.truncate(MOST);
        all
    }
}

impl Windows {
    /// Begins another window when the current one is over.
    fn pass(&mut self, now: Instant) {
        let began = *self.began.get_or_insert(now);
        let age = now.saturating_duration_since(began);
        if age >= WINDOW {
            self.before = std::mem::take(&mut self.now);
            self.began = Some(now);
        }
        if age >= 2 * WINDOW {
            self.before.clear();
        }
    }

    /// The duration that a request must exceed; 0 while the window has room.
    fn floor_us(&self) -> u64 {
        self.now.get(MOST - 1).map_or(0, SlowRequest::took_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(us: u64) -> SlowRequest {
        SlowRequest { request: format!("GET /{us}"), served_us: us, ..SlowRequest::default() }
    }

    #[test]
    fn the_slowest_are_known_and_the_others_cost_nothing() {
        let slowest = Slowest::default();
        (1..=100).for_each(|us| slowest.note(Duration::from_micros(us), || request(us)));
        let known: Vec<u64> = slowest.list().iter().map(SlowRequest::took_us).collect();
        assert_eq!(known, (81..=100).rev().collect::<Vec<_>>());
        slowest.note(Duration::from_micros(81), || panic!("it is not asked what that was"));
    }

    #[test]
    fn old_requests_are_forgotten() {
        let (mut windows, now) = (Windows::default(), Instant::now());
        windows.pass(now);
        windows.now.push(request(5));
        windows.pass(now + WINDOW);
        assert_eq!((windows.now.len(), windows.before.len()), (0, 1));
        windows.pass(now + 2 * WINDOW);
        assert_eq!(windows.before.len(), 0);
    }
}
