//! Waiting for conditions instead of fixed times.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

const STEP: Duration = Duration::from_millis(5);
/// The longest pause between two checks of a condition. More frequent checks would take CPU time from other tests.
const MAX_PAUSE: Duration = Duration::from_millis(40);

/// The longest time that a test waits for a condition: `CAMELEER_PATIENCE` in seconds, by default 120 s. Only a failing
/// test waits that long.
pub fn patience() -> Duration {
    static SECONDS: LazyLock<u64> = LazyLock::new(|| {
        let configured = std::env::var("CAMELEER_PATIENCE").ok();
        configured.map_or(120, |text| text.parse().expect("CAMELEER_PATIENCE is a number of seconds"))
    });
    Duration::from_secs(*SECONDS)
}

/// Number of wake-ups of a thread that sleeps for [`STEP`] in a loop. While the whole machine stalls, the number does
/// not grow.
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

/// Measures time in wake-ups of a sleeping thread, so that time in which the whole machine stalls does not count.
struct Stopwatch(u64);

impl Stopwatch {
    fn start() -> Stopwatch {
        Stopwatch(STEPS.load(Ordering::Relaxed))
    }

    /// Never longer than the elapsed time of the clock.
    fn elapsed(&self) -> Duration {
        let steps = STEPS.load(Ordering::Relaxed) - self.0;
        STEP * u32::try_from(steps).unwrap_or(u32::MAX)
    }
}

/// Lets at least `time` pass, for a server or a client of a test that is slow. A test that waits for something uses
/// [`until`].
pub fn let_pass(time: Duration) {
    sleep(time);
}

/// Waits until `condition` holds. Fails the test after [`patience`].
#[track_caller]
pub fn until(what: &str, condition: impl FnMut() -> bool) {
    within(patience(), what, condition);
}

/// Waits until `condition` holds. Fails the test after `limit`, for conditions that need longer than [`patience`].
#[track_caller]
pub(super) fn within(limit: Duration, what: &str, condition: impl FnMut() -> bool) {
    assert!(comes_true(limit, condition), "waited {limit:?} in vain until {what}");
}

/// Waits until `condition` holds. Returns whether the condition held within `limit`.
pub fn comes_true(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let waiting = Stopwatch::start();
    let mut pause = Duration::from_millis(1);
    while !condition() {
        if waiting.elapsed() >= limit {
            return false;
        }
        sleep(pause);
        pause = (pause * 3 / 2).min(MAX_PAUSE);
    }
    true
}

/// Waits until `ask` returns a value. Fails the test after [`patience`].
#[track_caller]
pub fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let mut answer = None;
    until(what, || {
        answer = ask();
        answer.is_some()
    });
    answer.expect("the condition was that there is one")
}
