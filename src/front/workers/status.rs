//! What a status says of the workers of a generation.

use wire::control::{ShareStatus, WorkerId, WorkerStatus};

use super::pool::queue::Lane;
use super::pool::{self, RequestId};
use super::shared_pool::{SharedPool, State};

impl SharedPool {
    /// Whether nothing is under way or waits.
    pub fn is_quiet(&self) -> bool {
        self.look(|state| state.pool.is_quiet())
    }

    /// Whether it was told to drain.
    pub fn is_draining(&self) -> bool {
        self.look(|state| state.pool.is_draining())
    }

    /// How many requests wait.
    pub fn queued(&self) -> u32 {
        self.look(|state| state.pool.queued())
    }

    /// Whether more requests come than are answered.
    pub fn is_overloaded(&self) -> bool {
        self.look(|state| state.pool.queue().lanes().iter().any(Lane::is_overloaded))
    }

    /// What the requests of each `PoolShare` have.
    pub fn shares(&self) -> Vec<ShareStatus> {
        let status = |lane: &Lane<RequestId>| {
            lane.share.as_ref().map(|(_, place)| ShareStatus {
                place: place.clone(),
                most: lane.most,
                busy: lane.busy,
                queued: lane.len() as u32,
                overloaded: lane.is_overloaded(),
                turned_away: lane.turned_away,
            })
        };
        self.look(|state| state.pool.queue().lanes().iter().filter_map(status).collect())
    }

    /// All workers.
    pub fn status(&self) -> Vec<WorkerStatus> {
        self.look(|state| state.pool.workers().map(|(id, worker)| self.status_of(state, id, worker)).collect())
    }

    fn status_of(&self, state: &State, id: WorkerId, worker: &pool::Worker) -> WorkerStatus {
        let request = worker.current.and_then(|request| state.requests.get(&request));
        WorkerStatus {
            slot: id.slot,
            generation: self.generation,
            pid: state.workers.get(&id).map_or(0, |worker| worker.pid()),
            state: worker.state,
            requests: worker.requests,
            request: request.map(|request| request.label.shown()).unwrap_or_default(),
            since_ms: worker.since.elapsed().as_millis() as u64,
            private_bytes: None,
        }
    }
}
