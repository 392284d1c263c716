//! What the master counts since it began to serve: ends of workers by their reasons, reloads, reforks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerCounts {
    /// Workers that have ended, by why they did.
    pub exits: BTreeMap<ExitReason, u64>,
    /// Reloads that came to serve.
    pub reloads: u64,
    /// Reloads that failed: the old code served on.
    pub failed_reloads: u64,
    /// Workers that became the mold.
    pub reforks: u64,
    /// How many promotions lie between the mold that loaded the code and the one that forks.
    pub refork_generation: u32,
}

impl ServerCounts {
    /// A worker has ended.
    pub fn exited(&mut self, reason: ExitReason) {
        *self.exits.entry(reason).or_default() += 1;
    }

    /// Ends that nobody wanted.
    pub fn faults(&self) -> u64 {
        self.exits.iter().filter(|(reason, _)| reason.is_fault()).map(|(_, count)| count).sum()
    }
}

/// Why a worker has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    /// `MaxRequestsPerChild`
    MaxRequests,
    /// Its memory: `MaxMemoryPerChild` and its kin, `MemoryBudget`.
    Memory,
    /// `MaxAgePerChild`
    MaxAge,
    /// `MaxIdlePerChild`
    MaxIdle,
    /// The program wanted it: `child_terminate`, harakiri.
    Program,
    /// A request has left what cannot be put back.
    Spoilt,
    /// `cameleer recycle`
    Recycle,
    /// There were more than `MaxSpareServers`, or than `MaxClients` allows now.
    Spare,
    /// A newer generation serves.
    Reload,
    /// Its place is for one that a newer mold has forked, or it became a mold itself.
    Refork,
    /// The server stops.
    Stop,
    /// Killed: it did not end its request after `RequestTimeout`.
    RequestTimeout,
    /// Killed: it did not begin within `StartTimeout`.
    StartTimeout,
    /// Killed: its end took too long.
    SlowEnd,
    /// Killed: it broke the protocol or closed its socket.
    Unsound,
    /// Killed by the kernel for want of memory.
    OutOfMemory,
    /// Died by a signal that was not ours.
    Signal,
    /// Ended of itself when nobody had asked.
    Exit,
}

impl ExitReason {
    /// All, as the enum has them.
    pub const ALL: [ExitReason; 18] = {
        use ExitReason::*;
        [
            MaxRequests,
            Memory,
            MaxAge,
            MaxIdle,
            Program,
            Spoilt,
            Recycle,
            Spare,
            Reload,
            Refork,
            Stop,
            RequestTimeout,
            StartTimeout,
            SlowEnd,
            Unsound,
            OutOfMemory,
            Signal,
            Exit,
        ]
    };

    /// As metrics, JSON and tables name it.
    pub fn name(self) -> &'static str {
        match self {
            ExitReason::MaxRequests => "max_requests",
            ExitReason::Memory => "memory",
            ExitReason::MaxAge => "max_age",
            ExitReason::MaxIdle => "max_idle",
            ExitReason::Program => "program",
            ExitReason::Spoilt => "spoilt",
            ExitReason::Recycle => "recycle",
            ExitReason::Spare => "spare",
            ExitReason::Reload => "reload",
            ExitReason::Refork => "refork",
            ExitReason::Stop => "stop",
            ExitReason::RequestTimeout => "request_timeout",
            ExitReason::StartTimeout => "start_timeout",
            ExitReason::SlowEnd => "slow_end",
            ExitReason::Unsound => "unsound",
            ExitReason::OutOfMemory => "out_of_memory",
            ExitReason::Signal => "signal",
            ExitReason::Exit => "exit",
        }
    }

    /// Whether it is a fault: something that an administrator should look at.
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
        for reason in ExitReason::ALL {
            assert_eq!(serde_json::to_value(reason).expect("a word"), reason.name());
        }
        let names: std::collections::BTreeSet<_> = ExitReason::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(names.len(), ExitReason::ALL.len());
    }
}
