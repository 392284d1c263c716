//! Whether `Refork` is due for a pool.

use wire::control::PoolId;

use super::Reforking;
use super::auto::{Judgement, Mean};
use crate::children::{MoldId, ReforkNumber};
use crate::pool::workers::WorkerRegister;
use config::budget::ReforkWhen;

/// A pool of the serving generation.
#[derive(Debug, Clone, Copy)]
pub struct ReforkView<'a> {
    pub pool: PoolId,
    /// Number of its workers that became molds.
    pub reforks: ReforkNumber,
    /// The mold that forks, if one does, and its resident memory in bytes, once measured.
    pub mold: Option<(ReforkNumber, Option<u64>)>,
    /// The workers of all pools.
    pub workers: &'a WorkerRegister,
}

impl ReforkView<'_> {
    /// The measured workers of the mold that forks: their mean, their number, and the resident memory of the mold.
    fn measured(&self) -> Option<(Mean, u64, u64)> {
        let (refork, rss) = self.mold?;
        let of_it = self.workers.of(self.pool).filter(|(_, worker)| worker.mold == MoldId { pool: self.pool, refork });
        let measured: Vec<_> = of_it.filter_map(|(_, worker)| Some((worker.requests, worker.sizes?.private))).collect();
        Some((Mean::of(&measured)?, measured.len() as u64, rss?))
    }

    /// Bytes that a refork would save, if that is worth it.
    pub fn would_save(&self) -> Option<u64> {
        let (mean, workers, mold) = self.measured()?;
        let saved = mean.would_save(workers);
        (saved > 0 && mean.is_worth_it(workers, mold, self.reforks)).then_some(saved)
    }
}

impl Reforking {
    /// Whether `Refork` is due for a pool: a worker has answered enough, or the workers of the mold that forks have
    /// enough private memory.
    pub fn is_due(&mut self, when: &ReforkWhen, view: &ReforkView<'_>) -> Judgement {
        match when {
            ReforkWhen::Off => Judgement::default(),
            ReforkWhen::After(requests) => {
                let wanted = requests.get(view.reforks as usize);
                let has_answered = |wanted: &u64| view.workers.of(view.pool).any(|(_, w)| w.requests >= *wanted);
                Judgement { saved: None, is_due: wanted.is_some_and(has_answered) }
            }
            ReforkWhen::Auto => match view.measured() {
                Some((mean, workers, mold)) => {
                    self.auto.entry(view.pool.pool).or_default().judge(mean, workers, mold, view.reforks)
                }
                None => Judgement::default(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use machine::memory::MemorySizes;

    const POOL: PoolId = PoolId { generation: 1, pool: 0 };
    const MB: u64 = 1 << 20;

    /// Two workers of the first mold with this many requests each and 100 MB of private memory.
    fn workers(requests: u64) -> WorkerRegister {
        let (mut workers, now) = (WorkerRegister::default(), Instant::now());
        for _ in 0..2 {
            let id = workers.add(MoldId { pool: POOL, refork: 0 }, now);
            let worker = workers.find_mut(id).expect("there");
            worker.requests = requests;
            worker.measured(MemorySizes { private: 100 * MB, ..MemorySizes::default() });
        }
        workers
    }

    #[test]
    fn a_number_of_requests_is_that_of_the_next_refork() {
        let (mut refork, workers) = (Reforking::default(), workers(20));
        let mut is_due = |reforks, when: &ReforkWhen| {
            refork.is_due(when, &ReforkView { pool: POOL, reforks, mold: None, workers: &workers }).is_due
        };
        let after = ReforkWhen::After(vec![20, 21]);
        assert_eq!([0, 1, 2].map(|reforks| is_due(reforks, &after)), [true, false, false]);
        assert!(!is_due(0, &ReforkWhen::Off));
    }

    #[test]
    fn auto_waits_until_mold_and_workers_are_measured() {
        let (mut refork, workers) = (Reforking::default(), workers(1000));
        let mut is_due = |mold| {
            refork.is_due(&ReforkWhen::Auto, &ReforkView { pool: POOL, reforks: 0, mold, workers: &workers }).is_due
        };
        assert!(is_due(Some((0, Some(60 * MB)))), "half of all memory is private");
        assert!(!is_due(Some((0, None))), "the mold was not measured yet");
        assert!(!is_due(Some((1, Some(60 * MB)))), "another mold forks");
        assert!(!is_due(None), "no mold forks");
    }
}
