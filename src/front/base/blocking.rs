//! Work that waits or computes for long, on threads of its own, so that the one that has all clients never does: files
//! that may be slow, names, hashes. [`run`] is the only way to a thread in the front.
//!
//! tokio's own `spawn_blocking` panics when the system gives it no thread (`ulimit -u`, systemd's `TasksMax`), and its
//! runtime does not end before the last of them has. Here the first is a [`NoThread`], which becomes a 503, and the second
//! ends with the process.

use std::collections::VecDeque;
use std::fmt::Display;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use tokio::sync::oneshot;

use super::refusal::Refusal;
use crate::log;

/// Threads at most; further work waits its turn.
const MOST: usize = 64;
/// A thread that has had nothing to do for so long ends.
const IDLE: Duration = Duration::from_secs(10);

/// The system gives this process no thread, and none is there that could do it later. Answered 503.
#[derive(Debug)]
pub struct NoThread;

/// Does `work` on another thread and waits for what comes of it. When nobody waits any more, it is done all the same.
///
/// `what` names it for the log, should there be no thread: `cannot compute a password's hash`.
pub async fn run<T, F>(what: impl Display, work: F) -> Result<T, NoThread>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let (done, result) = oneshot::channel();
    let job = Box::new(move || drop(done.send(work())));
    if let Err(error) = POOL.take(job) {
        log::error(
            "front",
            format_args!("cannot {what}: no thread: {error}: see ulimit -u of User, systemd's TasksMax"),
        );
        return Err(NoThread);
    }
    result.await.map_err(|_| NoThread)
}

impl From<NoThread> for Refusal {
    fn from(_: NoThread) -> Refusal {
        Refusal::busy()
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// One pool for the process, as the limit on threads is the process's.
static POOL: Threads =
    Threads { state: Mutex::new(Jobs { jobs: VecDeque::new(), threads: 0, idle: 0 }), news: Condvar::new() };

struct Threads {
    state: Mutex<Jobs>,
    /// There is a job.
    news: Condvar,
}

struct Jobs {
    jobs: VecDeque<Job>,
    threads: usize,
    /// Those of the threads that wait for a job.
    idle: usize,
}

impl Threads {
    fn state(&self) -> MutexGuard<'_, Jobs> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails when there is no thread and none can be started.
    fn take(&'static self, job: Job) -> io::Result<()> {
        let mut state = self.state();
        state.jobs.push_back(job);
        if state.jobs.len() > state.idle && state.threads < MOST {
            match Builder::new().name("cameleer-aside".into()).spawn(|| self.work()) {
                Ok(_) => state.threads += 1,
                Err(error) if state.threads == 0 => {
                    state.jobs.pop_back();
                    return Err(error);
                }
                // No further thread: those that there are will do it.
                Err(_) => {}
            }
        }
        self.news.notify_one();
        Ok(())
    }

    /// A thread's life.
    fn work(&self) {
        let mut state = self.state();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // The front ends with a panic; where it does not, in a test, the thread is still good.
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
    use std::sync::mpsc::channel;

    use tokio::runtime::Builder;

    use super::*;

    fn wait_for<T>(future: impl Future<Output = T>) -> T {
        Builder::new_current_thread().build().expect("a runtime").block_on(future)
    }

    #[test]
    fn more_than_there_are_threads_is_done_in_turn() {
        let results = wait_for(async {
            let all: Vec<_> = (0..3 * MOST).map(|n| Box::pin(run("count", move || n))).collect();
            let mut sum = 0;
            for one in all {
                sum += one.await.expect("a thread");
            }
            sum
        });
        assert_eq!(results, (0..3 * MOST).sum::<usize>());
        assert!(POOL.state().threads <= MOST);
    }

    #[test]
    fn what_waits_holds_up_nothing_else() {
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
    fn work_that_panics_is_not_waited_for_for_ever() {
        assert!(wait_for(run("panic", || panic!("on purpose"))).is_err());
        assert_eq!(wait_for(run("go on", || 7)).expect("a thread"), 7);
    }
}
