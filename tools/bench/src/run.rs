//! A run on one thread.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};

use super::alarm::Alarm;
use super::connect::Connector;
use super::http2;
use super::interrupt::Interrupt;
use super::plan::RunPlan;
use super::schedule::Schedule;
use super::tally::Tally;
use super::user::{self, SharedRun};

/// Measured values of one run, or the sum of several.
#[derive(Debug)]
pub struct RunOutcome {
    /// Counts and times.
    pub tally: Tally,
    /// Time from the end of the warm-up to the last response, or to the time limit.
    pub elapsed: Duration,
    /// Processors used by this program; near 1 for each of its threads it is the bottleneck itself.
    pub cpu: f64,
    /// Requests that were due, but found no free connection until the end.
    pub unsent: u64,
    /// Whether the user has pressed Ctrl-C.
    pub interrupted: bool,
}

impl RunOutcome {
    /// Adds a later run of the same plan.
    pub fn add(&mut self, other: &RunOutcome) {
        let whole = self.elapsed + other.elapsed;
        let share = self.elapsed.as_secs_f64() / whole.as_secs_f64().max(1e-9);
        self.cpu = self.cpu * share + other.cpu * (1.0 - share);
        self.tally.add(&other.tally, self.elapsed);
        self.elapsed = whole;
        self.unsent += other.unsent;
        self.interrupted |= other.interrupted;
    }

    /// Unlike [`RunOutcome::add`], the durations overlap: the longer one counts.
    pub fn add_concurrent(&mut self, other: &RunOutcome) {
        self.tally.add_concurrent(&other.tally);
        self.elapsed = self.elapsed.max(other.elapsed);
        self.unsent += other.unsent;
        self.interrupted |= other.interrupted;
    }
}

/// Approximate number of intervals of a run.
const INTERVALS: u32 = 120;

/// State shared by the threads of a run.
pub struct RunState {
    /// Sends true when the run must stop.
    stop: watch::Sender<bool>,
    /// Number of requests so far and of failed ones, for each thread.
    counts: Vec<[AtomicU64; 2]>,
}

impl RunState {
    /// The shared state of a run on this number of threads.
    pub fn new(threads: usize) -> RunState {
        let counts = std::iter::repeat_with(Default::default).take(threads).collect();
        RunState { stop: watch::Sender::new(false), counts }
    }

    /// Stops all threads.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Returns when the threads must stop.
    pub async fn stopped(&self) {
        // The sender is a field of `self`, so this cannot fail.
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }

    /// Stores a thread's counts of requests and failures.
    pub fn record(&self, thread: usize, requests: u64, failed: u64) {
        if let Some(counts) = self.counts.get(thread) {
            counts[0].store(requests, Ordering::Relaxed);
            counts[1].store(failed, Ordering::Relaxed);
        }
    }

    /// The sums of all threads' counts.
    pub fn counts(&self) -> [u64; 2] {
        [0, 1].map(|which| self.counts.iter().map(|counts| counts[which].load(Ordering::Relaxed)).sum())
    }

    pub fn threads(&self) -> usize {
        self.counts.len()
    }
}

/// One thread's part of a run.
pub struct RunPart<'a> {
    pub plan: &'a RunPlan,
    pub connector: Connector,
    /// When all threads start.
    pub start: Instant,
    pub beside: &'a RunState,
    /// Number of the thread; thread 0 handles Ctrl-C and shows progress.
    pub number: usize,
}

/// Runs the part on this thread.
pub fn run_part(part: RunPart) -> anyhow::Result<RunOutcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, part.run())
}

impl RunPart<'_> {
    async fn run(self) -> anyhow::Result<RunOutcome> {
        let (plan, start) = (self.plan, self.start);
        let counted_from = start + plan.warm_up;
        let mut tally = Tally::new(counted_from, interval(plan), self.beside.threads() > 1);
        tally.window_end = plan.end.after.map(|after| counted_from + after);
        let schedule = RefCell::new(Schedule::new(plan, start));
        let tally = RefCell::new(tally);
        let connector = self.connector.clone();
        let shared = Rc::new(SharedRun { plan: plan.clone(), connector, schedule, alarm: Alarm::new()?, tally });
        let interrupted = self.run_users(&shared).await?;
        let end = Instant::now();
        let unsent = shared.schedule.borrow().overdue(end);
        let mut tally = shared.tally.replace(Tally::new(end, interval(plan), false));
        tally.finish(end);
        let elapsed = tally.window_end.map_or(end, |window| window.min(end)).saturating_duration_since(counted_from);
        Ok(RunOutcome { tally, elapsed, cpu: 0.0, unsent, interrupted })
    }

    /// Runs all requests; returns whether the run was interrupted.
    async fn run_users(&self, shared: &Rc<SharedRun>) -> anyhow::Result<bool> {
        let mut users = JoinSet::new();
        for _ in 0..shared.plan.connections {
            let line = Rc::new(http2::SharedConnection::default());
            for _ in 0..shared.plan.streams {
                users.spawn_local(user::run(shared.clone(), line.clone()));
            }
        }
        let all_are_done = async {
            while let Some(ended) = users.join_next().await {
                ended?;
            }
            anyhow::Ok(false)
        };
        tokio::select! {
            result = all_are_done => result,
            result = self.interrupted() => Ok(result.map(|()| true)?),
            result = shared.alarm.ring() => Ok(result.map(|()| false)?),
            () = self.show_progress(shared) => Ok(false),
            () = time_limit(shared) => Ok(false),
        }
    }

    /// Returns when the user has pressed Ctrl-C.
    async fn interrupted(&self) -> std::io::Result<()> {
        if self.number == 0 {
            let interrupt = Interrupt::new()?;
            tokio::select! {
                result = interrupt.wait() => result?,
                () = self.beside.stopped() => {}
            }
            self.beside.stop();
        } else {
            self.beside.stopped().await;
        }
        Ok(())
    }

    /// Writes progress to standard error each second, over the line before.
    async fn show_progress(&self, shared: &SharedRun) {
        if !shared.plan.progress {
            return std::future::pending().await;
        }
        let (mut clock, mut last) = (tokio::time::interval(Duration::from_secs(1)), 0);
        loop {
            clock.tick().await;
            let tally = shared.tally.borrow();
            self.beside.record(self.number, tally.requests(), tally.failed());
            if self.number > 0 {
                continue;
            }
            let [requests, failed] = self.beside.counts();
            let p99 = tally.latency.value_at_quantile(0.99) as f64 / 1e6;
            let rate = requests - last;
            let _ = write!(
                std::io::stderr(),
                "\r\x1b[K{requests} requests, {rate} in the last second, {failed} failed, 99 % within {p99:.2} ms\r"
            );
            last = requests;
        }
    }
}

/// Returns at the time limit if the plan drops running requests (`cuts`); otherwise never.
async fn time_limit(shared: &SharedRun) {
    let end = shared.tally.borrow().window_end;
    match end.filter(|_| shared.plan.cuts) {
        Some(end) => tokio::time::sleep_until(end.into()).await,
        None => std::future::pending().await,
    }
}

/// Length of the intervals in the report.
fn interval(plan: &RunPlan) -> Duration {
    let whole = plan.end.after.unwrap_or(Duration::from_secs(60));
    (whole / INTERVALS).max(Duration::from_millis(100))
}
