//! Time limit for regular expressions of `.htaccess` files. Neither the author of such a file nor the client whose
//! request is matched may block the event thread for other clients.
//!
//! A thread that others wait for uses [`stretch`]. Files have a `Reserve` of CPU time, which is refilled a little in
//! each stretch. Files that exceed their reserve are disabled for a while. The limit is on the CPU time of the thread,
//! so machine load does not count. CPU time is read only if the elapsed time, which is never less, exceeds the
//! allowance.
//!
//! A file in a folder of root has a reserve of its own. All files of another owner share the reserve of the topmost
//! folder of that owner, so a tenant gains no time by more folders.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// Initial and maximum reserve. The first matches are slower, until the caches of the expressions are filled.
const RESERVE: Duration = Duration::from_millis(100);
/// Refill of the reserve for each stretch.
const ALLOWANCE: Duration = Duration::from_millis(2);
/// Time for which files are disabled. It is limited, because a client may have sent the slow input.
const PAUSE: Duration = Duration::from_secs(60);

/// CPU time used by the expressions of one file.
#[derive(Debug)]
pub struct Meter {
    file: String,
    /// Digest of the text.
    digest: u64,
    reserve: Arc<Reserve>,
}

/// CPU time for the expressions of all files of a tenant.
#[derive(Debug)]
struct Reserve {
    /// Topmost folder of the tenant. `None`: the reserve belongs to a single file.
    top: Option<PathBuf>,
    state: Mutex<ReserveState>,
}

#[derive(Debug)]
struct ReserveState {
    left: Duration,
    pause: Option<Pause>,
    unlogged: Option<String>,
}

/// Why and how long the files are disabled. A change of the slowest file ends the pause.
#[derive(Debug)]
struct Pause {
    until: Instant,
    file: String,
    digest: u64,
}

/// Reserves of all tenants in this process. Each thread reads the files separately, but all threads share the reserve.
static RESERVES: LazyLock<Mutex<HashMap<PathBuf, Weak<Reserve>>>> = LazyLock::new(Mutex::default);

/// Time that a thread has spent in expressions since [`stretch`] began.
#[derive(Default)]
struct Stretch {
    /// CPU time of the thread when the first expression began.
    begun: Option<Duration>,
    spenders: Vec<Spender>,
}

/// Time spent on the files of one reserve, with the slowest line and its file.
struct Spender {
    took: Duration,
    longest: (Duration, u32),
    meter: Arc<Meter>,
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
    /// A meter for a file of this name and text in `folder`. Reads the owners of folders, so it may block on a disk.
    pub fn new(folder: &Path, file: String, text: &str) -> Arc<Meter> {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let meter = Meter { file, digest: hasher.finish(), reserve: Reserve::of(topmost(folder)) };
        let mut state = meter.reserve.state();
        if state.pause.as_ref().is_some_and(|pause| pause.file == meter.file && pause.digest != meter.digest) {
            (state.pause, state.left) = (None, RESERVE);
        }
        drop(state);
        Arc::new(meter)
    }

    /// Whether the file is disabled, so that results of its expressions are void.
    pub fn is_used_up(&self) -> bool {
        let mut state = self.reserve.state();
        let Some(pause) = &state.pause else { return false };
        let is_over = Instant::now() >= pause.until;
        if is_over {
            (state.pause, state.left) = (None, RESERVE);
        }
        !is_over
    }

    /// Absolute path, for messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The message for the error log, if it was not fetched before.
    pub fn unlogged(&self) -> Option<String> {
        self.reserve.state().unlogged.take()
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
        let begun = read(ClockId::CLOCK_MONOTONIC);
        let found = look();
        let took = read(ClockId::CLOCK_MONOTONIC).saturating_sub(begun);
        STRETCH.with_borrow_mut(|stretch| stretch.as_mut().map(|stretch| stretch.add(self, line, took)));
        Some(found)
    }

    /// Charges `cost` to the reserve. `line` of this file was the slowest.
    fn charge(&self, cost: Duration, line: u32) {
        let mut state = self.reserve.state();
        match state.left.checked_sub(cost) {
            Some(left) => state.left = left,
            None if state.pause.is_none() => {
                let until = Instant::now() + PAUSE;
                state.pause = Some(Pause { until, file: self.file.clone(), digest: self.digest });
                state.unlogged = Some(self.explain(line));
            }
            None => {}
        }
    }

    fn explain(&self, line: u32) -> String {
        let (with, what) = match &self.reserve.top {
            None => (String::new(), "everything in its folder".to_owned()),
            Some(top) => {
                let top = top.display();
                (format!(" with those of the other .htaccess files below {top}"), format!("everything below {top}"))
            }
        };
        format!(
            "{}:{line}: the regular expressions of this file take too long{with}, and this line longest: {what} is refused for {} s or \
             until the file changes; write simpler or fewer expressions, or write them in the main configuration",
            self.file,
            PAUSE.as_secs()
        )
    }
}

impl Reserve {
    /// The reserve of the tenant with this topmost folder; without one, a new reserve for a single file.
    fn of(top: Option<PathBuf>) -> Arc<Reserve> {
        let new = |top| {
            let state = ReserveState { left: RESERVE, pause: None, unlogged: None };
            Arc::new(Reserve { top, state: Mutex::new(state) })
        };
        let Some(top) = top else { return new(None) };
        let mut all = RESERVES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(&top).and_then(Weak::upgrade) {
            return known;
        }
        all.retain(|_, known| known.strong_count() > 0);
        let reserve = new(Some(top.clone()));
        all.insert(top, Arc::downgrade(&reserve));
        reserve
    }

    fn fill(&self) {
        let mut state = self.state();
        state.left = RESERVE.min(state.left + ALLOWANCE);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ReserveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The outermost folder above `folder` with the same owner. `None`: the owner is root or unknown.
fn topmost(folder: &Path) -> Option<PathBuf> {
    let owner = |folder: &Path| folder.metadata().ok().map(|it| it.uid());
    let own = owner(folder).filter(|uid| *uid != 0)?;
    folder.ancestors().filter(|above| owner(above) == Some(own)).last().map(Path::to_owned)
}

impl Stretch {
    fn add(&mut self, meter: &Arc<Meter>, line: u32, took: Duration) {
        match self.spenders.iter_mut().find(|spender| Arc::ptr_eq(&spender.meter.reserve, &meter.reserve)) {
            Some(spender) => {
                spender.took += took;
                if took > spender.longest.0 {
                    (spender.longest, spender.meter) = ((took, line), meter.clone());
                }
            }
            None => {
                meter.reserve.fill();
                self.spenders.push(Spender { meter: meter.clone(), took, longest: (took, line) });
            }
        }
        if self.took() > meter.reserve.state().left {
            self.charge();
        }
    }

    fn took(&self) -> Duration {
        self.spenders.iter().map(|spender| spender.took).sum()
    }

    /// Charges the total time to each reserve that spent at least its share of it, so that several slow files cannot
    /// divide the time among them.
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

/// CPU time of this thread.
pub fn cpu_time() -> Duration {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

/// Reads the clock. The tests below set both clocks by hand.
fn read(clock: ClockId) -> Duration {
    #[cfg(test)]
    if let Some(times) = tests::TIMES.get() {
        return if clock == ClockId::CLOCK_MONOTONIC { times.elapsed } else { times.used };
    }
    clock_gettime(clock).map(Duration::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[derive(Debug, Clone, Copy, Default)]
    pub(super) struct Times {
        pub(super) elapsed: Duration,
        /// CPU time of the thread.
        pub(super) used: Duration,
    }

    thread_local! {
        /// `None`: the clocks of the machine.
        pub(super) static TIMES: Cell<Option<Times>> = const { Cell::new(None) };
    }

    /// Clocks that only [`toil`] and [`wait`] advance, so that other load does not count.
    struct ClocksByHand;

    impl ClocksByHand {
        fn start() -> ClocksByHand {
            TIMES.set(Some(Times::default()));
            ClocksByHand
        }
    }

    impl Drop for ClocksByHand {
        fn drop(&mut self) {
            TIMES.set(None);
        }
    }

    fn pass(elapsed: Duration, used: Duration) {
        let times = TIMES.get().expect("a test with clocks by hand");
        TIMES.set(Some(Times { elapsed: times.elapsed + elapsed, used: times.used + used }));
    }

    /// Uses CPU time.
    fn toil(time: Duration) {
        pass(time, time);
    }

    /// Lets time pass without use of the processor.
    fn wait(time: Duration) {
        pass(time, Duration::ZERO);
    }

    /// A meter for a file in a folder of root.
    fn meter(file: &str) -> Arc<Meter> {
        Meter::new(Path::new("/"), file.to_owned(), "")
    }

    #[test]
    fn a_slow_file_is_disabled_and_a_waiting_one_is_not() {
        let _clocks = ClocksByHand::start();
        let (slow, waiting, quick) = (meter("slow"), meter("waiting"), meter("quick"));
        stretch(|| {
            assert!(quick.run(1, || ()).is_some());
            assert!(waiting.run(1, || wait(RESERVE * 2)).is_some());
        });
        stretch(|| {
            assert!(quick.run(1, || ()).is_some());
            assert!(slow.run(1, || ()).is_some());
            assert!(slow.run(7, || toil(RESERVE * 2)).is_some());
            assert!(slow.run(8, || ()).is_none(), "at once");
        });
        assert!(slow.is_used_up() && !waiting.is_used_up() && !quick.is_used_up());
        assert!(slow.unlogged().is_some_and(|line| line.starts_with("slow:7: ")));
        assert!(slow.unlogged().is_none() && quick.unlogged().is_none());
    }

    #[test]
    fn the_reserve_is_used_up_gradually_and_files_share_their_time() {
        let _clocks = ClocksByHand::start();
        let files: Vec<_> = (0..5).map(|n| meter(&n.to_string())).collect();
        let rounds = (0..1000).take_while(|_| {
            stretch(|| files.iter().for_each(|file| file.run(1, || toil(ALLOWANCE)).unwrap_or_default()));
            !files.iter().any(|file| file.is_used_up())
        });
        assert!(rounds.count() < 50);
    }

    #[test]
    fn files_of_one_owner_share_their_time_until_the_slowest_of_them_changes() {
        let _clocks = ClocksByHand::start();
        let top = PathBuf::from("/home/ann");
        let of =
            |file: &str, digest| Arc::new(Meter { file: file.into(), digest, reserve: Reserve::of(Some(top.clone())) });
        let (one, other, neighbour) = (of("one", 1), of("other", 1), Reserve::of(Some("/home/bob".into())));
        let rounds = (0..1000).take_while(|_| {
            stretch(|| [&one, &other].map(|file| file.run(3, || toil(2 * ALLOWANCE))));
            !one.is_used_up()
        });
        assert!(rounds.count() < 50 && other.is_used_up() && of("new", 1).is_used_up());
        assert!(neighbour.state().pause.is_none());
        let line = one.unlogged().expect("a line for the log");
        assert!(line.contains("below /home/ann") && other.unlogged().is_none(), "{line}");
        let slowest = one.reserve.state().pause.as_ref().map(|pause| pause.file.clone()).expect("refused");
        assert!(line.starts_with(&slowest));
    }

    #[test]
    fn the_topmost_folder_of_an_owner_is_found() {
        assert_eq!(topmost(Path::new("/")), None);
        assert_eq!(topmost(Path::new("/no/such/folder")), None);
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("a/b");
        std::fs::create_dir_all(&inner).expect("folders");
        let own = inner.metadata().expect("it is there").uid();
        match topmost(&inner) {
            None => assert_eq!(own, 0),
            Some(top) => assert!(folder.path().starts_with(&top) && own != 0, "{}", top.display()),
        }
    }

    #[test]
    fn time_outside_of_a_stretch_is_not_charged() {
        let _clocks = ClocksByHand::start();
        let meter = meter("x");
        assert!(meter.run(1, || toil(RESERVE * 2)).is_some() && !meter.is_used_up());
    }
}
