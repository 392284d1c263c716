//! `MaxConcurrentReqs`: counts running requests for each line of the configuration.

use std::collections::HashMap;

use super::Scheduler;
use crate::limits::turns::TurnCount;

/// Number of counted requests, by the id of the line.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    counts: HashMap<u32, u32>,
    /// Grows with each change of a count: a later count has a higher number.
    changes: u64,
}

impl UnderWay {
    /// The count of `line`.
    #[cfg(test)]
    pub fn count(&self, line: u32) -> u32 {
        self.counts.get(&line).copied().unwrap_or(0)
    }
}

impl Scheduler {
    /// Counts a request for `line`, unless `most` are counted already. A counted request needs
    /// [`Scheduler::give_turn_back`] at its end.
    pub fn take_turn(&mut self, line: u32, most: u32) -> Option<TurnCount> {
        let count = self.under_way.counts.entry(line).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        self.under_way.changes += 1;
        Some(TurnCount { running: *count, number: self.under_way.changes })
    }

    /// Ends the count of a request for `line`.
    pub fn give_turn_back(&mut self, line: u32) -> TurnCount {
        let count = self.under_way.counts.entry(line).or_default();
        *count = count.saturating_sub(1);
        self.under_way.changes += 1;
        TurnCount { running: *count, number: self.under_way.changes }
    }
}
