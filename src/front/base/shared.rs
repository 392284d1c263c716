//! What all parts of the front share: the way to the master, the clock, buffers, and counts for the status.

use std::cell::{Cell, RefCell};
use std::time::{Instant, SystemTime};

use tokio::sync::Notify;
use wire::control::{FromFront, GenerationNumber, Load};

use super::master::Master;

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
    /// Counts for the status.
    pub counters: Counters,
    /// Where a small response is put together before it is written.
    pub small_write: RefCell<Vec<u8>>,
    frames: RefCell<Vec<Vec<u8>>>,
    next_id: Cell<u64>,
    /// Since when the front stops.
    stopping: Cell<Option<Instant>>,
    /// The generation that gets new requests.
    serving: Cell<Option<GenerationNumber>>,
    /// What the master was told last.
    reported: Cell<Load>,
}

/// How often something has happened since this process began to serve.
#[derive(Default)]
pub struct Counters {
    /// Requests answered.
    pub requests: Cell<u64>,
    /// Requests handed to workers.
    pub worker_requests: Cell<u64>,
    /// Requests that waited for too long.
    pub queue_timeouts: Cell<u64>,
    /// Requests that found the queue full, or were turned away in an overload.
    pub turned_away: Cell<u64>,
    /// Requests over a `SpeedLimit`.
    pub too_fast: Cell<u64>,
    /// Requests over a `MaxConcurrentReqs`.
    pub throttled: Cell<u64>,
    /// Bytes of answers' bodies.
    pub bytes: Cell<u64>,
    /// What requests took, all together, in microseconds.
    pub duration_us: Cell<u64>,
}

pub fn count(counter: &Cell<u64>) {
    counter.update(|n| n + 1);
}

/// Whether the clock ticks; [`clock`](crate::front::clock) is what it does then.
#[derive(Default)]
pub struct Clock {
    ticking: Cell<bool>,
    wanted: Notify,
}

impl Clock {
    /// There is something to watch.
    pub fn start(&self) {
        if !self.ticking.replace(true) {
            self.wanted.notify_one();
        }
    }

    /// There is nothing to watch any more.
    pub fn stop(&self) {
        self.ticking.set(false);
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
            small_write: RefCell::default(),
            frames: RefCell::default(),
            next_id: Cell::new(1),
            stopping: Cell::default(),
            serving: Cell::default(),
            reported: Cell::default(),
        }
    }

    /// A number for the next exchange.
    pub fn next_id(&self) -> u64 {
        self.next_id.replace(self.next_id.get() + 1)
    }

    /// An empty buffer for a frame.
    pub fn take_frame(&self) -> Vec<u8> {
        self.frames.borrow_mut().pop().unwrap_or_default()
    }

    /// Takes a buffer of a frame back, for another.
    pub fn spare_frame(&self, frame: Vec<u8>) {
        let mut frames = self.frames.borrow_mut();
        if frames.len() < SPARE_FRAMES && frame.capacity() <= SPARE_FRAME_SIZE {
            frames.push(frame);
        }
    }

    /// The front stops from now on.
    pub fn stop(&self) {
        self.stopping.set(Some(Instant::now()));
    }

    /// Whether [`Shared::stop`] was called.
    pub fn is_stopping(&self) -> bool {
        self.stopping.get().is_some()
    }

    /// When [`Shared::stop`] was called.
    pub fn stopping_since(&self) -> Option<Instant> {
        self.stopping.get()
    }

    /// New requests go to this generation from now on.
    pub fn serves(&self, generation: GenerationNumber) {
        self.serving.set(Some(generation));
    }

    /// The load of a pool has changed. The clock reports most changes; that requests begin to wait is said at
    /// once, so that workers can be added.
    pub fn pool_changed(&self, load: Load) {
        self.clock.start();
        let is_starving = load.idle == 0 && load.queued > 0;
        if is_starving && self.reported.get().queued == 0 && self.serving.get() == Some(load.generation) {
            self.report(load);
        }
    }

    /// Tells the master how busy the serving generation is, if that has changed. Says whether it had.
    pub fn report(&self, load: Load) -> bool {
        let changed = load != self.reported.get();
        if changed && !self.master.is_behind() {
            self.reported.set(load);
            self.master.say(FromFront::Load(load));
        }
        changed
    }
}
