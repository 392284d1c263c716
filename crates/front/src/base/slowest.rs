//! The slowest request of each path in the last minutes, for the status page. A faster request costs two comparisons.

use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use wire::control::SlowRequest;

use super::lock::lock;
use super::measures::micros;

/// Maximum number of paths in each window.
const MAX_PATHS: usize = 20;
/// Length of a window. The current and the previous one are shown.
const WINDOW: Duration = Duration::from_secs(150);
/// Number of groups of paths; most paths are alone in theirs.
const GROUPS: usize = 1024;

/// The slowest requests of the current and the previous window.
#[derive(Debug)]
pub struct Slowest {
    /// Requests of at most this duration, in µs, are not recorded.
    floor_us: AtomicU64,
    /// For each group of paths the duration, in µs, that a request must exceed.
    groups: Box<[AtomicU64]>,
    /// Clients choose paths, and must not know which share a group.
    hasher: RandomState,
    windows: Mutex<Windows>,
}

#[derive(Debug, Default)]
struct Windows {
    began: Option<Instant>,
    now: Vec<SlowRequest>,
    before: Vec<SlowRequest>,
}

impl Default for Slowest {
    fn default() -> Slowest {
        Slowest {
            floor_us: AtomicU64::default(),
            groups: (0..GROUPS).map(|_| AtomicU64::default()).collect(),
            hasher: RandomState::new(),
            windows: Mutex::default(),
        }
    }
}

impl Slowest {
    /// Records a request of duration `took`, if it is the slowest of its `path`, a host's index and its path, and slow
    /// enough; `tell` builds its description.
    pub fn note(&self, took: Duration, path: (usize, &[u8]), tell: impl FnOnce() -> SlowRequest) {
        let took_us = micros(took);
        if took_us <= self.floor_us.load(Relaxed) {
            return;
        }
        let group = self.groups.get(self.hasher.hash_one(path) as usize % GROUPS);
        if group.is_some_and(|group| took_us <= group.load(Relaxed)) {
            return;
        }
        let mut windows = lock(&self.windows);
        self.pass(&mut windows);
        windows.add(tell());
        self.floor_us.store(windows.floor_us(), Relaxed);
        group.inspect(|group| group.store(took_us, Relaxed));
    }

    /// The slowest requests, slowest first.
    pub fn list(&self) -> Vec<SlowRequest> {
        let mut windows = lock(&self.windows);
        self.pass(&mut windows);
        self.floor_us.store(windows.floor_us(), Relaxed);
        let mut all = Windows { now: windows.before.clone(), ..Windows::default() };
        windows.now.iter().for_each(|request| all.add(request.clone()));
        all.now
    }

    fn pass(&self, windows: &mut Windows) {
        if windows.pass(Instant::now()) {
            self.groups.iter().for_each(|group| group.store(0, Relaxed));
        }
    }
}

impl Windows {
    /// Begins another window when the current one is over. Returns whether it did.
    fn pass(&mut self, now: Instant) -> bool {
        let began = *self.began.get_or_insert(now);
        let age = now.saturating_duration_since(began);
        if age >= WINDOW {
            self.before = std::mem::take(&mut self.now);
            self.began = Some(now);
        }
        if age >= 2 * WINDOW {
            self.before.clear();
        }
        age >= WINDOW
    }

    /// Adds a request in place of a faster one of the same path.
    fn add(&mut self, request: SlowRequest) {
        let is_same = |known: &SlowRequest| known.host == request.host && known.request == request.request;
        match self.now.iter_mut().find(|known| is_same(known)) {
            Some(known) if known.took_us() >= request.took_us() => {}
            Some(known) => *known = request,
            None => self.now.push(request),
        }
        self.now.sort_by_key(|request| std::cmp::Reverse(request.took_us()));
        self.now.truncate(MAX_PATHS);
    }

    /// The duration that a request must exceed; 0 while the window has room.
    fn floor_us(&self) -> u64 {
        self.now.get(MAX_PATHS - 1).map_or(0, SlowRequest::took_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, us: u64) -> SlowRequest {
        SlowRequest { request: format!("GET {path}"), served_us: us, ..SlowRequest::default() }
    }

    fn note(slowest: &Slowest, path: &str, us: u64) {
        slowest.note(Duration::from_micros(us), (0, path.as_bytes()), || request(path, us));
    }

    #[test]
    fn the_slowest_are_known_and_the_others_cost_nothing() {
        let slowest = Slowest::default();
        (1..=100).for_each(|us| note(&slowest, &format!("/{us}"), us));
        let known: Vec<u64> = slowest.list().iter().map(SlowRequest::took_us).collect();
        assert_eq!(known, (81..=100).rev().collect::<Vec<_>>());
        slowest.note(Duration::from_micros(81), (0, b"/x"), || panic!("it is not asked what that was"));
    }

    #[test]
    fn a_path_is_listed_once_with_its_slowest_request() {
        let slowest = Slowest::default();
        [5, 9, 7].into_iter().for_each(|us| note(&slowest, "/a", us));
        note(&slowest, "/b", 8);
        slowest.note(Duration::from_micros(9), (0, b"/a"), || panic!("no slower than the one that is known"));
        let known: Vec<(String, u64)> =
            slowest.list().iter().map(|slow| (slow.request.clone(), slow.took_us())).collect();
        assert_eq!(known, [("GET /a".to_owned(), 9), ("GET /b".to_owned(), 8)]);
    }

    #[test]
    fn old_requests_are_forgotten() {
        let (mut windows, now) = (Windows::default(), Instant::now());
        windows.pass(now);
        windows.now.push(request("/", 5));
        windows.pass(now + WINDOW);
        assert_eq!((windows.now.len(), windows.before.len()), (0, 1));
        windows.pass(now + 2 * WINDOW);
        assert_eq!(windows.before.len(), 0);
    }
}
