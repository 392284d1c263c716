//! State shared by all threads of the front: the channel to the master, the clock, buffers, and counters for the status
//! page.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Instant, SystemTime};

use status::orca::LoadReport;
use tls::Challenges;
use tokio::sync::Notify;
use wire::control::{FromFront, GenerationNumber, Load, NodeState, NodeStatus, PoolNumber, ServerCounts, Shed};

use super::broadcast::Broadcasts;
use super::lock::lock;
use super::master::Master;
use super::measures::Measures;
use super::refusals::Refusals;
use super::slowest::Slowest;

/// Maximum number of spare buffers for frames. Queued requests hold their own buffers.
const SPARE_FRAMES: usize = 64;
/// Largest capacity of a spare buffer, in bytes; larger ones are freed.
const SPARE_FRAME_SIZE: usize = 128 * 1024;

pub struct Shared {
    /// When this process began to serve.
    pub started: SystemTime,
    pub master: Master,
    /// The clock for timeouts, which stops when nothing needs it.
    pub clock: Clock,
    /// Counters for the status page.
    pub counters: Counters,
    /// Durations and statuses of responses.
    pub measures: Measures,
    pub slowest: Slowest,
    /// The last report of `LoadReport`.
    pub load_report: LoadReport,
    /// Count of requests refused for want of a worker.
    pub refusals: Refusals,
    /// Channels of workers.
    pub broadcasts: Arc<Broadcasts>,
    frames: Mutex<Vec<Vec<u8>>>,
    next_id: AtomicU64,
    /// When the front began to stop.
    stopping: OnceLock<Instant>,
    reported: Mutex<ReportedLoad>,
    /// Whether load balancers are to send requests elsewhere, so that clients change their connections.
    draining: AtomicBool,
    /// The server as a node behind a load balancer, as the master has sent it, and when it arrived.
    node: Mutex<(Instant, Arc<NodeStatus>)>,
    /// The last counts that the master has sent.
    counts: Mutex<ServerCounts>,
    /// The challenges of certificate authorities that are answered now.
    challenges: Mutex<Arc<Challenges>>,
}

/// The load as last reported to the master.
#[derive(Default)]
struct ReportedLoad {
    /// The generation that gets new requests.
    serving: Option<GenerationNumber>,
    last: BTreeMap<PoolNumber, Load>,
}

/// Event counts since this process began to serve.
#[derive(Default)]
pub struct Counters {
    /// Requests that were answered.
    pub requests: AtomicU64,
    /// Requests that were begun by workers.
    pub worker_requests: AtomicU64,
    /// Connections that were submitted to workers.
    pub handed_over: AtomicU64,
    /// Requests that were refused because of load or limits.
    pub shed: ShedCounters,
    /// Responses that were cut because a slow client held a worker while requests waited.
    pub slow_readers: AtomicU64,
    /// HTTP/2 connections that were closed because of client misbehaviour.
    pub http2_closed: AtomicU64,
    /// Bytes of response bodies.
    pub bytes: AtomicU64,
    /// Sum of all requests' durations, in µs.
    pub duration_us: AtomicU64,
}

/// Counts of refused requests, as reported in [`Shed`].
#[derive(Default)]
pub struct ShedCounters {
    /// Number of requests refused after their `QueueTimeout`.
    pub queue_timeout: AtomicU64,
    /// Requests that found the queue full, or were shed in an overload.
    pub queue_full: AtomicU64,
    /// Number of requests refused by a `SpeedLimit`.
    pub speed_limit: AtomicU64,
    /// Number of requests refused by a `MaxConcurrentReqs`.
    pub max_concurrent: AtomicU64,
}

impl ShedCounters {
    /// The current counts.
    pub fn now(&self) -> Shed {
        Shed {
            queue_timeout: self.queue_timeout.load(Relaxed),
            queue_full: self.queue_full.load(Relaxed),
            speed_limit: self.speed_limit.load(Relaxed),
            max_concurrent: self.max_concurrent.load(Relaxed),
        }
    }
}

pub fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// Starts and stops the clock; [`clock`](crate::clock) does the work at each tick.
#[derive(Default)]
pub struct Clock {
    ticking: AtomicBool,
    wanted: Notify,
}

impl Clock {
    /// Starts the clock, if it does not run.
    pub fn start(&self) {
        // Usually the clock runs, and a load does not contend with other threads.
        if !self.ticking.load(SeqCst) && !self.ticking.swap(true, SeqCst) {
            self.wanted.notify_one();
        }
    }

    /// Stops the clock; the next [`Clock::start`] starts it again.
    pub fn stop(&self) {
        self.ticking.store(false, SeqCst);
    }

    /// Waits for [`Clock::start`].
    pub async fn started(&self) {
        self.wanted.notified().await;
    }
}

impl Shared {
    pub fn new(master: Master) -> Shared {
        Shared {
            started: SystemTime::now(),
            master,
            clock: Clock::default(),
            counters: Counters::default(),
            measures: Measures::default(),
            slowest: Slowest::default(),
            load_report: LoadReport::new(Instant::now()),
            refusals: Refusals::new(Instant::now()),
            broadcasts: Arc::default(),
            frames: Mutex::default(),
            next_id: AtomicU64::new(1),
            stopping: OnceLock::new(),
            reported: Mutex::default(),
            draining: AtomicBool::new(false),
            node: Mutex::new((Instant::now(), Arc::default())),
            counts: Mutex::default(),
            challenges: Mutex::default(),
        }
    }

    /// Stores the counts that the master has sent.
    pub fn set_counts(&self, counts: ServerCounts) {
        *lock(&self.counts) = counts;
    }

    /// The last counts that the master has sent.
    pub fn counts(&self) -> ServerCounts {
        lock(&self.counts).clone()
    }

    /// Stores the state of the node that the master has sent. Returns whether clients are to change their connections
    /// from now on.
    pub fn set_node(&self, node: NodeStatus) -> bool {
        let drains = node.state != NodeState::Ready;
        *lock(&self.node) = (Instant::now(), Arc::new(node));
        let drained = self.draining.swap(drains, Relaxed);
        drains && !drained
    }

    /// The state of the node that the master has sent.
    pub fn node(&self) -> Arc<NodeStatus> {
        lock(&self.node).1.clone()
    }

    /// The state of the node, with its times as of `now`.
    pub fn node_at(&self, now: Instant) -> NodeStatus {
        let (arrived, node) = &*lock(&self.node);
        node.after(now.saturating_duration_since(*arrived))
    }

    /// Whether clients are to change their connections: the server drains, or is in maintenance.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Relaxed)
    }

    /// Replaces the challenges that are answered.
    pub fn set_challenges(&self, challenges: Challenges) {
        *lock(&self.challenges) = Arc::new(challenges);
    }

    /// The challenges of certificate authorities that are answered now.
    pub fn challenges(&self) -> Arc<Challenges> {
        lock(&self.challenges).clone()
    }

    /// A new id for a request.
    pub fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Relaxed)
    }

    /// An empty buffer for a frame, new or reused.
    pub fn take_frame(&self) -> Vec<u8> {
        lock(&self.frames).pop().unwrap_or_default()
    }

    /// Returns the buffer of a frame, for reuse.
    pub fn spare_frame(&self, frame: Vec<u8>) {
        let mut frames = lock(&self.frames);
        if frames.len() < SPARE_FRAMES && frame.capacity() <= SPARE_FRAME_SIZE {
            frames.push(frame);
        }
    }

    pub fn stop(&self) {
        self.stopping.get_or_init(Instant::now);
    }

    /// Whether [`Shared::stop`] was called.
    pub fn is_stopping(&self) -> bool {
        self.stopping_since().is_some()
    }

    /// When [`Shared::stop`] was called.
    pub fn stopping_since(&self) -> Option<Instant> {
        self.stopping.get().copied()
    }

    /// Sets the generation that gets new requests.
    pub fn serves(&self, generation: GenerationNumber) {
        lock(&self.reported).serving = Some(generation);
    }

    /// Handles a changed load. The clock reports most changes; the begin of a queue is reported at once, so that the
    /// master can start workers.
    pub fn pool_changed(&self, load: Load) {
        self.clock.start();
        let is_starving = load.idle == 0 && load.queued > 0;
        if is_starving {
            let mut reported = lock(&self.reported);
            let waited = reported.last.get(&load.id.pool).is_some_and(|last| last.queued > 0);
            if !waited && reported.serving == Some(load.id.generation) {
                self.send_load(&mut reported, load);
            }
        }
    }

    /// Reports the load of a pool of the serving generation to the master. Returns whether it has changed.
    pub fn report(&self, load: Load) -> bool {
        self.send_load(&mut lock(&self.reported), load)
    }

    fn send_load(&self, reported: &mut ReportedLoad, load: Load) -> bool {
        let changed = reported.last.get(&load.id.pool) != Some(&load);
        if changed && !self.master.is_behind() {
            reported.last.insert(load.id.pool, load);
            self.master.send(FromFront::Load(load));
        }
        changed
    }
}
