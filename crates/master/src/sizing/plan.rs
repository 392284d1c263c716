//! Limits that a memory budget sets, computed from measured sizes in bytes.

use std::collections::BTreeMap;

use wire::control::PoolNumber;

/// Part of the budget that is planned, in tenths. The rest is a reserve for growth between two measurements and for
/// leaving workers.
const PLANNED: u64 = 9;

/// The assumed cost of a worker before one was measured.
const FIRST_GUESS: u64 = 2 << 20;

/// Workers with work of a pool, and spare ones.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    pub pool: PoolNumber,
    pub workers: u32,
}

/// The server's memory at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryPlan {
    /// `MemoryBudget`
    pub budget: u64,
    /// Memory that does not depend on the number of workers: molds, with the pages that workers share, the front and
    /// others.
    pub base: u64,
    /// Private memory of each worker in bytes, including leaving workers.
    pub workers: Vec<u64>,
    /// Expected cost in bytes of one more worker of each pool, once it has served.
    pub costs: BTreeMap<PoolNumber, u64>,
}

impl MemoryPlan {
    /// Memory of all processes in bytes.
    pub fn total(&self) -> u64 {
        self.base + self.workers.iter().sum::<u64>()
    }

    /// The plan where a control group has only `available` bytes left: other programs may be in it, and its limits may
    /// change.
    pub fn within(self, available: Option<u64>) -> MemoryPlan {
        let most = available.map_or(u64::MAX, |available| self.total().saturating_add(available));
        MemoryPlan { budget: self.budget.min(most), ..self }
    }

    /// Unused bytes of the planned part of the budget.
    pub fn headroom(&self) -> u64 {
        self.planned().saturating_sub(self.total())
    }

    /// Whether more memory is used than planned.
    pub fn is_crossed(&self) -> bool {
        self.total() > self.planned()
    }

    /// Expected cost in bytes of one more worker of a pool.
    pub fn cost_of(&self, pool: PoolNumber) -> u64 {
        self.costs.get(&pool).copied().unwrap_or(FIRST_GUESS).max(1)
    }

    /// Maximum number of workers of each pool: the room that the claims of other pools leave, or, if all claims
    /// together exceed the plan, a share in proportion to the pool's claim. At least one.
    pub fn most_workers(&self, claims: &[Claim]) -> Vec<u32> {
        let (room, all) = (self.room(), self.cost_of_all(claims));
        let part = |claim: &Claim| match self.cost_of_one(claim) {
            own if all <= room => room - (all - own),
            own => u64::try_from(u128::from(room) * u128::from(own) / u128::from(all)).unwrap_or(room),
        };
        claims.iter().map(|claim| count(part(claim) / self.cost_of(claim.pool)).max(1)).collect()
    }

    /// Maximum number of workers of all pools together.
    pub fn most_in_all(&self, claims: &[Claim]) -> u32 {
        let (room, all) = (self.room(), self.cost_of_all(claims));
        let cheapest = claims.iter().map(|claim| self.cost_of(claim.pool)).min();
        match cheapest {
            Some(cheapest) if all <= room => {
                let claimed = claims.iter().map(|claim| claim.workers).fold(0, u32::saturating_add);
                claimed.saturating_add(count((room - all) / cheapest)).max(1)
            }
            _ => self.most_workers(claims).into_iter().fold(0, u32::saturating_add),
        }
    }

    /// Number of workers of a pool that may be forked now.
    pub fn may_fork(&self, pool: PoolNumber) -> u32 {
        count(self.headroom() / self.cost_of(pool))
    }

    /// Bytes by which each worker may grow until the next measurement, so that all together stay within the budget.
    pub fn growth(&self) -> u64 {
        self.headroom() / (self.workers.len() as u64).max(1)
    }

    /// Memory limit in bytes of a new worker of a pool until its first measurement; its cost is already counted.
    pub fn newborn(&self, pool: PoolNumber) -> u64 {
        self.cost_of(pool).saturating_add(self.growth())
    }

    /// Whether the end of a worker with `own` bytes frees more memory than its successor needs.
    pub fn repays(&self, pool: PoolNumber, own: u64) -> bool {
        let cost = self.cost_of(pool);
        own > cost.saturating_add(cost / 4)
    }

    fn planned(&self) -> u64 {
        self.budget / 10 * PLANNED
    }

    /// Planned memory for workers in bytes.
    fn room(&self) -> u64 {
        self.planned().saturating_sub(self.base)
    }

    fn cost_of_one(&self, claim: &Claim) -> u64 {
        self.cost_of(claim.pool).saturating_mul(u64::from(claim.workers))
    }

    fn cost_of_all(&self, claims: &[Claim]) -> u64 {
        claims.iter().map(|claim| self.cost_of_one(claim)).fold(0, u64::saturating_add)
    }
}

fn count(workers: u64) -> u32 {
    u32::try_from(workers).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn plan(workers: &[u64]) -> MemoryPlan {
        let workers = workers.iter().map(|mb| mb * MB).collect();
        MemoryPlan { budget: 500 * MB, base: 50 * MB, workers, costs: BTreeMap::from([(0, 20 * MB), (1, 80 * MB)]) }
    }

    fn claims(workers: &[u32]) -> Vec<Claim> {
        (0..).zip(workers).map(|(pool, workers)| Claim { pool, workers: *workers }).collect()
    }

    #[test]
    fn pools_share_the_memory_and_each_has_at_least_one_worker() {
        let plan = plan(&[]);
        assert_eq!(
            [plan.most_workers(&claims(&[4])), plan.most_workers(&claims(&[40]))],
            [[20], [20]],
            "one pool has it all"
        );
        assert_eq!(plan.most_workers(&claims(&[4, 3])), [8, 4], "what the other has no claim to");
        assert_eq!(plan.most_workers(&claims(&[20, 5])), [10, 2], "both shrink");
        assert_eq!(plan.most_workers(&claims(&[0, 40])), [1, 5], "one in any case");
        assert_eq!(plan.most_workers(&claims(&[u32::MAX, 0])), [20, 1]);
        assert_eq!([plan.most_in_all(&claims(&[4])), plan.most_in_all(&claims(&[40]))], [20, 20]);
        assert_eq!([plan.most_in_all(&claims(&[4, 3])), plan.most_in_all(&claims(&[20, 5]))], [11, 12]);
    }

    #[test]
    fn workers_fit_into_the_rest_of_nine_tenths() {
        let plan = plan(&[20, 20, 60]);
        assert_eq!((plan.total() / MB, plan.most_workers(&claims(&[3]))), (150, vec![20]));
        assert_eq!((plan.headroom() / MB, plan.may_fork(0), plan.growth() / MB), (300, 15, 100));
        assert!(!plan.is_crossed());
    }

    #[test]
    fn a_budget_that_is_crossed_allows_nothing_more_and_one_worker_in_any_case() {
        let plan = plan(&[300, 120]);
        assert!(plan.is_crossed());
        assert_eq!((plan.headroom(), plan.may_fork(0), plan.growth()), (0, 0, 0));
        let tiny = MemoryPlan { budget: 10 * MB, base: 50 * MB, ..MemoryPlan::default() };
        assert_eq!((tiny.most_workers(&claims(&[9])), tiny.may_fork(0)), (vec![1], 0));
    }

    #[test]
    fn a_control_group_that_is_nearly_full_lowers_the_budget() {
        let plan = plan(&[20, 20, 60]);
        assert_eq!(plan.clone().within(None), plan);
        assert_eq!(plan.clone().within(Some(400 * MB)).budget, 500 * MB);
        let full = plan.within(Some(0));
        assert_eq!((full.budget / MB, full.may_fork(0)), (150, 0));
        assert!(full.is_crossed());
    }

    #[test]
    fn only_a_worker_that_has_grown_is_replaced() {
        let plan = plan(&[]);
        assert!(plan.repays(0, 26 * MB) && !plan.repays(0, 24 * MB) && !plan.repays(1, 90 * MB));
    }
}
