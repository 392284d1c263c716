//! Cost of one more worker, and growth of workers.

use super::{Available, MemorySizes};

/// Minimum number of requests for a trend: growth in the first ones is mostly loading.
const ENOUGH_REQUESTS: u64 = 100;

/// A worker and its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Process id of its mold. Only workers of one mold are compared.
    pub mold: i32,
    /// Number of requests since its fork.
    pub requests: u64,
    /// Sizes in the last sample.
    pub sizes: MemorySizes,
}

/// Expected cost of one more worker: the median of the own memory of workers that have served requests, or of all
/// workers if none has. New workers have not loaded most of their data, and a median ignores a leaking one.
pub fn one_more(workers: &[Measured]) -> Option<u64> {
    let served: Vec<&Measured> = workers.iter().filter(|worker| worker.requests > 0).collect();
    let those = if served.is_empty() { workers.iter().collect() } else { served };
    let mut costs: Vec<u64> = those.into_iter().map(|worker| worker.sizes.own()).collect();
    costs.sort_unstable();
    costs.get(costs.len() / 2).copied()
}

/// Number of further workers that fit.
pub fn more_that_fit(available: Available, one_more: u64) -> Option<u64> {
    available.bytes.checked_div(one_more)
}

/// Growth of a worker's private memory per thousand requests, relative to the worker of its mold with the fewest
/// requests. `None` if their numbers of requests are too close for a trend.
pub fn growth_per_thousand(worker: &Measured, workers: &[Measured]) -> Option<i64> {
    let siblings = workers.iter().filter(|other| other.mold == worker.mold);
    let youngest = siblings.min_by_key(|other| (other.requests, other.sizes.private))?;
    let requests = worker.requests.checked_sub(youngest.requests).filter(|requests| *requests >= ENOUGH_REQUESTS)?;
    let grown = i128::from(worker.sizes.private) - i128::from(youngest.sizes.private);
    i64::try_from(grown * 1000 / i128::from(requests)).ok()
}

#[cfg(test)]
mod tests {
    use super::super::MemoryBound;
    use super::*;

    fn worker(mold: i32, requests: u64, private: u64) -> Measured {
        Measured { mold, requests, sizes: MemorySizes { private, ..MemorySizes::default() } }
    }

    #[test]
    fn one_more_worker_costs_as_much_as_workers_that_have_served() {
        assert_eq!(one_more(&[]), None);
        assert_eq!(one_more(&[worker(1, 0, 300), worker(1, 0, 310)]), Some(310), "no worker has served");
        let leaking = worker(1, 9000, 900_000);
        let pool = [worker(1, 0, 300), worker(1, 10, 2000), leaking, worker(1, 12, 2100), worker(1, 0, 300)];
        assert_eq!(one_more(&pool), Some(2100));
        let with_kernel = MemorySizes { private: 100, page_tables: 20, kernel_stacks: 3, ..MemorySizes::default() };
        assert_eq!(one_more(&[Measured { sizes: with_kernel, ..worker(1, 1, 0) }]), Some(123));
    }

    #[test]
    fn as_many_workers_fit_as_memory_allows() {
        let available = Available { bytes: 10_500, bound: MemoryBound::MemAvailable };
        assert_eq!(more_that_fit(available, 2000), Some(5));
        assert_eq!(more_that_fit(available, 0), None);
    }

    #[test]
    fn growth_is_relative_to_the_youngest_worker_of_the_same_mold() {
        let pool =
            [worker(1, 50, 10), worker(2, 0, 1000), worker(2, 2000, 5000), worker(2, 99, 90_000), worker(2, 400, 600)];
        let growth: Vec<_> = pool.iter().map(|worker| growth_per_thousand(worker, &pool)).collect();
        assert_eq!(growth, [None, None, Some(2000), None, Some(-1000)]);
        assert_eq!(growth_per_thousand(&worker(3, 500, 1), &pool), None, "no worker of the same mold");
        let most = worker(2, u64::MAX, u64::MAX);
        assert_eq!(growth_per_thousand(&most, &[worker(2, 0, 0), most]), Some(1000));
    }
}
