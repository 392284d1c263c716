//! How much memory the server may have, when a worker has had enough, and when one becomes the mold.

use std::time::Duration;

/// `MemoryBudget`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryBudget {
    /// Nothing is counted.
    Off,
    /// Three quarters of what there is at the start.
    #[default]
    Auto,
    /// So many bytes, for all processes together.
    Bytes(u64),
}

/// `Refork`
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ReforkWhen {
    /// When somebody asks.
    #[default]
    Off,
    /// When what workers have loaded for themselves repays it.
    Auto,
    /// When a worker has answered so many requests, its successors' mold so many more, and so on.
    After(Vec<u64>),
}

/// What ends a worker, beside its requests; `None`: nothing of that kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkerLimits {
    /// `MaxMemoryPerChild`: private memory, in bytes.
    pub max_private: Option<u64>,
    /// `MinSharedPerChild`: what it shares, in bytes.
    pub min_shared: Option<u64>,
    /// `MaxGrowthPerChild`: private bytes in 1,000 requests.
    pub max_growth: Option<u64>,
    /// `MaxAgePerChild`
    pub max_age: Option<Duration>,
    /// `MaxIdlePerChild`
    pub max_idle: Option<Duration>,
}
