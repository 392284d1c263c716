//! The front: one process and one thread that owns the clients. It speaks HTTP, sends static files, buffers and queues
//! requests, hands them to workers and sends their answers on at each client's speed. There is no Perl here, and
//! nothing that a client or a worker sends is trusted.
//!
//! ```text
//!   listener ─▶ connection ─▶ request ─▶ route ──▶ static_files ─▶ payload ─▶ client
//!                                │                     ▲  File        ▲
//!                                └─▶ body ─▶ pool ─▶ exchange ─▶ response
//!                                             │ ▲
//!                                             ▼ │
//!                                            worker                 control ◀─▶ master
//! ```
//!
//! Signals are the master's business: it starts this process with INT, TERM, HUP and USR1 ignored, and says what
//! they mean in messages.

mod accept;
mod base;
mod client;
mod clock;
mod control;
mod http1;
mod http2;
mod limits;
mod log;
mod panics;
mod request;
mod routing;
mod scoreboard;
mod site;
#[cfg(test)]
mod tests;
mod workers;

#[doc(hidden)] // for their fuzz targets
pub use accept::proxy_header;
#[doc(hidden)]
pub use http1::strict;
pub use log::format::check as check_log_format;
pub use panics::abort_on_panic;
#[doc(hidden)]
pub use request::files::range;

use std::cell::{Cell, RefCell};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::runtime::{Builder, LocalOptions};
use wire::control::{FrontStatus, Load};
use wire::reply::MAX_PACKET;

use accept::listener::Listeners;
use client::registry::Connections;
use clock::Clock;
use control::Master;
use limits::connections::Crowd;
use request::access::Door;
use request::access::reverse_dns::Names;
use request::files::autoindex::Lists;
use site::Site;
use workers::Workers;

use crate::access::names::System;
use crate::tls::Sessions;

/// Frames of queued requests keep their buffers in use; not more than this many are kept for later.
const SPARE_FRAMES: usize = 64;
/// How many idle clients a status names; their number is told in any case.
const SHOWN_CLIENTS: usize = 100;
/// A buffer that a large request has grown is not kept.
const SPARE_FRAME_SIZE: usize = 128 * 1024;

/// Runs the front until the master stops it or goes away. `control` is an end of [`wire::channel::pair`], `master` the
/// process that has the other.
pub fn run(control: OwnedFd, master: u32) -> anyhow::Result<()> {
    raise_descriptor_limit();
    crate::sys::keep_some_freed_memory();
    Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?.block_on(serve(control, master))
}

/// The same inside a runtime that exists: returns when everything was answered after `Stop`.
pub async fn serve(control: OwnedFd, master: u32) -> anyhow::Result<()> {
    let front = Rc::new(Front::new(Master::new(control)?, descriptors())?);
    let clock = tokio::task::spawn_local(clock::run(front.clone()));
    let scoreboard = tokio::task::spawn_local(scoreboard::run(front.clone(), master));
    let served = control::obey(&front).await;
    clock.abort();
    scoreboard.abort();
    front.flush_logs();
    served
}

/// A connection costs a descriptor and so does its file; the soft limit is often 1024.
fn raise_descriptor_limit() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// How many this process may have.
fn descriptors() -> u64 {
    getrlimit(Resource::RLIMIT_NOFILE).map_or(1024, |(soft, _)| soft)
}

/// All that the front's tasks share.
pub(crate) struct Front {
    /// When this process began to serve.
    pub started: SystemTime,
    /// The way to the master.
    pub master: Master,
    /// Who is connected.
    pub connections: Connections,
    /// How many connections there are, and may be.
    pub crowd: Crowd,
    /// The accept loops.
    pub listeners: Listeners,
    /// Every generation that is prepared, serves or drains; oldest first.
    pub sites: RefCell<Vec<Rc<Site>>>,
    /// The generation that gets new requests.
    serving: RefCell<Option<Rc<Site>>>,
    /// Who may come in.
    pub door: Door,
    /// Lists of folders that are being made.
    pub lists: Lists,
    /// Names of clients.
    pub names: Names,
    /// What clients resume TLS with.
    pub sessions: Sessions,
    /// Ticks while there is something to watch.
    pub clock: Clock,
    /// Where packets of workers are received, one after the other; clearing it for each would cost more than reading.
    pub packet: RefCell<Vec<u8>>,
    /// Where a small response is put together before it is written.
    pub small_write: RefCell<Vec<u8>>,
    frames: RefCell<Vec<Vec<u8>>>,
    next_id: Cell<u64>,
    /// Since when it stops.
    stopping: Cell<Option<Instant>>,
    /// What the master was told last.
    reported: Cell<Load>,
    /// Counts for the status.
    pub counters: Counters,
}

/// Since the start.
#[derive(Default)]
pub(crate) struct Counters {
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

/// Adds one.
pub(crate) fn count(counter: &Cell<u64>) {
    counter.update(|n| n + 1);
}

impl Front {
    fn new(master: Master, descriptors: u64) -> anyhow::Result<Front> {
        Ok(Front {
            started: SystemTime::now(),
            master,
            connections: Connections::default(),
            crowd: Crowd::new(descriptors),
            listeners: Listeners::default(),
            sites: RefCell::default(),
            serving: RefCell::default(),
            door: Door::default(),
            lists: Lists::default(),
            names: Names::new(Arc::new(System)),
            clock: Clock::default(),
            packet: RefCell::new(vec![0; MAX_PACKET]),
            small_write: RefCell::default(),
            frames: RefCell::default(),
            next_id: Cell::new(1),
            stopping: Cell::default(),
            reported: Cell::default(),
            sessions: Sessions::new()?,
            counters: Counters::default(),
        })
    }

    /// The generation that answers new requests.
    pub fn serving(&self) -> Option<Rc<Site>> {
        self.serving.borrow().clone()
    }

    /// Lets `site` answer new requests, and the others finish theirs.
    pub fn serve_with(&self, site: Rc<Site>) {
        for other in self.sites.borrow().iter().filter(|other| !Rc::ptr_eq(other, &site)) {
            other.pool.drain();
        }
        *self.serving.borrow_mut() = Some(site);
        self.clock.start();
    }

    /// A number for the next exchange.
    pub fn next_id(&self) -> u64 {
        self.next_id.replace(self.next_id.get() + 1)
    }

    /// An empty buffer for a frame.
    pub fn take_frame(&self) -> Vec<u8> {
        self.frames.borrow_mut().pop().unwrap_or_default()
    }

    /// Takes such a buffer back.
    pub fn spare_frame(&self, frame: Vec<u8>) {
        let mut frames = self.frames.borrow_mut();
        if frames.len() < SPARE_FRAMES && frame.capacity() <= SPARE_FRAME_SIZE {
            frames.push(frame);
        }
    }

    /// No new connections but those that the kernel has let in already. Those that wait for a request are closed when none is on
    /// its way, the others after their answer.
    pub fn stop(&self) {
        self.stopping.set(Some(Instant::now()));
        self.listeners.close();
        self.connections.wake_all();
        self.clock.start();
    }

    /// Whether [`Front::stop`] was called.
    pub fn is_stopping(&self) -> bool {
        self.stopping.get().is_some()
    }

    /// Since when.
    pub fn stopping_since(&self) -> Option<Instant> {
        self.stopping.get()
    }

    /// Whether nothing is under way.
    pub fn is_quiet(&self) -> bool {
        self.connections.count() == 0 && self.sites.borrow().iter().all(|site| site.pool.is_quiet())
    }

    /// The clock reports most changes; that requests begin to wait is said at once, so that workers can be added.
    pub fn pool_changed(&self, pool: &Workers) {
        self.clock.start();
        let load = pool.load();
        let starving = load.idle == 0 && load.queued > 0;
        if starving && self.reported.get().queued == 0 {
            self.report();
        }
    }

    /// Tells the master how busy the serving generation is, if that has changed. Says whether it had.
    pub fn report(&self) -> bool {
        let Some(load) = self.serving.borrow().as_ref().map(|site| site.pool.load()) else { return false };
        let changed = load != self.reported.get();
        if changed && !self.master.is_behind() {
            self.reported.set(load);
            self.master.say(wire::control::FromFront::Load(load));
        }
        changed
    }

    /// Writes what the access logs hold back. Says whether there was something.
    pub fn flush_logs(&self) -> bool {
        self.sites.borrow().iter().filter(|site| site.access_logs.flush()).count() > 0
    }

    /// For `cameleer status`.
    pub fn status(&self) -> FrontStatus {
        let sites = self.sites.borrow();
        let kept = self.connections.kept();
        FrontStatus {
            connections: self.connections.count() as u64,
            kept: kept.len() as u64,
            kept_clients: kept.iter().take(SHOWN_CLIENTS).map(|client| client.status()).collect(),
            requests: self.counters.requests.get(),
            worker_requests: self.counters.worker_requests.get(),
            queue_timeouts: self.counters.queue_timeouts.get(),
            turned_away: self.counters.turned_away.get(),
            too_fast: self.counters.too_fast.get(),
            throttled: self.counters.throttled.get(),
            overloaded: sites.iter().any(|site| site.pool.is_overloaded()),
            shares: self.serving().map(|site| site.pool.shares()).unwrap_or_default(),
            queued: sites.iter().map(|site| site.pool.queued()).sum(),
            workers: sites.iter().flat_map(|site| site.pool.status()).collect(),
        }
    }
}
