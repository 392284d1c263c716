//! Response times of the front: quantiles, and the histograms behind them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Response times since the front began to serve, as quantiles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseTimes {
    /// Time from the complete request head to the last byte of the response.
    pub request: Quantiles,
    /// Wait for a worker; only requests that needed one.
    pub queue: Quantiles,
    /// Time from the start of the worker's handling to the last byte of the response.
    pub service: Quantiles,
}

/// Quantiles of a set of durations, in µs; accurate to two digits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantiles {
    /// Number of durations.
    pub count: u64,
    /// 50th percentile, in µs.
    pub p50_us: u64,
    /// 90th percentile, in µs.
    pub p90_us: u64,
    /// 99th percentile, in µs.
    pub p99_us: u64,
    /// Maximum, in µs.
    pub max_us: u64,
}

/// A histogram of durations: from the middle of each class (less than 1 % wide), in µs, to its count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread(pub BTreeMap<u64, u64>);

/// The histograms behind [`ResponseTimes`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spreads {
    /// Time from the complete request head to the last byte of the response.
    pub request: Spread,
    /// Time until a worker took the request.
    pub queue: Spread,
    /// Time from the start of the worker's handling to the last byte of the response.
    pub service: Spread,
}

impl Spread {
    /// Number of durations.
    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the durations added since `earlier`. Where `earlier` has more, a new front has begun to count,
    /// and all are new.
    pub fn since(&self, earlier: &Spread) -> Spread {
        let before = |time| earlier.0.get(time).copied().unwrap_or(0);
        if self.0.iter().any(|(time, count)| *count < before(time)) {
            return self.clone();
        }
        let more = self.0.iter().map(|(time, count)| (*time, count - before(time)));
        Spread(more.filter(|(_, count)| *count > 0).collect())
    }

    /// The `percent`th percentile, in µs; 0 without durations.
    pub fn quantile(&self, percent: u64) -> u64 {
        let rank = (self.count() * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let found = self.0.iter().find(|(_, count)| {
            seen += *count;
            seen >= rank
        });
        found.map_or(0, |(time, _)| *time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_gives_the_quantiles_since_an_earlier_one() {
        let spread = |of: &[(u64, u64)]| Spread(of.iter().copied().collect());
        let (before, after) = (spread(&[(100, 50), (200, 1)]), spread(&[(100, 149), (200, 1), (9000, 1)]));
        let since = after.since(&before);
        assert_eq!(since, spread(&[(100, 99), (9000, 1)]));
        assert_eq!([50, 99, 100].map(|percent| since.quantile(percent)), [100, 100, 9000]);
        assert_eq!(before.since(&after), before, "another front has begun anew");
        assert_eq!(Spread::default().quantile(99), 0);
    }
}
