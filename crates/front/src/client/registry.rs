//! The register of open connections: counts them, finds idle ones, and wakes all when the front stops. An entry holds
//! the facts about a connection that other threads may read.

use std::collections::HashMap;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::task::Waker;
use std::time::{Duration, Instant};

use wire::control::ClientStatus;

use crate::base::address::Address;
use crate::base::lock::lock;

/// Time without a further search after a search found no idle connection. In a flood, each new connection would
/// otherwise search all.
const BUSY_FOR: Duration = Duration::from_millis(50);
/// Origin of the entries' times, so that they fit into an atomic number.
static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

/// All connections of all threads.
#[derive(Default)]
pub struct Connections {
    next: AtomicU64,
    /// When the last search found no idle connection.
    all_busy_at: Mutex<Option<Instant>>,
    entries: Mutex<HashMap<u64, Arc<ConnectionEntry>>>,
}

/// The part of a connection that other threads see.
pub struct ConnectionEntry {
    remote: Address,
    /// Number of answered requests.
    served: AtomicU32,
    /// When the wait for another request began, in µs after [`BEGINNING`]; 0: the connection does not wait.
    kept_since: AtomicU64,
    /// The connection is to be closed as soon as it is idle, to make room for another.
    evicted: AtomicBool,
    task: OnceLock<Waker>,
}

/// Registration of a connection, until it is dropped.
pub struct Registration<'a> {
    register: &'a Connections,
    number: u64,
}

impl ConnectionEntry {
    pub fn new(remote: Address) -> ConnectionEntry {
        ConnectionEntry {
            remote,
            served: AtomicU32::new(0),
            kept_since: AtomicU64::new(0),
            evicted: AtomicBool::new(false),
            task: OnceLock::new(),
        }
    }

    /// Notes that the connection has answered `served` requests and waits for another since `since`.
    pub fn is_kept_since(&self, served: u32, since: Instant) {
        self.served.store(served, Relaxed);
        let micros = since.saturating_duration_since(*BEGINNING).as_micros() as u64;
        self.kept_since.store(micros.max(1), Relaxed);
    }

    /// Notes that the connection does not wait for another request.
    pub fn is_busy(&self) {
        self.kept_since.store(0, Relaxed);
    }

    fn kept_since(&self) -> Option<u64> {
        Some(self.kept_since.load(Relaxed)).filter(|since| *since > 0)
    }

    /// Has the connection closed as soon as it is idle.
    fn evict(&self) {
        self.evicted.store(true, SeqCst);
        self.wake();
    }

    /// Whether the connection is to be closed to make room for another.
    pub fn is_evicted(&self) -> bool {
        self.evicted.load(SeqCst)
    }

    /// Stores the task's waker; it does not change, so storing it once is enough.
    pub fn remember(&self, task: &Waker) {
        self.task.get_or_init(|| task.clone());
    }

    pub fn wake(&self) {
        self.task.get().inspect(|task| task.wake_by_ref());
    }

    fn status(&self, since: u64) -> ClientStatus {
        let since = *BEGINNING + Duration::from_micros(since);
        let since_ms = since.elapsed().as_millis() as u64;
        ClientStatus { client: self.remote.to_string(), served: self.served.load(Relaxed), since_ms }
    }
}

impl Connections {
    pub fn enter(&self, entry: &Arc<ConnectionEntry>) -> Registration<'_> {
        LazyLock::force(&BEGINNING);
        let number = self.next.fetch_add(1, Relaxed);
        lock(&self.entries).insert(number, entry.clone());
        Registration { register: self, number }
    }

    /// Number of open connections.
    pub fn count(&self) -> usize {
        lock(&self.entries).len()
    }

    /// Number of clients between two requests, and the status of up to `most` of them.
    pub fn kept(&self, most: usize) -> (usize, Vec<ClientStatus>) {
        let entries = lock(&self.entries);
        let kept = || entries.values().filter_map(|entry| Some((entry, entry.kept_since()?)));
        (kept().count(), kept().take(most).map(|(entry, since)| entry.status(since)).collect())
    }

    /// Closes up to `most` idle connections, the longest idle first. Returns how many.
    pub fn evict(&self, most: usize) -> usize {
        if lock(&self.all_busy_at).is_some_and(|at| at.elapsed() < BUSY_FOR) {
            return 0;
        }
        let entries = lock(&self.entries);
        let idle = entries.values().filter(|entry| !entry.is_evicted());
        let mut idle: Vec<_> = idle.filter_map(|entry| Some((entry.kept_since()?, entry))).collect();
        idle.sort_unstable_by_key(|(since, _)| *since);
        idle.truncate(most);
        idle.iter().for_each(|(_, entry)| entry.evict());
        if idle.is_empty() {
            *lock(&self.all_busy_at) = Some(Instant::now());
        }
        idle.len()
    }

    pub fn wake_all(&self) {
        lock(&self.entries).values().for_each(|entry| entry.wake());
    }
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        lock(&self.register.entries).remove(&self.number);
    }
}
