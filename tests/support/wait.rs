//! Waiting for a condition, never for a time.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(5);

/// How often a thread that sleeps for one step again and again has woken. On a machine that stands still it sleeps on.
static STEPS: LazyLock<&AtomicU64> = LazyLock::new(|| {
    let steps: &AtomicU64 = Box::leak(Box::default());
    spawn(move || {
        loop {
            sleep(STEP);
            steps.fetch_add(1, Ordering::Relaxed);
        }
    });
    steps
});

/// Measures how long something takes in steps of a thread that does nothing else: what must not take longer than a limit
/// is not taken for slow when the whole machine stood still.
pub struct Stopwatch(u64);

impl Stopwatch {
    /// Begins now.
    pub fn start() -> Stopwatch {
        Stopwatch(STEPS.load(Ordering::Relaxed))
    }

    /// Never more than has passed by the clock.
    pub fn elapsed(&self) -> Duration {
        let steps = STEPS.load(Ordering::Relaxed) - self.0;
        STEP * u32::try_from(steps).unwrap_or(u32::MAX)
    }
}

/// Waits until `condition` holds; fails the test when it does not within 30 s.
#[track_caller]
pub fn until(what: &str, condition: impl FnMut() -> bool) {
    within(PATIENCE, what, condition);
}

/// Waits until `condition` holds; fails the test when it does not in `limit`.
#[track_caller]
pub fn within(limit: Duration, what: &str, condition: impl FnMut() -> bool) {
    assert!(comes_true(limit, condition), "waited {limit:?} in vain until {what}");
}

/// Waits until `condition` holds; whether it did in `limit`.
pub fn comes_true(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let waiting = Stopwatch::start();
    while !condition() {
        if waiting.elapsed() >= limit {
            return false;
        }
        sleep(STEP);
    }
    true
}

/// Waits for a value.
#[track_caller]
pub fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let mut answer = None;
    until(what, || {
        answer = ask();
        answer.is_some()
    });
    answer.expect("the condition was that there is one")
}
