//! Limits of single workers that no request reaches: age, idle time, growth. A worker that has reached one leaves when
//! it is idle; workers leave one after the other.

use std::time::{Duration, Instant};

use wire::control::{ExitReason, PoolId, WorkerId, WorkerState};

use super::growth_in_words;
use crate::pool::worker::WorkerEntry;
use crate::pool::workers::WorkerRegister;
use config::budget::{ReforkWhen, WorkerLimits};
use config::{Config, PoolSettings};

/// Between two questions to the front about its workers, where limits need the answer.
const ASKED_FOR_LIMITS: Duration = Duration::from_secs(1);
/// Interval of status requests to the front where only the budget needs them: workers that have served show what the
/// next one costs.
const ASKED_FOR_BUDGET: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    pub worker: WorkerId,
    /// The directive that sets the limit.
    pub directive: &'static str,
    /// The measured value, for the log.
    pub how_far: String,
    /// The reason, for the counters of worker exits.
    pub reason: ExitReason,
}

/// Whether measured memory is compared with anything but the budget.
pub fn need_memory(config: &Config) -> bool {
    pools(config).any(|pool| {
        let WorkerLimits { max_private, min_shared, max_growth, .. } = pool.worker;
        max_private.or(min_shared).or(max_growth).is_some() || pool.refork == ReforkWhen::Auto
    })
}

/// Interval of the status requests that show requests and idle times of workers; `None`: no limit needs them.
pub(super) fn status_interval(config: &Config, has_budget: bool) -> Option<Duration> {
    let asks = |pool: &PoolSettings| {
        let limits = pool.worker.max_growth.is_some() || pool.worker.max_idle.is_some() || pool.auto;
        limits || pool.refork != ReforkWhen::Off
    };
    match pools(config).any(asks) {
        true => Some(ASKED_FOR_LIMITS),
        false => has_budget.then_some(ASKED_FOR_BUDGET),
    }
}

/// A worker of the serving pools that has reached a limit; `None` while another one is leaving.
pub fn first_reached(workers: &WorkerRegister, serving: &[PoolId], config: &Config, now: Instant) -> Option<Reached> {
    if workers.dismissed() > 0 {
        return None;
    }
    let reached_in = |pool: &PoolId| {
        let limits = &config.pool_of(pool.pool).worker;
        let idle = workers.of(*pool).filter(|(_, worker)| worker.state == WorkerState::Idle);
        idle.filter_map(|(slot, worker)| reached(limits, WorkerId { slot, serial: worker.serial() }, worker, now))
            .next()
    };
    serving.iter().find_map(reached_in)
}

/// When the oldest worker of the serving pools reaches MaxAgePerChild.
pub fn oldest_leaves(workers: &WorkerRegister, serving: &[PoolId], config: &Config) -> Option<Instant> {
    // A worker that is old and busy is looked at again when another event comes.
    if workers.dismissed() > 0 {
        return None;
    }
    let oldest = |pool: &PoolId| {
        let age = config.pool_of(pool.pool).worker.max_age?;
        Some(workers.of(*pool).map(|(_, worker)| worker.fork_requested).min()? + age)
    };
    serving.iter().filter_map(oldest).min()
}

fn pools(config: &Config) -> impl Iterator<Item = &PoolSettings> {
    config.pool_numbers().map(|pool| config.pool_of(pool))
}

fn reached(limits: &WorkerLimits, id: WorkerId, worker: &WorkerEntry, now: Instant) -> Option<Reached> {
    let found = |directive, how_far, reason| Some(Reached { worker: id, directive, how_far, reason });
    let mb = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let age = now.saturating_duration_since(worker.fork_requested);
    if limits.max_age.is_some_and(|most| age >= most) {
        return found("MaxAgePerChild", format!("{} s old", age.as_secs()), ExitReason::MaxAge);
    }
    if let (Some(most), Some(idle)) = (limits.max_idle, worker.idle)
        && idle >= most
    {
        return found("MaxIdlePerChild", format!("idle for {} s", idle.as_secs()), ExitReason::MaxIdle);
    }
    let sizes = worker.sizes?;
    if limits.max_private.is_some_and(|most| sizes.private > most) {
        return found("MaxMemoryPerChild", growth_in_words(sizes.private), ExitReason::Memory);
    }
    if limits.min_shared.is_some_and(|least| sizes.shared < least) {
        return found("MinSharedPerChild", format!("{:.1} MB shared", mb(sizes.shared)), ExitReason::Memory);
    }
    let grown = worker.growth_per_thousand().filter(|grown| limits.max_growth.is_some_and(|most| *grown > most))?;
    found("MaxGrowthPerChild", format!("+{:.1} MB private in 1,000 requests", mb(grown)), ExitReason::Memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::children::MoldId;
    use machine::memory::MemorySizes;

    const POOL: PoolId = PoolId { generation: 1, pool: 0 };

    fn limited(limits: WorkerLimits) -> Config {
        Config { pool: PoolSettings { worker: limits, ..PoolSettings::default() }, ..Config::default() }
    }

    fn idle(workers: &mut WorkerRegister, now: Instant) -> WorkerId {
        let id = workers.add(MoldId { pool: POOL, refork: 0 }, now);
        workers.find_mut(id).expect("there").state = WorkerState::Idle;
        id
    }

    #[test]
    fn one_worker_at_a_time_leaves_when_it_is_too_old() {
        let (mut workers, now) = (WorkerRegister::default(), Instant::now());
        let age = Duration::from_secs(100);
        let config = limited(WorkerLimits { max_age: Some(age), ..WorkerLimits::default() });
        let [first, second] = [now, now + age / 2].map(|began| idle(&mut workers, began));
        assert_eq!(oldest_leaves(&workers, &[POOL], &config), Some(now + age));
        assert_eq!(first_reached(&workers, &[POOL], &config, now + age / 2), None);
        let reached = first_reached(&workers, &[POOL], &config, now + age * 2).expect("too old");
        assert_eq!((reached.worker, reached.directive, reached.reason), (first, "MaxAgePerChild", ExitReason::MaxAge));
        assert_eq!(reached.how_far, "200 s old");
        workers.dismiss(first, reached.reason);
        assert_eq!(first_reached(&workers, &[POOL], &config, now + age * 2), None, "one at a time");
        workers.remove(first.slot);
        let reached = first_reached(&workers, &[POOL], &config, now + age * 2).expect("too old");
        assert_eq!(reached.worker, second);
    }

    #[test]
    fn memory_is_compared_once_it_is_measured() {
        let (mut workers, now) = (WorkerRegister::default(), Instant::now());
        let config = limited(WorkerLimits { max_private: Some(10 << 20), ..WorkerLimits::default() });
        let id = idle(&mut workers, now);
        assert!(need_memory(&config) && first_reached(&workers, &[POOL], &config, now).is_none());
        let sizes = MemorySizes { private: 12 << 20, ..MemorySizes::default() };
        workers.find_mut(id).expect("there").measured(sizes);
        let reached = first_reached(&workers, &[POOL], &config, now).expect("too large");
        assert_eq!((reached.directive, &*reached.how_far), ("MaxMemoryPerChild", "+12.0 MB private since the fork"));
    }
}
