//! What a budget allows, from what was measured. Sizes are bytes.

/// So many tenths of the budget are planned with: the rest is for what happens between two measurements, and for workers
/// that have left and are not gone yet.
const PLANNED: u64 = 9;

/// The server's memory at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// `MemoryBudget`
    pub budget: u64,
    /// What is there whatever the number of workers: the mold, whose pages they share, the front and others.
    pub base: u64,
    /// What workers have for themselves, those included that leave.
    pub workers: Vec<u64>,
    /// What one more worker will cost once it has served.
    pub one_more: u64,
}

impl Plan {
    /// What all have together.
    pub fn total(&self) -> u64 {
        self.base + self.workers.iter().sum::<u64>()
    }

    /// The same where a control group allows only so much more: others may be in it, and its limits may change.
    pub fn within(self, available: Option<u64>) -> Plan {
        let most = available.map_or(u64::MAX, |available| self.total().saturating_add(available));
        Plan { budget: self.budget.min(most), ..self }
    }

    /// What is left of the planned part.
    pub fn headroom(&self) -> u64 {
        self.planned().saturating_sub(self.total())
    }

    /// Whether more is used than is planned.
    pub fn is_crossed(&self) -> bool {
        self.total() > self.planned()
    }

    /// How many workers fit; one in any case.
    pub fn most_workers(&self) -> u32 {
        let fit = self.planned().saturating_sub(self.base) / self.one_more.max(1);
        u32::try_from(fit).unwrap_or(u32::MAX).max(1)
    }

    /// How many more may be forked now.
    pub fn may_fork(&self) -> u32 {
        u32::try_from(self.headroom() / self.one_more.max(1)).unwrap_or(u32::MAX)
    }

    /// By how much each of the workers may grow until the next measurement: together they do not cross the budget.
    pub fn growth(&self) -> u64 {
        self.headroom() / (self.workers.len() as u64).max(1)
    }

    /// Whether a worker with so much has grown: its end gives something back, and its successor does not take it again at once.
    pub fn repays(&self, own: u64) -> bool {
        own > self.one_more && own > self.one_more.saturating_add(self.one_more / 4)
    }

    fn planned(&self) -> u64 {
        self.budget / 10 * PLANNED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn plan(workers: &[u64]) -> Plan {
        Plan { budget: 500 * MB, base: 50 * MB, workers: workers.iter().map(|mb| mb * MB).collect(), one_more: 20 * MB }
    }

    #[test]
    fn what_fits_is_what_is_left_of_nine_tenths() {
        let plan = plan(&[20, 20, 60]);
        assert_eq!((plan.total() / MB, plan.most_workers()), (150, 20));
        assert_eq!((plan.headroom() / MB, plan.may_fork(), plan.growth() / MB), (300, 15, 100));
        assert!(!plan.is_crossed());
    }

    #[test]
    fn a_budget_that_is_crossed_allows_nothing_more_and_one_worker_in_any_case() {
        let plan = plan(&[300, 120]);
        assert!(plan.is_crossed());
        assert_eq!((plan.headroom(), plan.may_fork(), plan.growth()), (0, 0, 0));
        let tiny = Plan { budget: 10 * MB, base: 50 * MB, ..Plan::default() };
        assert_eq!((tiny.most_workers(), tiny.may_fork()), (1, 0));
    }

    #[test]
    fn a_control_group_that_is_nearly_full_lowers_the_budget() {
        let plan = plan(&[20, 20, 60]);
        assert_eq!(plan.clone().within(None), plan);
        assert_eq!(plan.clone().within(Some(400 * MB)).budget, 500 * MB);
        let full = plan.within(Some(0));
        assert_eq!((full.budget / MB, full.may_fork()), (150, 0));
        assert!(full.is_crossed());
    }

    #[test]
    fn only_one_that_has_grown_is_worth_its_end() {
        let plan = plan(&[]);
        assert!(plan.repays(26 * MB) && !plan.repays(24 * MB) && !plan.repays(20 * MB));
    }
}
