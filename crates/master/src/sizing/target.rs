//! The number of workers that each pool is to have: Apache's prefork policy within the memory budget, as a pure
//! function.
//!
//! A worker without a request is spare. A pool should have a worker for each request that runs or waits, and
//! MinSpareServers spare ones. It may have MaxSpareServers spare ones before workers leave, and never more than
//! MaxClients, or than the budget allows.

use wire::control::PoolId;

use super::limits::{PoolLimits, PoolLoad};
use super::plan::{Claim, MemoryPlan};

/// The rule for the limits of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitRule {
    /// The directives set the limits.
    Directives,
    /// The directives set the limits, with this maximum (`MaxClients auto`).
    AtMost(u32),
    /// A measurement (`cameleer tune`) sets exactly this number of workers.
    Exactly(u32),
}

/// A pool of the serving generation at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolState {
    pub id: PoolId,
    /// Limits from the pool's directives and from TTIN and TTOU.
    pub limits: PoolLimits,
    pub rule: LimitRule,
    /// Workers and requests of the pool.
    pub load: PoolLoad,
}

/// Number of workers wanted for a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolTarget {
    pub id: PoolId,
    /// Workers and requests of the pool.
    pub load: PoolLoad,
    /// Limits in force: by the rule, restricted by the budget.
    pub limits: PoolLimits,
    pub workers: u32,
    /// Number of processes that may be forked now. A leaving worker uses memory until it has ended.
    pub room: u32,
    /// Whether the pool is limited by the budget rather than by MaxClients.
    pub is_cut_by_budget: bool,
}

/// The targets of all pools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Targets {
    /// The targets, by pool number.
    pub pools: Vec<PoolTarget>,
    /// Maximum number of workers of all pools together.
    pub most_workers: u32,
}

impl LimitRule {
    fn apply(self, limits: PoolLimits) -> PoolLimits {
        match self {
            LimitRule::Directives => limits,
            LimitRule::AtMost(most) => limits.at_most(most),
            LimitRule::Exactly(workers) => PoolLimits::fixed(workers),
        }
    }
}

/// Number of workers wanted for each pool of the serving generation; `budget` is the memory plan, if memory is limited.
pub fn targets(pools: &[PoolState], budget: Option<&MemoryPlan>) -> Targets {
    let mut limits: Vec<PoolLimits> = pools.iter().map(|pool| pool.rule.apply(pool.limits)).collect();
    if let Some(plan) = budget {
        let most = plan.most_workers(&claims(pools, &limits));
        limits.iter_mut().zip(most).for_each(|(limits, most)| *limits = limits.at_most(most));
    }
    let each = limits.iter().map(|limits| limits.max_clients).fold(0, u32::saturating_add);
    let fit = budget.map_or(u32::MAX, |plan| plan.most_in_all(&claims(pools, &limits)));
    Targets {
        most_workers: each.min(fit),
        pools: pools.iter().zip(limits).map(|(pool, limits)| target(pool, limits, budget)).collect(),
    }
}

/// Number of workers with work of each pool, and of spare ones.
fn claims(pools: &[PoolState], limits: &[PoolLimits]) -> Vec<Claim> {
    let claim = |(pool, limits): (&PoolState, &PoolLimits)| {
        let wanted = pool.load.busy.saturating_add(pool.load.queued).saturating_add(limits.min_spare);
        Claim { pool: pool.id.pool, workers: wanted.min(limits.max_clients) }
    };
    pools.iter().zip(limits).map(claim).collect()
}

fn target(pool: &PoolState, limits: PoolLimits, budget: Option<&MemoryPlan>) -> PoolTarget {
    let PoolState { id, load, .. } = *pool;
    // Besides the serving workers, as many others may be leaving.
    let room = limits.max_clients.saturating_mul(2).saturating_sub(load.processes);
    // A pool without any process gets one, whatever it costs.
    let fits = budget.map_or(u32::MAX, |plan| plan.may_fork(id.pool).max(u32::from(load.processes == 0)));
    PoolTarget {
        id,
        load,
        limits,
        workers: workers(load, &limits),
        room: room.min(fits),
        is_cut_by_budget: limits.max_clients < pool.rule.apply(pool.limits).max_clients,
    }
}

fn workers(load: PoolLoad, limits: &PoolLimits) -> u32 {
    let busy = load.busy.min(load.alive);
    let least = busy.saturating_add(load.queued).saturating_add(limits.min_spare).min(limits.max_clients);
    let most = busy.saturating_add(limits.max_spare.max(limits.min_spare)).min(limits.max_clients);
    load.alive.clamp(least, most.max(least))
}

impl PoolTarget {
    /// Whether all workers are busy and the pool has reached its limit.
    pub fn is_exhausted(&self) -> bool {
        self.load.alive >= self.limits.max_clients && self.load.spare() == 0
    }

    /// The message when all workers are busy; `pool` names the pool.
    pub fn exhaustion(&self, pool: &str) -> String {
        match self.is_cut_by_budget {
            false => format!("{pool} reached MaxClients setting, consider raising the MaxClients setting"),
            true => format!(
                "{pool}: at most {} workers fit into the MemoryBudget; raise it, or let workers share more memory (cameleer mem)",
                self.limits.max_clients
            ),
        }
    }

    /// Whether the pool has more workers than its limit: leaving workers are not replaced.
    pub fn is_above_limit(&self) -> bool {
        self.load.alive > self.limits.max_clients
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const MB: u64 = 1 << 20;

    fn state(pool: u16, limits: PoolLimits, load: PoolLoad) -> PoolState {
        PoolState { id: PoolId { generation: 1, pool }, limits, rule: LimitRule::Directives, load }
    }

    fn load(alive: u32, busy: u32, queued: u32) -> PoolLoad {
        PoolLoad { alive, processes: alive, busy, queued }
    }

    const LIMITS: PoolLimits = PoolLimits { start: 5, min_spare: 5, max_spare: 10, max_clients: 150 };

    fn wanted(load: PoolLoad) -> u32 {
        targets(&[state(0, LIMITS, load)], None).pools[0].workers
    }

    #[test]
    fn a_pool_has_a_worker_for_each_request_and_some_spare_ones() {
        assert_eq!(wanted(load(0, 0, 0)), 5, "MinSpareServers");
        assert_eq!(wanted(load(20, 18, 7)), 30);
        assert_eq!(wanted(load(20, 12, 0)), 20, "between MinSpareServers and MaxSpareServers");
        assert_eq!(wanted(load(20, 0, 0)), 10, "MaxSpareServers");
        assert_eq!(wanted(load(20, 20, 500)), 150, "MaxClients");
        assert_eq!(wanted(load(170, 170, 0)), 150);
    }

    #[test]
    fn a_limit_rule_overrides_the_directives() {
        let with = |rule| {
            let state = PoolState { rule, ..state(0, LIMITS, load(9, 9, 99)) };
            let targets = targets(&[state], None);
            (targets.pools[0].workers, targets.most_workers)
        };
        assert_eq!(with(LimitRule::AtMost(12)), (12, 12));
        assert_eq!(with(LimitRule::Exactly(200)), (200, 200));
    }

    #[test]
    fn a_pool_without_processes_gets_one_whatever_it_costs() {
        let full = MemoryPlan { budget: 10 * MB, base: 50 * MB, ..MemoryPlan::default() };
        let room = |load| targets(&[state(0, LIMITS, load)], Some(&full)).pools[0].room;
        assert_eq!((room(load(0, 0, 0)), room(load(1, 1, 9))), (1, 0));
    }

    #[test]
    fn the_budget_cuts_what_maxclients_allows() {
        let plan =
            MemoryPlan { budget: 500 * MB, base: 50 * MB, workers: Vec::new(), costs: BTreeMap::from([(0, 20 * MB)]) };
        let found = targets(&[state(0, LIMITS, load(5, 5, 500))], Some(&plan));
        let target = found.pools[0];
        assert_eq!((target.workers, target.limits.max_clients, found.most_workers), (20, 20, 20));
        assert!(target.is_cut_by_budget);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Invariants for any load, limits and memory: no pool exceeds its limit, each has one worker, and a pool that
        /// has reached its target does not change.
        #[test]
        fn limits_hold_whatever_the_load(
            pools in proptest::collection::vec((1u32..40, 1u32..40, 1u32..99, 0u32..120, 0u32..120, 0u32..300), 1..4),
            budget in proptest::option::of(0u64..4000), cost in 1u64..80,
        ) {
            let state_of = |(number, (min, max, most, alive, busy, queued))| {
                let limits = PoolLimits { start: 1, min_spare: u32::min(min, most), max_spare: max, max_clients: most };
                state(number, limits, load(alive, busy, queued))
            };
            let states: Vec<PoolState> = (0..).zip(pools).map(state_of).collect();
            let costs = states.iter().map(|state| (state.id.pool, cost * MB)).collect();
            let plan = budget.map(|mb| MemoryPlan { budget: mb * MB, base: 60 * MB, workers: Vec::new(), costs });
            let found = targets(&states, plan.as_ref());
            for (state, target) in states.iter().zip(&found.pools) {
                prop_assert!((1..=state.limits.max_clients).contains(&target.workers), "{target:?}");
                prop_assert!(target.workers >= u32::min(state.load.busy.min(state.load.alive), target.limits.max_clients));
                let arrived = PoolState { load: PoolLoad { alive: target.workers, ..state.load }, ..*state };
                if state.load.busy <= state.load.alive && state.load.busy <= target.workers {
                    let again = targets(&[arrived], None).pools[0];
                    prop_assert!(plan.is_some() || again.workers == target.workers, "{target:?} {again:?}");
                }
            }
            let all: u32 = found.pools.iter().map(|target| target.limits.max_clients).sum();
            prop_assert!(found.most_workers <= all);
        }
    }
}
