//! A run on several threads: each has its part of the connections, requests and rate, and shares no state with the
//! others while it runs.

use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use nix::sys::time::TimeValLike;

use super::connect::Connector;
use super::interrupt::BlockedSignals;
use super::plan::{RequestPace, RunLimits, RunPlan};
use super::run::{RunOutcome, RunPart, RunState, run_part};

/// Descriptors needed beside those of connections.
const OTHER_DESCRIPTORS: u64 = 32;

/// Runs `plan`, after the limit of open files is raised for its connections.
pub fn run(plan: &RunPlan) -> anyhow::Result<RunOutcome> {
    allow_descriptors(plan.connections as u64 + OTHER_DESCRIPTORS)?;
    let target = &plan.request(0).context("no requests to send")?.target;
    let connector = Connector::new(target, &plan.transport)?;
    let (start, before) = (Instant::now(), processor_time());
    let mut outcome = together(plan, &connector)?;
    outcome.cpu = (processor_time() - before).as_secs_f64() / start.elapsed().as_secs_f64().max(1e-9);
    Ok(outcome)
}

/// Runs all parts, the first one on this thread.
fn together(plan: &RunPlan, connector: &Connector) -> anyhow::Result<RunOutcome> {
    let parts = parts(plan);
    let beside = RunState::new(parts.len());
    let start = Instant::now();
    // Before other threads start: signals must reach the thread that waits for them.
    let _held = BlockedSignals::new()?;
    std::thread::scope(|scope| {
        let part = |(number, plan)| {
            let (connector, beside) = (connector.clone(), &beside);
            move || run_part(RunPart { plan, connector, start, beside, number })
        };
        let mut parts = parts.iter().enumerate().map(part);
        let first = parts.next().ok_or_else(|| anyhow!("no connections"))?;
        let others: Vec<_> = parts.map(|other| scope.spawn(other)).collect();
        let mut outcome = first().inspect_err(|_| beside.stop())?;
        for other in others {
            let other = other.join().map_err(|_| anyhow!("a thread of the load tester panicked"))??;
            outcome.add_concurrent(&other);
        }
        Ok(outcome)
    })
}

/// Splits a plan: each part begins at another request and skips the requests of the other parts.
fn parts(plan: &RunPlan) -> Vec<RunPlan> {
    let threads = plan.threads.min(plan.connections).max(1);
    let share = |all: u64, number: usize| all / threads as u64 + u64::from((number as u64) < all % threads as u64);
    let part = |number: usize| RunPlan {
        first: plan.first + plan.stride * number as u64,
        stride: plan.stride * threads as u64,
        connections: share(plan.connections as u64, number) as usize,
        threads: 1,
        pace: pace(&plan.pace, threads, number),
        phase: phase(&plan.pace, number),
        end: RunLimits { requests: plan.end.requests.map(|requests| share(requests, number)), ..plan.end },
        ..plan.clone()
    };
    if threads == 1 { vec![plan.clone()] } else { (0..threads).map(part).collect() }
}

fn pace(pace: &RequestPace, threads: usize, number: usize) -> RequestPace {
    match pace {
        RequestPace::Closed => RequestPace::Closed,
        RequestPace::Constant(rate) => RequestPace::Constant(rate / threads as f64),
        // Independent Poisson processes add up to one.
        RequestPace::Poisson(rate) => RequestPace::Poisson(rate / threads as f64),
        RequestPace::Times(times) => RequestPace::Times(times.iter().skip(number).step_by(threads).copied().collect()),
    }
}

/// The due times of one thread lie between those of the others.
fn phase(pace: &RequestPace, number: usize) -> Duration {
    match pace {
        RequestPace::Closed | RequestPace::Times(_) => Duration::ZERO,
        RequestPace::Constant(rate) | RequestPace::Poisson(rate) => Duration::from_secs_f64(number as f64 / rate),
    }
}

/// CPU time of all threads of this program.
fn processor_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Duration::ZERO };
    let microseconds = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(u64::try_from(microseconds).unwrap_or_default())
}

/// Raises the limit of descriptors, by default 1024 in a shell, to that number.
fn allow_descriptors(count: u64) -> anyhow::Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    anyhow::ensure!(
        count <= hard,
        "{count} descriptors are needed, but the limit is {hard}; raise it (ulimit -n), or use fewer connections (-c)"
    );
    if soft < count {
        setrlimit(Resource::RLIMIT_NOFILE, count, hard)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(threads: usize, connections: usize, pace: RequestPace, requests: u64) -> RunPlan {
        let (transport, expected) = Default::default();
        let order: Vec<u32> = (0..7).collect();
        RunPlan {
            requests: [].into(),
            order: order.into(),
            first: 0,
            stride: 1,
            connections,
            streams: 1,
            threads,
            pace,
            phase: Duration::ZERO,
            end: RunLimits { requests: Some(requests), after: None },
            cuts: false,
            warm_up: Duration::ZERO,
            transport,
            expected,
            timeout: Duration::from_secs(1),
            notes: Vec::new(),
            progress: false,
        }
    }

    #[test]
    fn parts_of_a_plan_add_up_to_the_plan() {
        let parts = parts(&plan(3, 10, RequestPace::Closed, 100));
        assert_eq!(parts.iter().map(|part| part.connections).collect::<Vec<_>>(), [4, 3, 3]);
        assert_eq!(parts.iter().filter_map(|part| part.end.requests).collect::<Vec<_>>(), [34, 33, 33]);
        let mut rates: Vec<u64> = parts
            .iter()
            .flat_map(|part| (0..part.end.requests.expect("a number")).map(|number| part.place(number)))
            .collect();
        rates.sort_unstable();
        assert_eq!(rates, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn every_thread_has_a_connection() {
        assert_eq!(parts(&plan(8, 3, RequestPace::Closed, 100)).len(), 3);
        assert_eq!(parts(&plan(8, 1, RequestPace::Closed, 100)).len(), 1);
    }

    #[test]
    fn due_times_of_several_threads_equal_those_of_one() {
        let ms = Duration::from_millis;
        let of_log: Vec<Duration> = [0, 5, 5, 70, 80].map(ms).into();
        let parts_of = |pace: RequestPace| parts(&plan(2, 4, pace, 100));
        let times: Vec<RequestPace> =
            parts_of(RequestPace::Times(of_log.into())).into_iter().map(|part| part.pace).collect();
        let [RequestPace::Times(first), RequestPace::Times(second)] = times.as_slice() else { panic!("{times:?}") };
        assert_eq!((first.to_vec(), second.to_vec()), ([0, 5, 80].map(ms).to_vec(), [5, 70].map(ms).to_vec()));
        let even = parts_of(RequestPace::Constant(100.0));
        assert_eq!(even.iter().map(|part| part.phase).collect::<Vec<_>>(), [ms(0), ms(10)]);
        assert!(even.iter().all(|part| matches!(part.pace, RequestPace::Constant(rate) if rate == 50.0)));
    }
}
