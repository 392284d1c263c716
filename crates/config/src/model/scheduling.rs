//! Sharing of workers: `PoolShare`, `SpeedLimit`, `SpeedLimitExempt`.

use crate::model::merge::{keep, replace, settings};
use std::sync::Arc;
use std::time::Duration;

use crate::syntax::value::network::Network;

settings! {
    /// Settings of one section. `None`: not set, the outer value applies.
    #[derive(Clone, Default, PartialEq)]
    section struct PartialScheduling {}

    /// Merged settings of a request.
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
    /// Number of the directive's line; requests of one line share the part.
    pub id: u32,
    /// Section of the directive, for the status page.
    pub place: String,
    /// Size of the pool's part.
    pub size: ShareSize,
}

/// The argument of `PoolShare`: `20%` or `4`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShareSize {
    /// Percentage of MaxClients.
    Percent(u32),
    /// A fixed number, at least 1.
    Workers(u32),
}

/// The section of a limit, which has the same name on all servers with the same configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitPlace {
    /// Index of the virtual host; 0 is the main server.
    pub host: u16,
    /// `<Location /app>`; empty outside of sections.
    pub section: Arc<str>,
}

/// `SpeedLimit`: limits of one client.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedLimit {
    /// Number of the directive's line; requests of one line are counted together.
    pub id: u32,
    /// Section of the directive, for the key in `LimitStore`.
    pub place: LimitPlace,
    /// `None`: only worker time is limited.
    pub requests: Option<Rate>,
    /// Limit of worker time, in seconds.
    pub worker_seconds: Option<Rate>,
}

/// An amount per period.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Number of requests, or seconds of worker time.
    pub amount: u32,
    /// Length of the period.
    pub period: Duration,
}

impl ShareSize {
    /// The size in workers; at least one.
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
