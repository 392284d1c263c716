//! `Refork auto`: a worker becomes the mold when what all have for themselves repays that, and no more when it did not.

use wire::control::PoolId;

use crate::Master;
use base::log;

/// So many requests workers have answered in the mean before what they have loaded is worth sharing; twice as many after each
/// time.
const REQUESTS: u64 = 50;
/// What workers have for themselves is so much of all that they and the mold have, in percent.
const PART: u64 = 20;
/// And as much as this together, in bytes.
const WORTH_IT: u64 = 4 << 20;
/// What a refork must save of what workers have for themselves, in percent, to be done again.
const LEAST_GAIN: u64 = 10;

/// What is remembered of a generation.
#[derive(Debug, Default)]
pub struct Auto {
    /// How workers were before the last refork.
    before: Option<Mean>,
    /// It did not pay.
    is_over: bool,
}

/// The workers of the mold that forks, in the mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mean {
    requests: u64,
    private: u64,
}

impl Auto {
    /// What the last refork has saved, in percent, when workers have answered as much as those before it had.
    fn saved(&mut self, now: Mean) -> Option<u64> {
        let before = self.before.take_if(|before| now.requests >= before.requests)?;
        Some(100 - (now.private * 100).checked_div(before.private).unwrap_or(100).min(100))
    }

    fn is_due(&self, now: Mean, workers: u64, mold: u64, reforks: u32) -> bool {
        let private = now.private * workers;
        let is_much = private >= WORTH_IT && private * 100 >= (mold + private) * PART;
        is_much && !self.is_over && self.before.is_none() && now.requests >= REQUESTS << reforks.min(16)
    }
}

impl Master {
    /// Whether to refork now. Says what the last time has brought, when that is known.
    pub(super) fn repays_refork(&mut self, serving: PoolId) -> bool {
        let Some(pool) = self.mold_pool(serving) else { return false };
        let reforks = pool.reforks;
        let Some(member) = pool.molds.forking() else { return false };
        let Some(mold) = self.budget.memory_of(member.mold.pid) else { return false };
        let of_it = self.workers.of(serving).filter(|(_, worker)| worker.mold.refork == member.refork);
        let measured: Vec<_> = of_it.filter_map(|(_, worker)| Some((worker.requests, worker.sizes?.private))).collect();
        let workers = measured.len() as u64;
        let Some(requests) = measured.iter().map(|(requests, _)| requests).sum::<u64>().checked_div(workers) else {
            return false;
        };
        let now = Mean { requests, private: measured.iter().map(|(_, private)| private).sum::<u64>() / workers };
        let (rss, name) = (mold.rss, self.name_of(serving));
        let auto = self.refork.auto.entry(serving.pool).or_default();
        if let Some(saved) = auto.saved(now) {
            auto.is_over = saved < LEAST_GAIN;
            let then = if saved < LEAST_GAIN { ": it does not pay, and is not done again before a reload" } else { "" };
            log::notice("master", format_args!("{name} refork={reforks} has saved {saved} % of private memory{then}"));
        }
        let is_due = auto.is_due(now, workers, rss, reforks);
        if is_due {
            auto.before = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn mean(requests: u64, mb: u64) -> Mean {
        Mean { requests, private: mb * MB }
    }

    #[test]
    fn it_is_due_when_much_is_private_and_enough_was_answered() {
        let auto = Auto::default();
        assert!(auto.is_due(mean(50, 20), 4, 60 * MB, 0));
        assert!(!auto.is_due(mean(49, 20), 4, 60 * MB, 0), "too soon");
        assert!(!auto.is_due(mean(99, 20), 4, 60 * MB, 1), "the second time takes twice as many");
        assert!(!auto.is_due(mean(50, 3), 4, 60 * MB, 0), "most is shared");
        assert!(!auto.is_due(mean(50, 1), 2, MB, 0), "nothing to speak of");
    }

    #[test]
    fn what_it_saved_is_told_when_it_can_be_compared() {
        let mut auto = Auto { before: Some(mean(60, 20)), is_over: false };
        assert!(!auto.is_due(mean(500, 20), 4, 60 * MB, 0), "the last one is not judged yet");
        assert_eq!(auto.saved(mean(59, 1)), None);
        assert_eq!(auto.saved(mean(60, 5)), Some(75));
        assert_eq!(auto.saved(mean(60, 5)), None, "told once");
        auto.before = Some(mean(60, 20));
        assert_eq!(auto.saved(mean(60, 25)), Some(0), "it has grown");
    }
}
