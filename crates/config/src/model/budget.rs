//! `MemoryBudget`, the limits of a worker, and `Refork`.

use std::time::Duration;

/// `MemoryBudget`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryBudget {
    /// `off`: memory limits no worker.
    Off,
    /// Three quarters of the memory that is available at the start.
    #[default]
    Auto,
    /// Bytes of all processes together.
    Bytes(u64),
}

/// `Refork`
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ReforkWhen {
    /// Only on command.
    #[default]
    Off,
    /// When the measured savings repay it.
    Auto,
    /// After each number of requests: the first number for a worker of the first mold, the second for a worker of the
    /// next mold, and so on.
    After(Vec<u64>),
}

/// Limits of a worker besides its number of requests. `None`: no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkerLimits {
    /// `MaxMemoryPerChild`: private memory, in bytes.
    pub max_private: Option<u64>,
    /// `MinSharedPerChild`: shared memory, in bytes.
    pub min_shared: Option<u64>,
    /// `MaxGrowthPerChild`: growth of private memory in 1,000 requests, in bytes.
    pub max_growth: Option<u64>,
    /// `MaxAgePerChild`
    pub max_age: Option<Duration>,
    /// `MaxIdlePerChild`
    pub max_idle: Option<Duration>,
}
