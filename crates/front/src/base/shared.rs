//! What all threads of the front share: the way to the master, the clock, buffers, and counts for the status.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock};
use std::time::{Instant, SystemTime};

use tokio::sync::Notify;
use wire::control::{FromFront, GenerationNumber, Load, PoolNumber, ServerCounts, Shed};

use super::lock::lock;
use super::master::Master;
use super::measures::Measures;
use super::refusals::Refusals;
use super::slowest::Slowest;

/// Frames of queued requests keep their buffers in use; not more than this many are kept for later.
const SPARE_FRAMES: usize = 64;
/// A buffer that a large request has grown is not kept.
const SPARE_FRAME_SIZE: usize = 128 * 1024;

pub struct Shared {
    /// When this process began to serve.
    pub started: SystemTime,
    /// The way to the master.
    pub master: Master,
    /// Ticks while there is something to watch.
    pub clock: Clock,
    /// ServerCounts for the status.
    pub counters: Counters,
    /// Times, and statuses of answers.
    pub measures: Measures,
    /// Requests that took long.
    pub slowest: Slowest,
    /// Requests that are refused for want of a worker.
    pub refusals: Refusals,
    frames: Mutex<Vec<Vec<u8>>>,
    next_id: AtomicU64,
    /// Since when the front stops.
    stopping: OnceLock<Instant>,
    told: Mutex<Told>,
    /// What the master has counted, as it has told last.
    counts: Mutex<ServerCounts>,
}

/// What the master knows of the load.
#[derive(Default)]
struct Told {
    /// The generation that gets new requests.
    serving: Option<GenerationNumber>,
    /// What it was told last of each pool.
    last: BTreeMap<PoolNumber, Load>,
}

/// How often something has happened since this process began to serve.
#[derive(Default)]
pub struct Counters {
    /// Requests answered.
    pub requests: AtomicU64,
    /// Requests handed to workers.
    pub worker_requests: AtomicU64,
    /// Connections handed over to workers.
    pub handed_over: AtomicU64,
    /// Requests that were refused rather than served.
    pub shed: ShedCounters,
    /// Answers whose clients were too slow to hold a worker while requests waited.
    pub slow_readers: AtomicU64,
    /// HTTP/2 connections that were closed because of what their clients did.
    pub http2_closed: AtomicU64,
    /// Bytes of answers' bodies.
    pub bytes: AtomicU64,
    /// What requests took, all together, in microseconds.
    pub duration_us: AtomicU64,
}

/// What [`Shed`] reports.
#[derive(Default)]
pub struct ShedCounters {
    /// Waited for QueueTimeout.
    pub queue_timeout: AtomicU64,
    /// Found the queue full, or came during an overload.
    pub queue_full: AtomicU64,
    /// Exceeded a `SpeedLimit`.
    pub speed_limit: AtomicU64,
    /// Exceeded a `MaxConcurrentReqs`.
    pub max_concurrent: AtomicU64,
}

impl ShedCounters {
    /// The counts at this moment.
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

/// Whether the clock ticks; [`clock`](crate::clock) is what it does then.
#[derive(Default)]
pub struct Clock {
    ticking: AtomicBool,
    wanted: Notify,
}

impl Clock {
    /// There is something to watch.
    pub fn start(&self) {
        // Mostly it ticks: a look costs other threads nothing.
        if !self.ticking.load(SeqCst) && !self.ticking.swap(true, SeqCst) {
            self.wanted.notify_one();
        }
    }

    /// There was nothing to watch any more: ticks again when something happens from now on.
    pub fn stop(&self) {
        self.ticking.store(false, SeqCst);
    }

    /// Waits until there is something to watch.
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
            refusals: Refusals::new(Instant::now()),
            frames: Mutex::default(),
            next_id: AtomicU64::new(1),
            stopping: OnceLock::new(),
            told: Mutex::default(),
            counts: Mutex::default(),
        }
    }

    /// The master has counted this.
    pub fn set_counts(&self, counts: ServerCounts) {
        *lock(&self.counts) = counts;
    }

    /// What the master has counted, as it has told last.
    pub fn counts(&self) -> ServerCounts {
        lock(&self.counts).clone()
    }

    /// A number for the next exchange.
    pub fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Relaxed)
    }

    /// An empty buffer for a frame.
    pub fn take_frame(&self) -> Vec<u8> {
        lock(&self.frames).pop().unwrap_or_default()
    }

    /// Takes a buffer of a frame back, for another.
    pub fn spare_frame(&self, frame: Vec<u8>) {
        let mut frames = lock(&self.frames);
        if frames.len() < SPARE_FRAMES && frame.capacity() <= SPARE_FRAME_SIZE {
            frames.push(frame);
        }
    }

    /// The front stops from now on.
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

    /// New requests go to this generation from now on.
    pub fn serves(&self, generation: GenerationNumber) {
        lock(&self.told).serving = Some(generation);
    }

    /// The load of a pool has changed. The clock reports most changes; that requests begin to wait is said at
    /// once, so that workers can be added.
    pub fn pool_changed(&self, load: Load) {
        self.clock.start();
        let is_starving = load.idle == 0 && load.queued > 0;
        if is_starving {
            let mut told = lock(&self.told);
            let waited = told.last.get(&load.id.pool).is_some_and(|last| last.queued > 0);
            if !waited && told.serving == Some(load.id.generation) {
                self.tell(&mut told, load);
            }
        }
    }

    /// Tells the master how busy a pool of the serving generation is, if that has changed. Says whether it had.
    pub fn report(&self, load: Load) -> bool {
        self.tell(&mut lock(&self.told), load)
    }

    fn tell(&self, told: &mut Told, load: Load) -> bool {
        let changed = told.last.get(&load.id.pool) != Some(&load);
        if changed && !self.master.is_behind() {
            told.last.insert(load.id.pool, load);
            self.master.say(FromFront::Load(load));
        }
        changed
    }
}
