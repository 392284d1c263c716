//! The kernel's counters of each worker: private memory and CPU time. The viewer of a status reads them, because the
//! kernel walks all pages of a process for that, which would delay master and front.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use wire::control::WorkerStatus;

use super::Cpu;

/// The kernel's counters of one worker; `None`: not read, or the worker has ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Memory that no other process has, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_bytes: Option<u64>,
    /// CPU time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
}

/// The usage of all workers, by process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usages(BTreeMap<i32, Usage>);

impl Usages {
    /// Reads the CPU times from the kernel, and calls `private` for private memory.
    pub fn of(workers: &[WorkerStatus], private: impl Fn(i32) -> Option<u64>) -> Usages {
        let usage = |pid| Usage { private_bytes: private(pid), cpu_ms: Cpu::millis(pid) };
        Usages(workers.iter().map(|worker| (worker.pid, usage(worker.pid))).collect())
    }

    /// The usage of a process; empty if it is unknown.
    pub fn get(&self, pid: i32) -> Usage {
        self.0.get(&pid).copied().unwrap_or_default()
    }

    /// Adds the usage of each worker to a status in JSON.
    pub fn add_to(&self, status: &mut Value) {
        let workers = status.pointer_mut("/front/workers").and_then(Value::as_array_mut);
        for worker in workers.into_iter().flatten().filter_map(Value::as_object_mut) {
            let pid = worker.get("pid").and_then(Value::as_i64).and_then(|pid| i32::try_from(pid).ok()).unwrap_or(0);
            if let Ok(Value::Object(usage)) = serde_json::to_value(self.get(pid)) {
                worker.extend(usage);
            }
        }
    }
}

impl FromIterator<(i32, Usage)> for Usages {
    fn from_iter<T: IntoIterator<Item = (i32, Usage)>>(usages: T) -> Usages {
        Usages(usages.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use wire::control::FrontStatus;

    use super::*;
    use crate::ServerStatus;

    #[test]
    fn json_shows_the_usage_of_each_worker_that_has_one() {
        let workers = [7, 8].map(|pid| WorkerStatus { pid, ..WorkerStatus::default() }).into();
        let status =
            ServerStatus { front: Some(FrontStatus { workers, ..FrontStatus::default() }), ..ServerStatus::default() };
        let mut json = serde_json::to_value(&status).expect("JSON");
        let usage = Usage { private_bytes: Some(4096), cpu_ms: None };
        Usages::from_iter([(8, usage)]).add_to(&mut json);
        assert_eq!(json.pointer("/front/workers/1/private_bytes"), Some(&Value::from(4096)));
        assert_eq!(json.pointer("/front/workers/1/cpu_ms"), None);
        assert_eq!(json.pointer("/front/workers/0/private_bytes"), None);
    }
}
