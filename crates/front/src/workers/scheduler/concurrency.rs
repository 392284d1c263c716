//! `MaxConcurrentReqs`: counts running requests for each line of the configuration.

use std::collections::HashMap;

use super::Scheduler;

/// Number of counted requests, by the id of the line.
#[derive(Debug, Default)]
pub(super) struct UnderWay(HashMap<u32, u32>);

impl UnderWay {
    /// The count of `line`.
    #[cfg(test)]
    pub fn count(&self, line: u32) -> u32 {
        self.0.get(&line).copied().unwrap_or(0)
    }
}

impl Scheduler {
    /// Counts a request for `line`, unless `most` are counted already. A counted request needs
    /// [`Scheduler::give_turn_back`] at its end.
    pub fn take_turn(&mut self, line: u32, most: u32) -> bool {
        let count = self.under_way.0.entry(line).or_default();
        let may = *count < most;
        *count += u32::from(may);
        may
    }

    /// Ends the count of a request for `line`.
    pub fn give_turn_back(&mut self, line: u32) {
        if let Some(count) = self.under_way.0.get_mut(&line) {
            *count = count.saturating_sub(1);
        }
    }
}
