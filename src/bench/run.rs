//! A run, from its first request to its last.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use nix::sys::time::TimeValLike;
use tokio::task::{JoinSet, LocalSet};

use super::alarm::Alarm;
use super::connect::Connector;
use super::interrupt::Interrupt;
use super::plan::Plan;
use super::schedule::Schedule;
use super::tally::Tally;
use super::user::{self, Shared};

/// What a run has come to.
#[derive(Debug)]
pub struct Outcome {
    /// Counts and times.
    pub tally: Tally,
    /// From the end of the warm-up to the last answer, or to the time that was set.
    pub elapsed: Duration,
    /// How much of one processor this program took: near 1 it measures itself.
    pub cpu: f64,
    /// Requests whose moment came, and none of the connections was free for them until the end.
    pub unsent: u64,
    /// Whether somebody pressed Ctrl-C.
    pub interrupted: bool,
}

impl Outcome {
    /// Adds another run of the same.
    pub fn add(&mut self, other: &Outcome) {
        let whole = self.elapsed + other.elapsed;
        let share = self.elapsed.as_secs_f64() / whole.as_secs_f64().max(1e-9);
        self.cpu = self.cpu * share + other.cpu * (1.0 - share);
        self.tally.add(&other.tally, self.elapsed);
        self.elapsed = whole;
        self.unsent += other.unsent;
        self.interrupted |= other.interrupted;
    }
}

/// Descriptors that are taken by other things than connections.
const OTHER_DESCRIPTORS: u64 = 32;
/// A picture over time has about as many points.
const INTERVALS: u32 = 120;

/// Does what `plan` says, on this thread.
pub fn run(plan: &Plan) -> anyhow::Result<Outcome> {
    allow_descriptors(plan.connections as u64 + OTHER_DESCRIPTORS)?;
    let target = &plan.request(0).context("nothing to ask")?.target;
    let connector = Connector::new(target, &plan.transport)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, ask(plan, connector))
}

async fn ask(plan: &Plan, connector: Connector) -> anyhow::Result<Outcome> {
    let (start, before) = (Instant::now(), processor_time());
    let counted_from = start + plan.warm_up;
    let mut tally = Tally::new(counted_from, interval(plan));
    tally.window_end = plan.end.after.map(|after| counted_from + after);
    let schedule = RefCell::new(Schedule::new(plan, start));
    let tally = RefCell::new(tally);
    let shared = Rc::new(Shared { plan: plan.clone(), connector, schedule, alarm: Alarm::new()?, tally });
    let interrupted = until_all_is_asked(&shared).await?;
    let end = Instant::now();
    let cpu = (processor_time() - before).as_secs_f64() / (end - start).as_secs_f64().max(1e-9);
    let unsent = shared.schedule.borrow().overdue(end);
    let mut tally = shared.tally.replace(Tally::new(end, interval(plan)));
    tally.finish(end);
    let elapsed = tally.window_end.map_or(end, |window| window.min(end)).saturating_duration_since(counted_from);
    Ok(Outcome { tally, elapsed, cpu, unsent, interrupted })
}

/// Whether it was interrupted.
async fn until_all_is_asked(shared: &Rc<Shared>) -> anyhow::Result<bool> {
    let interrupt = Interrupt::new()?;
    let mut users = JoinSet::new();
    for _ in 0..shared.plan.connections {
        users.spawn_local(user::run(shared.clone()));
    }
    let all_are_done = async {
        while let Some(ended) = users.join_next().await {
            ended?;
        }
        anyhow::Ok(false)
    };
    tokio::select! {
        result = all_are_done => result,
        result = interrupt.wait() => Ok(result.map(|()| true)?),
        result = shared.alarm.ring() => Ok(result.map(|()| false)?),
        () = tell_how_it_goes(shared) => Ok(false),
        () = time_is_over(shared) => Ok(false),
    }
}

/// Where what is under way then is given up.
async fn time_is_over(shared: &Shared) {
    let end = shared.tally.borrow().window_end;
    match end.filter(|_| shared.plan.cuts) {
        Some(end) => tokio::time::sleep_until(end.into()).await,
        None => std::future::pending().await,
    }
}

/// A line on standard error each second, which the next one overwrites.
async fn tell_how_it_goes(shared: &Shared) {
    if !shared.plan.progress {
        return std::future::pending().await;
    }
    let (mut clock, mut last) = (tokio::time::interval(Duration::from_secs(1)), 0);
    loop {
        clock.tick().await;
        let tally = shared.tally.borrow();
        let requests = tally.requests();
        let p99 = tally.latency.value_at_quantile(0.99) as f64 / 1e6;
        let (rate, failed) = (requests - last, tally.failed());
        let _ = write!(
            std::io::stderr(),
            "\r\x1b[K{requests} requests, {rate} in the last second, {failed} failed, 99 % within {p99:.2} ms\r"
        );
        last = requests;
    }
}

/// How long the pieces are in which it is told how it went over time.
fn interval(plan: &Plan) -> Duration {
    let whole = plan.end.after.unwrap_or(Duration::from_secs(60));
    (whole / INTERVALS).max(Duration::from_millis(100))
}

/// Of all threads of this program, since it began.
fn processor_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Duration::ZERO };
    let microseconds = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(u64::try_from(microseconds).unwrap_or_default())
}

/// So many connections need as many descriptors, of which a shell grants 1024 unless it is asked.
fn allow_descriptors(count: u64) -> anyhow::Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    anyhow::ensure!(
        count <= hard,
        "{count} descriptors are needed, and the limit is {hard}: ulimit -n, or fewer connections (-c)"
    );
    if soft < count {
        setrlimit(Resource::RLIMIT_NOFILE, count, hard)?;
    }
    Ok(())
}
