//! Counters of the master since its start: workers that ended, by reason; reloads; reforks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// Counters of the master since its start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerCounts {
    /// Workers that have ended, by reason.
    pub exits: BTreeMap<ExitReason, u64>,
    /// Number of reloads whose generation started to serve.
    pub reloads: u64,
    /// Reloads that failed: the old code went on serving.
    pub failed_reloads: u64,
    /// Number of workers that became a mold.
    pub reforks: u64,
    /// Number of promotions between the mold that loaded the code and the mold that forks now.
    pub refork_generation: u32,
}

impl ServerCounts {
    /// Counts the end of a worker.
    pub fn exited(&mut self, reason: ExitReason) {
        *self.exits.entry(reason).or_default() += 1;
    }

    /// Number of workers that ended by a fault ([`ExitReason::is_fault`]).
    pub fn faults(&self) -> u64 {
        self.exits.iter().filter(|(reason, _)| reason.is_fault()).map(|(_, count)| count).sum()
    }
}

/// Why a worker has ended.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ExitReason {
    /// `MaxRequestsPerChild`
    MaxRequests,
    /// A memory limit (`MaxMemoryPerChild` and related directives, `MemoryBudget`).
    Memory,
    /// `MaxAgePerChild`
    MaxAge,
    /// `MaxIdlePerChild`
    MaxIdle,
    /// The program requested the exit: `child_terminate`, harakiri.
    Program,
    /// A request left state behind that cannot be restored.
    Spoilt,
    /// `cameleer recycle`
    Recycle,
    /// More idle workers than `MaxSpareServers`, or more workers than `MaxClients`.
    Spare,
    /// A newer generation has replaced the worker's.
    Reload,
    /// The worker made room for a fork of a newer mold, or became a mold itself.
    Refork,
    /// The server is stopping.
    Stop,
    /// Killed: the request did not end within the grace period after `RequestTimeout`.
    RequestTimeout,
    /// Killed: the worker did not become ready within `StartTimeout`.
    StartTimeout,
    /// Killed: the worker took too long to exit.
    SlowEnd,
    /// Killed: the worker broke the protocol or closed its socket.
    Unsound,
    /// Killed by the kernel's out-of-memory killer.
    OutOfMemory,
    /// Died by a signal that the server did not send.
    Signal,
    /// The worker exited without being asked to.
    Exit,
}

impl ExitReason {
    /// The name in metrics, JSON and tables.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the reason is a fault that an administrator should look into.
    pub fn is_fault(self) -> bool {
        use ExitReason::*;
        matches!(self, RequestTimeout | StartTimeout | SlowEnd | Unsound | OutOfMemory | Signal | Exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_one_name_in_json_and_metrics() {
        for reason in ExitReason::VARIANTS {
            assert_eq!(serde_json::to_value(reason).expect("a word"), reason.name());
        }
    }
}
