//! Time limit for regular expressions of `.htaccess` files. Neither the author of such a file nor the client whose request is
//! matched may block the event thread for other clients.
//!
//! A thread that others wait for uses [`stretch`]. Each file has a reserve of CPU time, which is refilled a little in each
//! stretch. A file that exceeds its reserve is disabled for a while. The limit is on the CPU time of the thread, so machine load
//! does not count. CPU time is read only if the elapsed time, which is never less, exceeds the allowance.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// Initial and maximum reserve of a file. The first matches are slower, until the caches of the expressions are filled.
const RESERVE: Duration = Duration::from_millis(100);
/// Refill of the reserve for each stretch.
const ALLOWANCE: Duration = Duration::from_millis(2);
/// Time for which a file is disabled. It is limited, because a client may have sent the slow input.
const PAUSE: Duration = Duration::from_secs(60);

/// CPU time used by the expressions of one file.
#[derive(Debug)]
pub struct Meter {
    file: String,
    state: Mutex<MeterState>,
}

#[derive(Debug)]
struct MeterState {
    left: Duration,
    paused_until: Option<Instant>,
    untold: Option<String>,
}

/// Time that a thread has spent in expressions since [`stretch`] began.
#[derive(Default)]
struct Stretch {
    /// CPU time of the thread when the first expression began.
    begun: Option<Duration>,
    spenders: Vec<Spender>,
}

struct Spender {
    meter: Arc<Meter>,
    took: Duration,
    longest: (Duration, u32),
}

thread_local! {
    static STRETCH: RefCell<Option<Stretch>> = const { RefCell::new(None) };
}

/// Runs `work` on a thread that others wait for.
pub fn stretch<T>(work: impl FnOnce() -> T) -> T {
    let is_outer = STRETCH.with_borrow_mut(|stretch| {
        let is_outer = stretch.is_none();
        stretch.get_or_insert_default();
        is_outer
    });
    let done = work();
    if is_outer && let Some(mut stretch) = STRETCH.take() {
        stretch.charge();
    }
    done
}

impl Meter {
    /// A meter for a file of this name.
    pub fn new(file: String) -> Arc<Meter> {
        Arc::new(Meter { file, state: Mutex::new(MeterState { left: RESERVE, paused_until: None, untold: None }) })
    }

    /// Whether the file is disabled, so that results of its expressions are void.
    pub fn is_used_up(&self) -> bool {
        let mut state = self.state();
        let Some(until) = state.paused_until else { return false };
        let is_over = Instant::now() >= until;
        if is_over {
            (state.paused_until, state.left) = (None, RESERVE);
        }
        !is_over
    }

    /// The name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The message for the error log, if it was not fetched before.
    pub fn untold(&self) -> Option<String> {
        self.state().untold.take()
    }

    /// Runs the expression of a line. `None`: the file is disabled.
    pub(super) fn run<T>(self: &Arc<Self>, line: u32, look: impl FnOnce() -> T) -> Option<T> {
        if self.is_used_up() {
            return None;
        }
        let is_measured = STRETCH.with_borrow_mut(|stretch| match stretch {
            Some(stretch) => {
                stretch.begun.get_or_insert_with(cpu_time);
                true
            }
            None => false,
        });
        if !is_measured {
            return Some(look());
        }
        let begun = Instant::now();
        let found = look();
        let took = begun.elapsed();
        STRETCH.with_borrow_mut(|stretch| stretch.as_mut().map(|stretch| stretch.add(self, line, took)));
        Some(found)
    }

    fn fill(&self) {
        let mut state = self.state();
        state.left = RESERVE.min(state.left + ALLOWANCE);
    }

    fn charge(&self, cost: Duration, line: u32) {
        let mut state = self.state();
        match state.left.checked_sub(cost) {
            Some(left) => state.left = left,
            None if state.paused_until.is_none() => {
                state.paused_until = Some(Instant::now() + PAUSE);
                state.untold = Some(format!(
                    "{}:{line}: the regular expressions of this file take too long, and this line longest: its folder is \
                     refused for {} s or until the file changes; write simpler or fewer expressions, or write them in the main \
                     configuration",
                    self.file,
                    PAUSE.as_secs()
                ));
            }
            None => {}
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, MeterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stretch {
    fn add(&mut self, meter: &Arc<Meter>, line: u32, took: Duration) {
        match self.spenders.iter_mut().find(|spender| Arc::ptr_eq(&spender.meter, meter)) {
            Some(spender) => {
                spender.took += took;
                spender.longest = spender.longest.max((took, line));
            }
            None => {
                meter.fill();
                self.spenders.push(Spender { meter: meter.clone(), took, longest: (took, line) });
            }
        }
        if self.took() > meter.state().left {
            self.charge();
        }
    }

    fn took(&self) -> Duration {
        self.spenders.iter().map(|spender| spender.took).sum()
    }

    /// Charges the total time to each file that spent at least its share of it, so that several slow files cannot divide the
    /// time among them.
    fn charge(&mut self) {
        let took = self.took();
        let cost = match self.begun {
            Some(begun) if took > ALLOWANCE => {
                let now = cpu_time();
                self.begun = Some(now);
                took.min(now.saturating_sub(begun))
            }
            _ => took,
        };
        let parts = self.spenders.len() as u32;
        for spender in &mut self.spenders {
            if spender.took * parts >= took {
                spender.meter.charge(cost, spender.longest.1);
            }
            spender.took = Duration::ZERO;
        }
    }
}

fn cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses CPU time.
    fn toil(time: Duration) {
        let end = cpu_time() + time;
        while cpu_time() < end {}
    }

    #[test]
    fn a_slow_file_is_disabled_and_a_waiting_one_is_not() {
        let (slow, waiting, quick) = (Meter::new("slow".into()), Meter::new("waiting".into()), Meter::new("q".into()));
        stretch(|| {
            assert!(quick.run(1, || ()).is_some());
            assert!(waiting.run(1, || std::thread::sleep(RESERVE * 2)).is_some());
        });
        stretch(|| {
            assert!(quick.run(1, || ()).is_some());
            assert!(slow.run(1, || ()).is_some());
            assert!(slow.run(7, || toil(RESERVE * 2)).is_some());
            assert!(slow.run(8, || ()).is_none(), "at once");
        });
        assert!(slow.is_used_up() && !waiting.is_used_up() && !quick.is_used_up());
        assert!(slow.untold().is_some_and(|said| said.starts_with("slow:7: ")));
        assert!(slow.untold().is_none() && quick.untold().is_none());
    }

    #[test]
    fn the_reserve_is_used_up_gradually_and_files_share_their_time() {
        let files: Vec<_> = (0..5).map(|n| Meter::new(n.to_string())).collect();
        let rounds = (0..1000).take_while(|_| {
            stretch(|| files.iter().for_each(|file| file.run(1, || toil(ALLOWANCE)).unwrap_or_default()));
            !files.iter().any(|file| file.is_used_up())
        });
        assert!(rounds.count() < 50);
    }

    #[test]
    fn time_outside_of_a_stretch_is_not_charged() {
        let meter = Meter::new("x".into());
        assert!(meter.run(1, || toil(RESERVE * 2)).is_some() && !meter.is_used_up());
    }
}
