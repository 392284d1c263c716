//! Waiting for a condition, never for a time.

use std::thread::sleep;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(5);

/// Waits until `condition` holds; fails the test when it does not within 20 s.
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
    let deadline = Instant::now() + limit;
    while !condition() {
        if Instant::now() >= deadline {
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
