//! Waiting for a condition, never for a time.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

const STEP: Duration = Duration::from_millis(5);
/// The longest pause between two looks at a condition. A state that lasts is seen as soon, and looks cost other tests their processor.
const LONGEST_PAUSE: Duration = Duration::from_millis(40);

/// How long a test waits for anything that must happen: `CAMELEER_PATIENCE` in seconds, else 120 s. Only a failing test waits that long.
pub fn patience() -> Duration {
    static SECONDS: LazyLock<u64> = LazyLock::new(|| {
        let said = std::env::var("CAMELEER_PATIENCE").ok();
        said.map_or(120, |text| text.parse().expect("CAMELEER_PATIENCE is a number of seconds"))
    });
    Duration::from_secs(*SECONDS)
}

/// Wake-ups of a thread that only sleeps, one each [`STEP`]. A machine that stands still adds none.
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

/// Measures time in wake-ups of a sleeping thread, so that the time in which the whole machine stood still does not count.
struct Stopwatch(u64);

impl Stopwatch {
    fn start() -> Stopwatch {
        Stopwatch(STEPS.load(Ordering::Relaxed))
    }

    /// At most the time that has passed by the clock.
    fn elapsed(&self) -> Duration {
        let steps = STEPS.load(Ordering::Relaxed) - self.0;
        STEP * u32::try_from(steps).unwrap_or(u32::MAX)
    }
}

/// Waits until `condition` holds; fails the test when it does not in [`patience`].
#[track_caller]
pub fn until(what: &str, condition: impl FnMut() -> bool) {
    within(patience(), what, condition);
}

/// Waits until `condition` holds; fails the test when it does not in `limit`, for conditions that need more than [`patience`].
#[track_caller]
pub(super) fn within(limit: Duration, what: &str, condition: impl FnMut() -> bool) {
    assert!(comes_true(limit, condition), "waited {limit:?} in vain until {what}");
}

/// Waits until `condition` holds; whether it did in `limit`.
pub fn comes_true(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let waiting = Stopwatch::start();
    let mut pause = Duration::from_millis(1);
    while !condition() {
        if waiting.elapsed() >= limit {
            return false;
        }
        sleep(pause);
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
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
