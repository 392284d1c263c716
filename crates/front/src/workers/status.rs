//! What a status says of the workers of a generation.

use std::time::{Duration, Instant};

use wire::control::{Activity, ShareStatus, WorkerId, WorkerState, WorkerStatus};

use super::pool::queue::Lane;
use super::pool::{self, RequestId};
use super::shared_pool::{SharedPool, State};
use base::printable;
use config::{Config, Host};

impl SharedPool {
    /// Whether nothing is under way or waits.
    pub fn is_quiet(&self) -> bool {
        self.look(|state| state.pool.is_quiet())
    }

    /// Whether every idle worker was seen to wait for its next request.
    pub fn is_at_rest(&self) -> bool {
        self.look(|state| state.pool.is_at_rest())
    }

    /// Whether it was told to drain.
    pub fn is_draining(&self) -> bool {
        self.look(|state| state.pool.is_draining())
    }

    /// How many requests wait.
    pub fn queued(&self) -> u32 {
        self.look(|state| state.pool.queued())
    }

    /// For how long workers have had requests, all together.
    pub fn worked(&self) -> Duration {
        self.look(|state| state.pool.worked(Instant::now()))
    }

    /// Whether more requests come than are answered.
    pub fn is_overloaded(&self) -> bool {
        self.look(|state| state.pool.queue().lanes().iter().any(Lane::is_overloaded))
    }

    /// What the requests of each `PoolShare` have; of one of several pools, of each whose requests have come to it.
    pub fn shares(&self) -> Vec<ShareStatus> {
        let status = |lane: &Lane<RequestId>| {
            lane.share.as_ref().map(|(_, place)| ShareStatus {
                place: place.clone(),
                most: lane.most,
                busy: lane.busy,
                queued: lane.len() as u32,
                overloaded: lane.is_overloaded(),
                shed: lane.shed,
            })
        };
        let is_told = |lane: &&Lane<RequestId>| self.is_alone || lane.seen;
        self.look(|state| state.pool.queue().lanes().iter().filter(is_told).filter_map(status).collect())
    }

    /// All workers, of this configuration.
    pub fn status(&self, config: &Config) -> Vec<WorkerStatus> {
        self.look(|state| state.pool.workers().map(|(id, worker)| self.status_of(state, id, worker, config)).collect())
    }

    fn status_of(&self, state: &State, id: WorkerId, worker: &pool::Worker, config: &Config) -> WorkerStatus {
        let request = worker.current.and_then(|request| state.requests.get(&request));
        let last = state.last.get(&id);
        let label = request.map(|request| &request.label).or(last.map(|(label, _)| label));
        let waited = match request {
            Some(request) => request.begun.map(|begun| begun.waited),
            None => last.map(|(_, waited)| *waited),
        };
        WorkerStatus {
            slot: id.slot,
            generation: self.id.generation,
            pool: if config.more_pools.is_empty() { String::new() } else { config.pool_name(self.id.pool).to_owned() },
            pid: state.workers.get(&id).map_or(0, |worker| worker.pid()),
            state: worker.state,
            activity: activity(worker),
            requests: worker.requests,
            request: request.map(|request| request.label.shown()).unwrap_or_default(),
            last_request: last.map(|(label, _)| label.shown()).unwrap_or_default(),
            host: label.map(|label| host_name(&config.hosts, label.host)).unwrap_or_default(),
            queue_wait_us: waited.map(micros),
            since_ms: worker.since.elapsed().as_millis() as u64,
        }
    }
}

fn activity(worker: &pool::Worker) -> Activity {
    match worker.state {
        WorkerState::Starting => Activity::Starting,
        WorkerState::Idle => Activity::Waiting,
        WorkerState::Busy if worker.logging => Activity::Logging,
        WorkerState::Busy => Activity::Working,
        WorkerState::Retiring if worker.current.is_some() => Activity::Finishing,
        WorkerState::Retiring => Activity::Leaving,
        WorkerState::Gone => Activity::Gone,
    }
}

/// Empty where no host is named.
fn host_name(hosts: &[Host], host: u16) -> String {
    let name = hosts.get(usize::from(host)).and_then(|host| host.server_name.as_deref());
    name.map(printable::line).unwrap_or_default()
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
