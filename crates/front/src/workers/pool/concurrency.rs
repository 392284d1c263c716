//! `MaxConcurrentReqs`: how many requests of one line are under way.

use std::collections::HashMap;

use super::Pool;

/// The requests that are counted, by the number of the line.
#[derive(Debug, Default)]
pub(super) struct UnderWay(HashMap<u32, u32>);

impl UnderWay {
    /// Of that line.
    #[cfg(test)]
    pub fn count(&self, line: u32) -> u32 {
        self.0.get(&line).copied().unwrap_or(0)
    }
}

impl Pool {
    /// Counts a request for the line of that number, of which `most` may be under way; false when as many are. What is
    /// counted is given back by [`Pool::give_turn_back`].
    pub fn take_turn(&mut self, line: u32, most: u32) -> bool {
        let count = self.under_way.0.entry(line).or_default();
        let may = *count < most;
        *count += u32::from(may);
        may
    }

    /// A request that was counted for that line is over.
    pub fn give_turn_back(&mut self, line: u32) {
        if let Some(count) = self.under_way.0.get_mut(&line) {
            *count = count.saturating_sub(1);
        }
    }
}
