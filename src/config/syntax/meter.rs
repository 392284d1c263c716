//! How long the regular expressions of `.htaccess` files take at work. Whoever writes such a file, or sends what it is held
//! against, must not keep the event thread from everybody else.
//!
//! A thread says in [`stretch`] that others wait for it. Each file has a reserve of processor time that fills up a little
//! with each stretch; a file that has used it up is refused for a while. What is measured is the thread's own time, so a
//! loaded machine costs no file anything. The kernel is asked for it only where the clock on the wall, which never shows
//! less, says that it may be too much.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// What expressions may need at first, when what they remember at work is not there yet.
const RESERVE: Duration = Duration::from_millis(100);
/// What is added for each stretch.
const ALLOWANCE: Duration = Duration::from_millis(2);
/// So long a file is refused: it may be a client that has sent what takes long.
const PAUSE: Duration = Duration::from_secs(60);

/// The time of the expressions of one file.
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

/// What a thread has spent since [`stretch`] began.
#[derive(Default)]
struct Stretch {
    /// The thread's time when the first expression began.
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

/// Does `work` on a thread that others wait for.
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
    /// Of a file of this name.
    pub fn new(file: String) -> Arc<Meter> {
        Arc::new(Meter { file, state: Mutex::new(MeterState { left: RESERVE, paused_until: None, untold: None }) })
    }

    /// Whether its file has used up its time, so that what its expressions find does not count.
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

    /// What the log does not say yet about why.
    pub fn untold(&self) -> Option<String> {
        self.state().untold.take()
    }

    /// Looks for the expression of a line; `None`: the time is used up.
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
                    "{}:{line}: the regular expressions of this file take too long, this one the longest: its folder is \
                     refused for {} s or until the file changes; write simpler ones, fewer, or write them in the main \
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

    /// Takes all that was spent from each file that has spent its part of it: many files that are slow together are each as
    /// slow as one.
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

/// What this thread has used of a processor.
fn cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps the processor busy.
    fn toil(time: Duration) {
        let end = cpu_time() + time;
        while cpu_time() < end {}
    }

    #[test]
    fn a_file_that_takes_long_is_refused_and_one_that_waits_is_not() {
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
    fn a_little_too_much_is_too_much_in_the_end_and_files_share_what_they_spend() {
        let files: Vec<_> = (0..5).map(|n| Meter::new(n.to_string())).collect();
        let rounds = (0..1000).take_while(|_| {
            stretch(|| files.iter().for_each(|file| file.run(1, || toil(ALLOWANCE)).unwrap_or_default()));
            !files.iter().any(|file| file.is_used_up())
        });
        assert!(rounds.count() < 50);
    }

    #[test]
    fn nobody_waits_for_other_threads() {
        let meter = Meter::new("x".into());
        assert!(meter.run(1, || toil(RESERVE * 2)).is_some() && !meter.is_used_up());
    }
}
