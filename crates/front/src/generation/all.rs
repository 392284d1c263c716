//! The list of all generations.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use anyhow::anyhow;
use wire::control::GenerationNumber;

use super::Generation;
use crate::base::lock::lock;
use crate::workers::Worker;

/// Every generation that is prepared, serving or draining; oldest first.
#[derive(Default)]
pub struct Generations {
    state: Mutex<State>,
    /// Version of the list, incremented by each change.
    changes: AtomicU64,
}

#[derive(Default)]
struct State {
    all: Vec<Arc<Generation>>,
    serving: Option<Arc<Generation>>,
}

impl Generations {
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = lock(&self.state);
        let changed = change(&mut state);
        self.changes.fetch_add(1, SeqCst);
        changed
    }

    /// A counter that each change increments: the list is unchanged while the counter is.
    pub fn changes(&self) -> u64 {
        self.changes.load(SeqCst)
    }

    /// All generations, oldest first.
    pub fn all(&self) -> Vec<Arc<Generation>> {
        lock(&self.state).all.clone()
    }

    /// The generation that answers new requests.
    pub fn serving(&self) -> Option<Arc<Generation>> {
        lock(&self.state).serving.clone()
    }

    /// Lets `generation` answer new requests and supersedes all others, which finish theirs.
    pub fn serve_with(&self, generation: &Arc<Generation>) {
        self.change(|state| state.serving = Some(generation.clone()));
        for other in self.all().iter().filter(|other| !Arc::ptr_eq(other, generation)) {
            other.supersede();
        }
    }

    /// Adds a prepared generation. Prepared generations that never served are removed: their start has failed.
    pub fn add(&self, generation: Arc<Generation>) {
        self.change(|state| {
            let State { all, serving } = state;
            let serves = |other: &Arc<Generation>| serving.as_ref().is_some_and(|serving| Arc::ptr_eq(serving, other));
            all.retain(|other| other.is_superseded() || serves(other));
            all.push(generation);
        });
    }

    /// Removes the generations for which `is_over` holds, and returns them.
    pub fn remove(&self, is_over: impl Fn(&Generation) -> bool) -> Vec<Arc<Generation>> {
        if !self.all().iter().any(|generation| is_over(generation)) {
            return Vec::new();
        }
        self.change(|state| state.all.extract_if(.., |generation| is_over(generation)).collect())
    }

    /// The generation with this number; an error if there is none.
    pub fn get(&self, number: GenerationNumber) -> anyhow::Result<Arc<Generation>> {
        let state = lock(&self.state);
        let generation = state.all.iter().find(|generation| generation.number == number);
        generation.cloned().ok_or_else(|| anyhow!("generation {number} is not known"))
    }

    /// The live worker in slot `slot` for which `fits` holds. A slot is reused as soon as its process has ended.
    pub fn worker(&self, slot: u32, fits: impl Fn(&Worker) -> bool) -> Option<Arc<Worker>> {
        let workers = self.all().iter().flat_map(|generation| generation.workers()).collect::<Vec<_>>();
        workers.into_iter().find(|worker| worker.id.slot == slot && !worker.has_ended() && fits(worker))
    }

    /// Whether no request is running or queued.
    pub fn are_quiet(&self) -> bool {
        self.all().iter().all(|generation| generation.is_quiet())
    }

    /// Whether every idle worker was seen waiting for its next request.
    pub fn are_at_rest(&self) -> bool {
        self.all().iter().all(|generation| generation.pools.iter().all(|pool| pool.is_at_rest()))
    }

    /// Writes the buffered lines of the access logs. Returns whether there were any.
    pub fn flush_logs(&self) -> bool {
        self.all().iter().filter(|generation| generation.access_logs.flush()).count() > 0
    }
}
