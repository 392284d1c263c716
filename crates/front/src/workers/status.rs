//! The status of a pool and its workers.

use std::time::{Duration, Instant};

use wire::control::{ShareStatus, WorkerActivity, WorkerId, WorkerState, WorkerStatus};

use super::scheduler::queue::Lane;
use super::scheduler::{self, RequestId};
use super::shared_pool::{SharedPool, State};
use crate::base::measures::micros;
use base::printable;
use config::{Config, Host};

impl SharedPool {
    /// Whether no request is running or queued.
    pub fn is_quiet(&self) -> bool {
        self.look(|state| state.scheduler.is_quiet())
    }

    /// Whether every idle worker was seen waiting for its next request.
    pub fn is_at_rest(&self) -> bool {
        self.look(|state| state.scheduler.is_at_rest())
    }

    pub fn is_draining(&self) -> bool {
        self.look(|state| state.scheduler.is_draining())
    }

    /// Number of queued requests.
    pub fn queued(&self) -> u32 {
        self.look(|state| state.scheduler.queued())
    }

    /// Sum of all workers' busy time.
    pub fn worked(&self) -> Duration {
        self.look(|state| state.scheduler.worked(Instant::now()))
    }

    /// Whether a lane of the queue is overloaded.
    pub fn is_overloaded(&self) -> bool {
        self.look(|state| state.scheduler.queue().lanes().iter().any(Lane::is_overloaded))
    }

    /// Status of each `PoolShare`. With several pools, only shares whose requests have come to this pool.
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
        self.look(|state| state.scheduler.queue().lanes().iter().filter(is_told).filter_map(status).collect())
    }

    /// Status of all workers; `config` is this generation's.
    pub fn status(&self, config: &Config) -> Vec<WorkerStatus> {
        self.look(|state| {
            state.scheduler.workers().map(|(id, worker)| self.status_of(state, id, worker, config)).collect()
        })
    }

    fn status_of(&self, state: &State, id: WorkerId, worker: &scheduler::PoolWorker, config: &Config) -> WorkerStatus {
        let request = worker.current.and_then(|request| state.requests.get(&request));
        let last = state.last.get(&id);
        let label = request.map(|request| &request.label).or(last.map(|(label, _)| label));
        let waited = match request {
            Some(request) => request.begun.map(|begun| begun.waited),
            None => last.map(|(_, waited)| *waited),
        };
        let (open, streamed, unanswered) = self.streams_of(id);
        let streams = self.is_event().then_some(open);
        let shown = request.map(|request| request.label.shown());
        WorkerStatus {
            slot: id.slot,
            generation: self.id.generation,
            pool: if config.pool_count() == 1 { String::new() } else { config.pool_name(self.id.pool).to_owned() },
            pid: state.workers.get(&id).map_or(0, |worker| worker.pid()),
            state: worker.state,
            activity: if open.all() > 0 { busy(worker) } else { activity(worker) },
            requests: worker.requests + streamed,
            request: shown.unwrap_or_else(|| with_requests(open.to_string(), &unanswered)),
            last_request: last.map(|(label, _)| label.shown()).unwrap_or_default(),
            host: label.map(|label| host_name(&config.hosts, label.host)).unwrap_or_default(),
            client: label.map(|label| label.client.to_string()).unwrap_or_default(),
            queue_wait_us: waited.map(micros),
            worked_us: micros(worker.worked(Instant::now())),
            since_ms: worker.since.elapsed().as_millis() as u64,
            streams,
        }
    }
}

/// The streams of a worker, and its requests without a response: `open: 2 http; GET /report`.
fn with_requests(streams: String, requests: &str) -> String {
    if requests.is_empty() { streams } else { format!("{streams}; {requests}") }
}

/// The activity of a worker with streams.
fn busy(worker: &scheduler::PoolWorker) -> WorkerActivity {
    match worker.state {
        WorkerState::Idle => WorkerActivity::Working,
        WorkerState::Retiring => WorkerActivity::Finishing,
        _ => activity(worker),
    }
}

fn activity(worker: &scheduler::PoolWorker) -> WorkerActivity {
    match worker.state {
        WorkerState::Starting => WorkerActivity::Starting,
        WorkerState::Idle => WorkerActivity::Waiting,
        WorkerState::Busy if worker.logging => WorkerActivity::Logging,
        WorkerState::Busy => WorkerActivity::Working,
        WorkerState::Retiring if worker.current.is_some() => WorkerActivity::Finishing,
        WorkerState::Retiring => WorkerActivity::Leaving,
        WorkerState::Gone => WorkerActivity::Gone,
    }
}

/// Name of the host for the status page; empty if it has none.
fn host_name(hosts: &[Host], host: u16) -> String {
    let name = hosts.get(usize::from(host)).and_then(|host| host.server_name.as_deref());
    name.map(printable::line).unwrap_or_default()
}
