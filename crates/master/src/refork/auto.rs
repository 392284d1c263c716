//! `Refork auto`: promotes a worker when the private memory of all workers is worth it, and stops after a refork that
//! saved too little.

/// Mean number of requests per worker before the loaded code is worth sharing; doubled after each refork.
const REQUESTS: u64 = 50;
/// Minimum share of private memory in the memory of workers and mold, in percent.
const PART: u64 = 20;
/// Minimum private memory of all workers together, in bytes.
const WORTH_IT: u64 = 4 << 20;
/// Private memory that a worker of a mold that was a worker has for itself after some hundred requests, in bytes:
/// docs/memory.md has the measurement.
const OF_ITS_OWN: u64 = 1 << 20;
/// Minimum savings of a refork in percent of the private memory; below it no further refork follows.
const MIN_GAIN: u64 = 10;

/// The memory of one pool of a generation.
#[derive(Debug, Default)]
pub struct AutoRefork {
    /// The workers before the last refork.
    before: Option<Mean>,
    /// Whether a refork saved too little, so that no further one follows.
    is_over: bool,
}

/// Mean values of the workers of one mold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mean {
    /// Requests that a worker has answered.
    pub requests: u64,
    /// Private memory of the worker in bytes.
    pub private: u64,
}

/// The decision about a refork of a mold's workers, and the memory that the last refork has saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Judgement {
    /// Savings of the last refork in percent of the private memory, once they are known.
    pub saved: Option<u64>,
    /// Whether another refork is worth it.
    pub is_due: bool,
}

impl Judgement {
    /// Whether the last refork saved too little for another one.
    pub fn does_not_pay(&self) -> bool {
        self.saved.is_some_and(|saved| saved < MIN_GAIN)
    }
}

impl Mean {
    /// Means over the requests and private bytes of workers; `None`: there are no workers.
    pub fn of(workers: &[(u64, u64)]) -> Option<Mean> {
        let count = workers.len() as u64;
        let requests = workers.iter().map(|(requests, _)| requests).sum::<u64>().checked_div(count)?;
        let private = workers.iter().map(|(_, private)| private).sum::<u64>().checked_div(count)?;
        Some(Mean { requests, private })
    }

    /// Whether the private memory of that many workers of a mold of `mold` bytes is worth a refork, after `reforks`.
    pub fn is_worth_it(self, workers: u64, mold: u64, reforks: u32) -> bool {
        let private = self.private.saturating_mul(workers);
        let is_much = private >= WORTH_IT && private.saturating_mul(100) >= mold.saturating_add(private) * PART;
        is_much && self.requests >= REQUESTS << reforks.min(16)
    }

    /// Bytes that a refork of that many workers would save: their memory is then there once, in the mold.
    pub fn would_save(self, workers: u64) -> u64 {
        self.private.saturating_sub(OF_ITS_OWN).saturating_mul(workers.saturating_sub(1))
    }
}

impl AutoRefork {
    /// Judges `workers` workers of a mold of `mold` bytes, after `reforks` reforks.
    pub fn judge(&mut self, now: Mean, workers: u64, mold: u64, reforks: u32) -> Judgement {
        let saved = self.saved(now);
        let mut judgement = Judgement { saved, is_due: false };
        self.is_over |= judgement.does_not_pay();
        judgement.is_due = self.is_due(now, workers, mold, reforks);
        if judgement.is_due {
            self.before = Some(now);
        }
        judgement
    }

    /// Savings of the last refork in percent, once workers have answered as many requests as their predecessors had.
    fn saved(&mut self, now: Mean) -> Option<u64> {
        let before = self.before.take_if(|before| now.requests >= before.requests)?;
        Some(100 - (now.private * 100).checked_div(before.private).unwrap_or(100).min(100))
    }

    fn is_due(&self, now: Mean, workers: u64, mold: u64, reforks: u32) -> bool {
        !self.is_over && self.before.is_none() && now.is_worth_it(workers, mold, reforks)
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
    fn a_refork_is_due_with_much_private_memory_and_enough_requests() {
        let auto = AutoRefork::default();
        assert!(auto.is_due(mean(50, 20), 4, 60 * MB, 0));
        assert!(!auto.is_due(mean(49, 20), 4, 60 * MB, 0), "too soon");
        assert!(!auto.is_due(mean(99, 20), 4, 60 * MB, 1), "the second time takes twice as many");
        assert!(!auto.is_due(mean(50, 3), 4, 60 * MB, 0), "most is shared");
        assert!(!auto.is_due(mean(50, 1), 2, MB, 0), "nothing to speak of");
    }

    #[test]
    fn a_refork_saves_the_memory_of_all_workers_but_one() {
        assert_eq!(mean(50, 21).would_save(4), 60 * MB);
        assert_eq!(mean(50, 21).would_save(1), 0, "one worker shares with nobody");
        assert_eq!(mean(50, 0).would_save(4), 0);
    }

    #[test]
    fn savings_of_a_refork_are_reported_when_they_are_comparable() {
        let mut auto = AutoRefork { before: Some(mean(60, 20)), is_over: false };
        assert!(!auto.is_due(mean(500, 20), 4, 60 * MB, 0), "the last one is not judged yet");
        assert_eq!(auto.saved(mean(59, 1)), None);
        assert_eq!(auto.saved(mean(60, 5)), Some(75));
        assert_eq!(auto.saved(mean(60, 5)), None, "reported once");
        auto.before = Some(mean(60, 20));
        assert_eq!(auto.saved(mean(60, 25)), Some(0), "it has grown");
    }

    #[test]
    fn a_refork_that_does_not_pay_is_the_last() {
        let mut auto = AutoRefork::default();
        assert_eq!(auto.judge(mean(50, 20), 4, 60 * MB, 0), Judgement { saved: None, is_due: true });
        let judgement = auto.judge(mean(200, 19), 4, 60 * MB, 1);
        assert_eq!(judgement, Judgement { saved: Some(5), is_due: false });
        assert!(judgement.does_not_pay());
        assert!(!auto.judge(mean(9000, 19), 4, 60 * MB, 1).is_due);
    }
}
