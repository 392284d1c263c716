//! Work that waits or computes for long, on threads of its own, so that the threads serving clients never block.
//! [`run`] is for slow files, names and hashes, [`store`] for files of `SpoolDirectory`, [`look_up`] for the user
//! database, [`compute`] for compression and slow signatures.
//!
//! tokio's `spawn_blocking` panics when no thread can be started (`ulimit -u`, systemd's `TasksMax`), and its runtime
//! waits for all its threads at shutdown. Here a thread that cannot be started is [`NoThread`], answered with 503, and
//! threads end with the process.

use std::collections::VecDeque;
use std::fmt::Display;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, available_parallelism};
use std::time::Duration;

use tokio::sync::oneshot;

use super::refusal::Refusal;
use base::log;

/// Maximum number of threads of [`run`]; further work is queued.
const MAX_THREADS: usize = 64;
/// Maximum number of threads of [`store`]. If that disk hangs, the threads of [`run`] still read other files.
const MAX_STORING: usize = 4;
/// Maximum number of threads of [`look_up`]. If the directory behind the user database hangs, the threads of [`run`]
/// still read files and compute hashes.
pub const MAX_LOOKING_UP: usize = 8;
/// Maximum number of threads of [`compute`]. More threads than processors would only compete with the threads that
/// serve clients.
static PROCESSORS: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, Into::into));
/// Idle time after which a thread ends.
const IDLE: Duration = Duration::from_secs(10);

/// The pool has no thread and the system refuses another one. Answered with 503.
#[derive(Debug)]
pub struct NoThread;

/// Runs `work` on another thread and waits for the result. The work is completed even if the caller stops waiting.
///
/// `what` describes the work in the error log, if there is no thread: `cannot compute a password's hash`.
pub async fn run<T, F>(what: impl Display, work: F) -> Result<T, NoThread>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    run_on(&WAITING, what, work).await
}

/// Like [`run`], for work with files of `SpoolDirectory`. Work begins in the order of the calls.
pub async fn store<T, F>(what: impl Display, work: F) -> Result<T, NoThread>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    run_on(&STORING, what, work).await
}

/// Like [`run`], for lookups in the user database, whose names come from clients. A caller with more than
/// [`MAX_LOOKING_UP`] lookups holds them back itself, so that it can drop those that nobody waits for.
pub async fn look_up<T, F>(what: impl Display, work: F) -> Result<T, NoThread>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    run_on(&LOOKING_UP, what, work).await
}

/// Drops `value` on a thread of [`store`], because the last close of a large unlinked file frees its blocks. Without a
/// thread, the value is dropped at once.
pub fn drop_aside<T: Send + 'static>(value: T) {
    if let Err((job, _)) = STORING.take(Box::new(move || drop(value))) {
        job();
    }
}

async fn run_on<T, F>(threads: &'static Threads, what: impl Display, work: F) -> Result<T, NoThread>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let (done, result) = oneshot::channel();
    let job = Box::new(move || drop(done.send(work())));
    if let Err((_, error)) = threads.take(job) {
        log::error(
            "front",
            format_args!("cannot {what}: no thread: {error}; see ulimit -u of User, systemd's TasksMax"),
        );
        return Err(NoThread);
    }
    result.await.map_err(|_| NoThread)
}

/// Computes `work` on one of as many threads as there are processors, in the order of the calls. The work is skipped if
/// the caller has stopped waiting. Without a thread, it is done at once, because a late response is better than none.
pub fn compute<T, F>(work: F) -> oneshot::Receiver<T>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let (done, result) = oneshot::channel();
    let job = Box::new(move || {
        if !done.is_closed() {
            drop(done.send(work()));
        }
    });
    if let Err((job, _)) = COMPUTING.take(job) {
        job();
    }
    result
}

/// Maximum number of threads of [`compute`].
pub fn processors() -> usize {
    *PROCESSORS
}

impl From<NoThread> for Refusal {
    fn from(_: NoThread) -> Refusal {
        Refusal::busy()
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// Thread pools are process-wide, as is the limit on threads.
static WAITING: Threads = Threads::new("cameleer-aside", || MAX_THREADS);
static STORING: Threads = Threads::new("cameleer-spool", || MAX_STORING);
static LOOKING_UP: Threads = Threads::new("cameleer-users", || MAX_LOOKING_UP);
static COMPUTING: Threads = Threads::new("cameleer-comput", || *PROCESSORS);

struct Threads {
    /// Name of the threads, at most 15 bytes (the limit of Linux).
    name: &'static str,
    most: fn() -> usize,
    state: Mutex<Jobs>,
    /// Notified when a job is queued.
    news: Condvar,
}

struct Jobs {
    jobs: VecDeque<Job>,
    threads: usize,
    /// Number of threads that wait for a job.
    idle: usize,
}

impl Threads {
    const fn new(name: &'static str, most: fn() -> usize) -> Threads {
        let jobs = Jobs { jobs: VecDeque::new(), threads: 0, idle: 0 };
        Threads { name, most, state: Mutex::new(jobs), news: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, Jobs> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a job. Returns it if there is no thread and none can be started.
    fn take(&'static self, job: Job) -> Result<(), (Job, io::Error)> {
        let mut state = self.state();
        if state.jobs.len() + 1 > state.idle && state.threads < (self.most)() {
            match Builder::new().name(self.name.into()).spawn(|| self.work()) {
                Ok(_) => state.threads += 1,
                Err(error) if state.threads == 0 => return Err((job, error)),
                // No thread was added; the existing threads do the work.
                Err(_) => {}
            }
        }
        state.jobs.push_back(job);
        self.news.notify_one();
        Ok(())
    }

    /// Main loop of a thread.
    fn work(&self) {
        let mut state = self.state();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // A panic ends the front. In tests it does not, and the thread continues.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = self.state();
                continue;
            }
            state.idle += 1;
            let (woken, waited) = self.news.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if waited.timed_out() && state.jobs.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    use tokio::runtime::Builder;

    use super::*;

    fn wait_for<T>(future: impl Future<Output = T>) -> T {
        Builder::new_current_thread().build().expect("a runtime").block_on(future)
    }

    #[test]
    fn calls_beyond_the_number_of_threads_are_queued() {
        let results = wait_for(async {
            let all: Vec<_> = (0..3 * MAX_THREADS).map(|n| Box::pin(run("count", move || n))).collect();
            let mut sum = 0;
            for one in all {
                sum += one.await.expect("a thread");
            }
            sum
        });
        assert_eq!(results, (0..3 * MAX_THREADS).sum::<usize>());
        assert!(WAITING.state().threads <= MAX_THREADS);
    }

    #[test]
    fn work_that_waits_does_not_delay_other_work() {
        let (go, gone) = channel::<()>();
        wait_for(async {
            let mut slow = Box::pin(run("wait", move || gone.recv().is_ok()));
            let begun = std::future::poll_fn(|cx| std::task::Poll::Ready(slow.as_mut().poll(cx).is_pending())).await;
            assert!(begun, "it waits");
            assert_eq!(run("go on", || 7).await.expect("a thread"), 7);
            go.send(()).expect("it listens");
            assert!(slow.await.expect("a thread"));
        });
    }

    #[test]
    fn a_hanging_spool_directory_delays_no_other_file() {
        let gates: Vec<_> = (0..2 * MAX_STORING).map(|_| channel::<()>()).collect();
        let (go, gone): (Vec<_>, Vec<_>) = gates.into_iter().unzip();
        wait_for(async {
            let mut hung: Vec<_> =
                gone.into_iter().map(|gone| Box::pin(store("hang", move || gone.recv().is_ok()))).collect();
            std::future::poll_fn(|cx| {
                assert!(hung.iter_mut().all(|one| one.as_mut().poll(cx).is_pending()), "all of them wait");
                std::task::Poll::Ready(())
            })
            .await;
            assert_eq!(run("go on", || 7).await.expect("a thread"), 7);
            assert!(STORING.state().threads <= MAX_STORING);
            go.iter().for_each(|go| go.send(()).expect("it listens"));
            for one in hung {
                assert!(one.await.expect("a thread"));
            }
        });
    }

    #[test]
    fn a_value_is_dropped_on_another_thread() {
        struct Dropped(std::sync::mpsc::Sender<std::thread::ThreadId>);
        impl Drop for Dropped {
            fn drop(&mut self) {
                self.0.send(std::thread::current().id()).expect("the test listens");
            }
        }
        let (tell, receiver) = channel();
        drop_aside(Dropped(tell));
        assert_ne!(receiver.recv().expect("it is dropped"), std::thread::current().id());
    }

    #[test]
    fn computations_at_once_are_limited_to_the_processors() {
        static BUSY: AtomicUsize = AtomicUsize::new(0);
        let most = wait_for(async {
            let work = || {
                let busy = BUSY.fetch_add(1, Ordering::SeqCst) + 1;
                std::thread::sleep(Duration::from_millis(2));
                BUSY.fetch_sub(1, Ordering::SeqCst);
                busy
            };
            let all: Vec<_> = (0..10 * *PROCESSORS).map(|_| compute(work)).collect();
            let mut most = 0;
            for one in all {
                most = most.max(one.await.expect("a thread"));
            }
            most
        });
        assert!((1..=*PROCESSORS).contains(&most), "{most} at once");
    }

    #[test]
    fn work_that_panics_is_not_waited_for_for_ever() {
        assert!(wait_for(run("panic", || panic!("on purpose"))).is_err());
        assert_eq!(wait_for(run("go on", || 7)).expect("a thread"), 7);
    }
}
