//! Who gets a worker when there are not enough: `PoolShare`, `SpeedLimit`, `SpeedLimitExempt`.

use crate::config::model::merge::{keep, replace, settings};
use std::time::Duration;

use crate::config::model::access::Network;

settings! {
    /// What one section says; `None`: nothing, keep what was.
    #[derive(Clone, Default, PartialEq)]
    said struct PartialScheduling {}

    /// What all sections of a request say together.
    #[derive(Clone, Default, PartialEq)]
    merged struct Scheduling {}

    /// `PoolShare`
    share: Option<PoolShare> => Option<PoolShare>, keep;
    /// `SpeedLimit`; `Some(None)` is Off.
    speed: Option<Option<SpeedLimit>> => Option<SpeedLimit>, replace;
    /// `SpeedLimitExempt`
    exempt: Option<Vec<Network>> => Vec<Network>, replace;
}

/// `PoolShare`: a part of the pool.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolShare {
    /// Requests of one line share; every line has a number of its own.
    pub id: u32,
    /// The section where it stands, for a status.
    pub place: String,
    /// How large it is.
    pub size: ShareSize,
}

/// The size of a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShareSize {
    /// Of MaxClients.
    Percent(u32),
    /// So many.
    Workers(u32),
}

/// `SpeedLimit`: what one client may ask for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedLimit {
    /// Requests of one line are counted together; every line has a number of its own.
    pub id: u32,
    /// Requests.
    pub requests: Option<Rate>,
    /// Seconds that workers work for it.
    pub worker_seconds: Option<Rate>,
}

/// So much in so long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// So many requests, or seconds of work,
    pub amount: u32,
    /// in such a time.
    pub period: Duration,
}

impl ShareSize {
    /// How many workers it is; at least one.
    pub fn of(self, workers: u32) -> u32 {
        match self {
            ShareSize::Percent(percent) => (u64::from(workers) * u64::from(percent)).div_ceil(100).max(1) as u32,
            ShareSize::Workers(count) => count.min(workers),
        }
    }
}

impl std::fmt::Display for SpeedLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rates = [("requests", self.requests), ("worker-seconds", self.worker_seconds)];
        let words = rates.iter().filter_map(|(name, rate)| rate.map(|rate| format!("{name}={rate}")));
        f.write_str(&words.collect::<Vec<_>>().join(" "))
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.period.subsec_millis() {
            0 => write!(f, "{}/{}s", self.amount, self.period.as_secs()),
            _ => write!(f, "{}/{}ms", self.amount, self.period.as_millis()),
        }
    }
}
