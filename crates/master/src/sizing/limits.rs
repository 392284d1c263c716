//! Limits and load of a pool.

use config::PoolSettings;

/// The directives of a pool as they are in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolLimits {
    pub start: u32,
    /// `MinSpareServers`
    pub min_spare: u32,
    /// `MaxSpareServers`
    pub max_spare: u32,
    /// `MaxClients`
    pub max_clients: u32,
}

impl PoolLimits {
    /// The configuration's limits, `shift` higher (TTIN) or lower (TTOU), and never below 1; but a pool that has a
    /// process only when a request needs it stays so.
    pub fn of(pool: &PoolSettings, shift: i32) -> PoolLimits {
        let shifted = |n: u32| if n == 0 { 0 } else { n.saturating_add_signed(shift).max(1) };
        PoolLimits {
            start: shifted(pool.start).min(shifted(pool.max_clients)),
            min_spare: shifted(pool.min_spare).min(shifted(pool.max_clients)),
            max_spare: shifted(pool.max_spare),
            max_clients: shifted(pool.max_clients),
        }
    }

    /// Exactly `workers` workers, whatever the load.
    pub fn fixed(workers: u32) -> PoolLimits {
        PoolLimits { start: workers, min_spare: workers, max_spare: workers, max_clients: workers }
    }

    /// The limits, restricted to `most` workers.
    pub fn at_most(self, most: u32) -> PoolLimits {
        let PoolLimits { start, min_spare, max_spare, max_clients } = self;
        PoolLimits {
            start: start.min(most),
            min_spare: min_spare.min(most),
            max_spare,
            max_clients: max_clients.min(most),
        }
    }
}

/// The workers of a pool of the serving generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolLoad {
    /// Starting, idle and busy workers.
    pub alive: u32,
    /// Starting, idle, busy and leaving workers.
    pub processes: u32,
    /// Workers that have a request.
    pub busy: u32,
    /// Requests that wait for a worker.
    pub queued: u32,
}

impl PoolLoad {
    /// Workers without a request.
    pub fn spare(self) -> u32 {
        self.alive.saturating_sub(self.busy)
    }
}
