//! The register of open connections: how many there are, which are idle, and how to wake them all when the front stops. What
//! stands in it of a connection is what other threads may see.

use std::collections::HashMap;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::task::Waker;
use std::time::{Duration, Instant};

use wire::control::ClientStatus;

use crate::base::address::Address;
use crate::base::lock::lock;

/// After a search that found no idle connection there is none for so long: in a flood each new connection would search all.
const BUSY_FOR: Duration = Duration::from_millis(50);
/// Times of entries are counted from here, so that they fit into an atomic number.
static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

/// All connections, of all threads.
#[derive(Default)]
pub struct Connections {
    next: AtomicU64,
    /// When the last search found no idle connection.
    all_busy_at: Mutex<Option<Instant>>,
    entries: Mutex<HashMap<u64, Arc<Entry>>>,
}

/// A connection as others see it.
pub struct Entry {
    remote: Address,
    /// Requests answered.
    served: AtomicU32,
    /// Microseconds after [`BEGINNING`] when it began to wait for a further request; 0 while it does not.
    kept_since: AtomicU64,
    /// The connection is to be closed for another one, as soon as it is idle.
    evicted: AtomicBool,
    /// Wakes the connection's task.
    task: OnceLock<Waker>,
}

/// A connection's place in the register; it is struck out when this is dropped.
pub struct Registration<'a> {
    register: &'a Connections,
    number: u64,
}

impl Entry {
    /// Of a client that has just connected.
    pub fn new(remote: Address) -> Entry {
        Entry {
            remote,
            served: AtomicU32::new(0),
            kept_since: AtomicU64::new(0),
            evicted: AtomicBool::new(false),
            task: OnceLock::new(),
        }
    }

    /// It has answered `served` requests and waits for a further one since then.
    pub fn is_kept_since(&self, served: u32, since: Instant) {
        self.served.store(served, Relaxed);
        let micros = since.saturating_duration_since(*BEGINNING).as_micros() as u64;
        self.kept_since.store(micros.max(1), Relaxed);
    }

    /// It does not wait for a further request.
    pub fn is_busy(&self) {
        self.kept_since.store(0, Relaxed);
    }

    fn kept_since(&self) -> Option<u64> {
        Some(self.kept_since.load(Relaxed)).filter(|since| *since > 0)
    }

    /// Has it closed for another one, as soon as it is idle.
    fn evict(&self) {
        self.evicted.store(true, SeqCst);
        self.wake();
    }

    /// Whether it is to be closed for another one.
    pub fn is_evicted(&self) -> bool {
        self.evicted.load(SeqCst)
    }

    /// Notes how to wake its task; a task's waker stays the same, so once is enough.
    pub fn remember(&self, task: &Waker) {
        self.task.get_or_init(|| task.clone());
    }

    /// Lets its connection look again at what it should do.
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
    /// Enters a connection.
    pub fn enter(&self, entry: &Arc<Entry>) -> Registration<'_> {
        LazyLock::force(&BEGINNING);
        let number = self.next.fetch_add(1, Relaxed);
        lock(&self.entries).insert(number, entry.clone());
        Registration { register: self, number }
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        lock(&self.entries).len()
    }

    /// How many clients wait for a further request, and the first `most` of them.
    pub fn kept(&self, most: usize) -> (usize, Vec<ClientStatus>) {
        let entries = lock(&self.entries);
        let kept = || entries.values().filter_map(|entry| Some((entry, entry.kept_since()?)));
        (kept().count(), kept().take(most).map(|(entry, since)| entry.status(since)).collect())
    }

    /// Closes up to `most` connections that are kept alive, those first that were idle longest. Returns how many.
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

    /// Lets every connection look again at what it should do.
    pub fn wake_all(&self) {
        lock(&self.entries).values().for_each(|entry| entry.wake());
    }
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        lock(&self.register.entries).remove(&self.number);
    }
}
