//! `MemoryBudget`: decides from measured memory how many workers may be forked, by how much each may grow, and which
//! one leaves. A state machine without I/O and without a clock.
//!
//! ```text
//!   sampler ── Sampled ──▶ Plan ──▶ targets(): how many workers fit, how many may be forked
//!                            ├────▶ Grant: how much memory each worker may have
//!                            └────▶ Leave, for the worker that has grown most
//! ```

mod limits;
mod sampling;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use wire::control::{ExitReason, PoolId, PoolNumber, Slot};

use self::limits::status_interval;
pub use self::limits::{Reached, first_reached, need_memory, oldest_leaves};
pub use self::sampling::{SamplerAction, Sampling};
use super::pool::worker::WorkerEntry;
use super::pool::workers::WorkerRegister;
use super::sizing::{MemoryPlan, Targets};
use config::Config;
use config::budget::MemoryBudget;
use machine::memory::{Measured, MemorySizes, one_more};

/// Validity of a guessed worker size. After this time workers that have served were measured.
const GUESS_HOLDS: Duration = Duration::from_secs(30);
/// New budget after the kernel has killed a process, in tenths of the memory used at that moment.
const KEPT: u64 = 9;

/// The memory budget and the latest measurements.
#[derive(Debug, Default)]
pub struct WorkerBudget {
    /// Size of the budget in bytes; `None`: memory is not limited.
    bytes: Option<u64>,
    /// The memory of processes that are no workers.
    others: BTreeMap<i32, MemorySizes>,
    /// Free bytes of the control group, if the group has a limit.
    room: Option<u64>,
    /// Number of processes of the control group that the kernel has killed, as read last.
    killed_by_kernel: u64,
    /// Bytes by which each of the first workers may grow until the first measurement.
    first_growth: u64,
    /// The least that a worker of a pool is taken to cost.
    guesses: BTreeMap<PoolNumber, Guess>,
    /// The last worker that was asked to leave, until it is replaced or its pool needs no replacement.
    retired: Option<RetiredWorker>,
    /// When the front's status is needed next for limits of workers; `None`: at once.
    question: Option<Instant>,
}

#[derive(Debug)]
struct Guess {
    cost: u64,
    since: Instant,
}

impl Guess {
    fn holds(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) < GUESS_HOLDS
    }
}

#[derive(Debug)]
struct RetiredWorker {
    pool: PoolNumber,
    line: String,
    since: Instant,
}

/// Memory limits of one slot, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// Slot of the worker, counted from 0.
    pub slot: Slot,
    /// The limit once its memory was measured; before that 0.
    pub measured: u64,
    /// The limit of a new worker in this slot until its first measurement.
    pub newborn: u64,
}

impl WorkerBudget {
    /// A budget for a starting server. `killed`: number of processes of its control group that the kernel has killed.
    pub fn new(killed: u64) -> WorkerBudget {
        WorkerBudget { killed_by_kernel: killed, ..WorkerBudget::default() }
    }

    /// Size of the budget in bytes; `None`: memory is not limited.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Applies the budget of a new configuration and returns it. `available` measures the memory for `auto`.
    pub fn configure(&mut self, config: &Config, available: impl FnOnce() -> Option<u64>) -> Option<u64> {
        let bytes = match config.pool.budget {
            MemoryBudget::Off => None,
            MemoryBudget::Bytes(bytes) => Some(bytes),
            // Memory that this server uses already no longer counts as available.
            MemoryBudget::Auto => self.bytes.or_else(available),
        };
        self.set(bytes, config)
    }

    fn set(&mut self, bytes: Option<u64>, config: &Config) -> Option<u64> {
        self.bytes = bytes;
        // Half of the budget is reserved for the code that the first workers load.
        let pools = config.pool_numbers().map(|pool| config.pool_of(pool));
        let workers = pools.map(|pool| u64::from(pool.start.min(pool.max_clients))).sum::<u64>().max(1);
        self.first_growth = bytes.unwrap_or(0) / 2 / workers;
        bytes
    }

    /// The current plan; `None`: memory is not limited, or no mold was measured yet. `forking`: molds of the serving
    /// pools that can fork.
    pub fn plan(&self, forking: &[(PoolId, i32)], workers: &WorkerRegister, now: Instant) -> Option<MemoryPlan> {
        let budget = self.bytes?;
        // Memory that workers share with their mold is counted once, for the mold. A mold without a measurement is
        // measured next.
        let molds: Vec<u64> = forking.iter().filter_map(|(_, pid)| Some(self.others.get(pid)?.rss)).collect();
        if molds.is_empty() {
            return None;
        }
        let others = self.others.iter().filter(|(pid, _)| forking.iter().all(|(_, mold)| mold != *pid));
        let base = molds.into_iter().sum::<u64>() + others.map(|(_, sizes)| sizes.own()).sum::<u64>();
        let cost = |(id, mold): &(PoolId, i32)| Some((id.pool, self.cost(*id, *mold, workers, now)?));
        let plan = MemoryPlan { budget, base, workers: Vec::new(), costs: forking.iter().filter_map(cost).collect() };
        let own = |worker: &WorkerEntry| worker.sizes.map_or(plan.cost_of(worker.mold.pool.pool), |sizes| sizes.own());
        let workers = workers.iter().map(|(_, worker)| own(worker)).collect();
        Some(MemoryPlan { workers, ..plan }.within(self.room))
    }

    /// The cost of a worker of a pool, as measured or guessed.
    fn cost(&self, pool: PoolId, mold: i32, workers: &WorkerRegister, now: Instant) -> Option<u64> {
        let of = workers.of(pool).filter_map(|(_, worker)| Some((worker, worker.sizes?)));
        let of = of.map(|(worker, sizes)| Measured { mold, requests: worker.requests, sizes });
        let measured = one_more(&of.collect::<Vec<_>>());
        let guess = self.guesses.get(&pool.pool).filter(|guess| guess.holds(now)).map(|guess| guess.cost);
        measured.into_iter().chain(guess).max()
    }

    /// The limit of each worker. A worker checks its own size much sooner than it is measured from outside.
    pub fn grants(&self, plan: &MemoryPlan, workers: &WorkerRegister) -> Vec<Grant> {
        let growth = plan.growth();
        let grant = |(slot, worker): (Slot, &WorkerEntry)| Grant {
            slot,
            measured: worker.sizes.map_or(0, |sizes| sizes.anonymous + growth),
            newborn: plan.newborn(worker.mold.pool.pool),
        };
        workers.iter().map(grant).collect()
    }

    /// The limit of a new worker of a pool.
    pub fn first_grant(&self, slot: Slot, pool: PoolNumber, plan: Option<&MemoryPlan>) -> Grant {
        Grant { slot, measured: 0, newborn: plan.map_or(self.first_growth, |plan| plan.newborn(pool)) }
    }

    /// The worker that must leave because memory use exceeds the plan.
    pub fn too_large(&self, plan: &MemoryPlan, targets: &Targets, workers: &WorkerRegister) -> Option<Reached> {
        if !plan.is_crossed() || workers.dismissed() > 0 {
            return None;
        }
        let is_surplus = |pool| targets.pools.iter().any(|target| target.id == pool && target.is_above_limit());
        let may_go = |worker: &WorkerEntry, sizes: MemorySizes| {
            plan.repays(worker.mold.pool.pool, sizes.own()) || is_surplus(worker.mold.pool)
        };
        let (worker, sizes) = workers.largest(may_go)?;
        let how_far = growth_in_words(sizes.private);
        Some(Reached { worker, directive: "MemoryBudget", how_far, reason: ExitReason::Memory })
    }

    /// Raises the expected cost of a worker after one forked at `forked` was too large with its first requests. Without
    /// this the pool would fork as many workers as before, and lose them before they are measured. Returns whether the
    /// expectation changed.
    pub fn costs_more(&mut self, pool: PoolNumber, forked: Instant, plan: &MemoryPlan, now: Instant) -> bool {
        // A worker that was forked before the last guess is no new evidence.
        let is_known = self.guesses.get(&pool).is_some_and(|guess| forked <= guess.since);
        if !is_known {
            let guess = Guess { cost: plan.cost_of(pool).saturating_mul(2), since: now };
            self.guesses.insert(pool, guess);
        }
        !is_known
    }

    /// A process that the master did not kill was killed. `killed`: how many of the control group the kernel has killed
    /// by now. Returns whether the kernel did this one.
    pub fn was_killed_by_kernel(&mut self, killed: u64) -> bool {
        std::mem::replace(&mut self.killed_by_kernel, killed) < killed
    }

    /// The kernel had to kill a process: the budget was too large. Returns the new one, if it is smaller.
    pub fn lower(&mut self, plan: &MemoryPlan, config: &Config) -> Option<u64> {
        let lowered = plan.total() / 10 * KEPT;
        self.bytes.filter(|bytes| lowered < *bytes)?;
        self.set(Some(lowered), config)
    }

    /// The memory of a process that is no worker was measured.
    pub fn measured(&mut self, pid: i32, sizes: MemorySizes) {
        self.others.insert(pid, sizes);
    }

    /// Notes the processes that exist at a measurement, and how many more bytes the control group allows.
    pub fn note(&mut self, processes: &[i32], room: Option<u64>) {
        self.others.retain(|pid, _| processes.contains(pid));
        self.room = room;
    }

    /// The memory of a process that is no worker, as measured last.
    pub fn memory_of(&self, pid: i32) -> Option<&MemorySizes> {
        self.others.get(&pid)
    }

    /// The memory of all processes that are no workers.
    pub fn others(&self) -> impl Iterator<Item = (i32, MemorySizes)> {
        self.others.iter().map(|(pid, sizes)| (*pid, *sizes))
    }

    /// Notes that a worker of the pool was asked to leave; `line` is the log line with the reason. Returns the line of
    /// the previous one if that worker was not replaced.
    pub fn retired(&mut self, pool: PoolNumber, line: String, now: Instant) -> Option<String> {
        self.retired.replace(RetiredWorker { pool, line, since: now }).map(|before| before.line)
    }

    /// Notes that a worker of the pool is ready. Returns the log line of the worker that it replaces, and the time
    /// since that one was asked to leave.
    pub fn replaced(&mut self, pool: PoolNumber, now: Instant) -> Option<(String, Duration)> {
        let retired = self.retired.take_if(|retired| retired.pool == pool)?;
        Some((retired.line, now.saturating_duration_since(retired.since)))
    }

    /// When the front's status is needed for limits of workers; `None`: no limit needs it.
    pub fn question_due(&self, config: &Config, now: Instant) -> Option<Instant> {
        status_interval(config, self.bytes.is_some()).map(|_| self.question.unwrap_or(now))
    }

    /// Whether the front's status must be requested now. The next request is due later.
    pub fn takes_question(&mut self, config: &Config, now: Instant) -> bool {
        let every = status_interval(config, self.bytes.is_some()).filter(|_| self.question.is_none_or(|at| at <= now));
        self.question = every.map(|every| now + every).or(self.question);
        every.is_some()
    }

    /// Notes that the worker that was asked to leave is not replaced, because the pool has enough. Returns the log line
    /// of that worker.
    pub fn not_replaced(&mut self, pool: PoolNumber) -> Option<String> {
        self.retired.take_if(|retired| retired.pool == pool).map(|retired| retired.line)
    }
}

/// `+212.0 MB private since the fork`
fn growth_in_words(private: u64) -> String {
    format!("+{:.1} MB private since the fork", private as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use wire::control::WorkerState;

    use super::*;
    use crate::children::MoldId;
    use crate::sizing::targets;
    use config::PoolSettings;

    const MB: u64 = 1 << 20;
    const POOL: PoolId = PoolId { generation: 1, pool: 0 };
    const MOLD: i32 = 100;

    fn config(budget: MemoryBudget) -> Config {
        Config {
            pool: PoolSettings { budget, start: 4, max_clients: 10, ..PoolSettings::default() },
            ..Config::default()
        }
    }

    fn sizes(private: u64) -> MemorySizes {
        MemorySizes { private: private * MB, anonymous: private * MB, rss: 60 * MB, ..MemorySizes::default() }
    }

    /// A budget of 500 MB, of which the mold has 60.
    fn budget() -> WorkerBudget {
        let mut budget = WorkerBudget::new(0);
        budget.configure(&config(MemoryBudget::Bytes(500 * MB)), || None);
        budget.measured(MOLD, sizes(50));
        budget
    }

    fn grown(workers: &mut WorkerRegister, private: u64, now: Instant) -> Slot {
        let id = workers.add(MoldId { pool: POOL, refork: 0 }, now);
        let worker = workers.find_mut(id).expect("there");
        (worker.state, worker.requests, worker.sizes) = (WorkerState::Idle, 100, Some(sizes(private)));
        id.slot
    }

    #[test]
    fn the_worker_that_has_grown_most_leaves_when_the_budget_is_crossed() {
        let (budget, mut workers, now) = (budget(), WorkerRegister::default(), Instant::now());
        for private in [20, 20, 200] {
            grown(&mut workers, private, now);
        }
        let plan = budget.plan(&[(POOL, MOLD)], &workers, now).expect("a plan");
        assert_eq!(budget.too_large(&plan, &targets(&[], None), &workers), None, "300 of 450 MB");
        let largest = grown(&mut workers, 300, now);
        let plan = budget.plan(&[(POOL, MOLD)], &workers, now).expect("a plan");
        let reached = budget.too_large(&plan, &targets(&[], None), &workers).expect("crossed");
        assert_eq!((reached.worker.slot, &*reached.how_far), (largest, "+300.0 MB private since the fork"));
        workers.dismiss(reached.worker, reached.reason);
        assert_eq!(budget.too_large(&plan, &targets(&[], None), &workers), None, "one at a time");
    }

    #[test]
    fn without_a_measured_mold_there_is_no_plan_and_the_first_workers_share_half_of_the_budget() {
        let (mut budget, workers, now) = (WorkerBudget::new(0), WorkerRegister::default(), Instant::now());
        assert_eq!(budget.configure(&config(MemoryBudget::Auto), || Some(400 * MB)), Some(400 * MB));
        assert_eq!(budget.plan(&[(POOL, MOLD)], &workers, now), None);
        assert_eq!(budget.first_grant(3, 0, None), Grant { slot: 3, measured: 0, newborn: 50 * MB });
        assert_eq!(
            budget.configure(&config(MemoryBudget::Auto), || Some(MB)),
            Some(400 * MB),
            "a reload takes no other"
        );
        assert_eq!(budget.configure(&config(MemoryBudget::Off), || None), None);
    }

    #[test]
    fn a_guess_doubles_the_cost_for_a_while_and_once_for_all_workers_forked_before_it() {
        let (mut budget, workers, now) = (budget(), WorkerRegister::default(), Instant::now());
        let cost = |budget: &WorkerBudget, now| budget.plan(&[(POOL, MOLD)], &workers, now).expect("a plan").cost_of(0);
        let before = cost(&budget, now);
        let plan = budget.plan(&[(POOL, MOLD)], &workers, now).expect("a plan");
        assert!(budget.costs_more(0, now, &plan, now) && !budget.costs_more(0, now, &plan, now));
        assert_eq!(cost(&budget, now), before * 2);
        assert_eq!(cost(&budget, now + GUESS_HOLDS), before);
    }

    #[test]
    fn a_kill_by_the_kernel_lowers_the_budget() {
        let (mut budget, mut workers, now) = (budget(), WorkerRegister::default(), Instant::now());
        assert!(budget.was_killed_by_kernel(1) && !budget.was_killed_by_kernel(1));
        grown(&mut workers, 140, now);
        let plan = budget.plan(&[(POOL, MOLD)], &workers, now).expect("a plan");
        assert_eq!(budget.lower(&plan, &config(MemoryBudget::Off)), Some(180 * MB));
        assert_eq!(
            budget.lower(&MemoryPlan { base: 900 * MB, ..plan }, &config(MemoryBudget::Off)),
            None,
            "never higher"
        );
    }

    #[test]
    fn a_retired_worker_is_reported_with_the_one_that_takes_its_place() {
        let (mut budget, now) = (budget(), Instant::now());
        assert_eq!(budget.retired(0, "first".to_owned(), now), None);
        assert_eq!(budget.replaced(1, now), None, "another pool");
        assert_eq!(budget.replaced(0, now + GUESS_HOLDS), Some(("first".to_owned(), GUESS_HOLDS)));
        budget.retired(0, "second".to_owned(), now);
        assert_eq!(budget.retired(0, "third".to_owned(), now), Some("second".to_owned()));
        assert_eq!((budget.not_replaced(1), budget.not_replaced(0)), (None, Some("third".to_owned())));
    }
}
