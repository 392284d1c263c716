//! The state of a store and its counters, shared by the connections of all threads.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::log;
use wire::control::SharedStoreStatus;

/// Maximum length of a store's error message in the log.
const MAX_WHY: usize = 300;

/// The directive that names a store, and what happens without it.
#[derive(Debug, Clone, Copy)]
pub struct StoreUse {
    /// `LimitStore`
    pub directive: &'static str,
    /// For the log: `this server counts alone until the store answers`
    pub meanwhile: &'static str,
}

/// The state of a store.
#[derive(Debug)]
pub struct StoreReport {
    of: StoreUse,
    /// URL without account and password.
    store: String,
    state: Mutex<State>,
    answered: AtomicU64,
    late: AtomicU64,
    alone: AtomicU64,
    reconnects: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    is_connected: bool,
    was_connected: bool,
    /// Why the store is not used, as last logged.
    why: String,
    /// The error of a command that was logged since the last connection.
    failure: String,
}

impl StoreReport {
    /// `store` is the URL without account and password.
    pub fn new(of: StoreUse, store: String) -> StoreReport {
        StoreReport {
            of,
            store,
            state: Mutex::default(),
            answered: AtomicU64::new(0),
            late: AtomicU64::new(0),
            alone: AtomicU64::new(0),
            reconnects: AtomicU64::new(0),
        }
    }

    /// Counters and state.
    pub fn status(&self) -> SharedStoreStatus {
        let state = self.lock();
        SharedStoreStatus {
            directive: self.of.directive.to_owned(),
            store: self.store.clone(),
            connected: state.is_connected,
            error: if state.is_connected { String::new() } else { state.why.clone() },
            answered: self.answered.load(Relaxed),
            late: self.late.load(Relaxed),
            alone: self.alone.load(Relaxed),
            reconnects: self.reconnects.load(Relaxed),
        }
    }

    /// Counts an answer within `StoreTimeout`.
    pub(crate) fn answered(&self) {
        self.answered.fetch_add(1, Relaxed);
    }

    /// Counts a request that has waited for `StoreTimeout`.
    pub(crate) fn late(&self) {
        self.late.fetch_add(1, Relaxed);
    }

    /// Counts a request that was decided without the store.
    pub(crate) fn alone(&self) {
        self.alone.fetch_add(1, Relaxed);
    }

    /// Counts a connection after the first of a thread.
    pub(crate) fn reconnected(&self) {
        self.reconnects.fetch_add(1, Relaxed);
    }

    /// Notes and logs that the store is used. After a failure this is as important as the failure.
    pub(crate) fn used(&self) {
        let mut state = self.lock();
        state.is_connected = true;
        let line = format!("{} {}: connected", self.of.directive, self.store);
        let is_first = !std::mem::replace(&mut state.was_connected, true);
        match std::mem::take(&mut state.why).is_empty() {
            false => log::warn("front", line),
            true if is_first => log::notice("front", line),
            true => {}
        }
    }

    /// Logs the error of a command, unless it is the last one of this connection.
    pub(crate) fn failed(&self, why: &str) {
        let why = line(why);
        let mut state = self.lock();
        if state.failure != why && state.why != why {
            log::warn("front", format_args!("{} {}: {why}; {}", self.of.directive, self.store, self.of.meanwhile));
            state.failure = why;
        }
    }

    /// Notes that the store is not used, and logs it if it is new or has another reason.
    pub(crate) fn unused(&self, why: &str) {
        let why = line(why);
        let mut state = self.lock();
        state.is_connected = false;
        let is_logged = state.why == why || std::mem::take(&mut state.failure) == why;
        if !is_logged {
            log::warn("front", format_args!("{} {}: {why}; {}", self.of.directive, self.store, self.of.meanwhile));
        }
        state.why = why;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The begin of an error message of a store, as one line.
fn line(why: &str) -> String {
    base::printable::line(&why.chars().take(MAX_WHY).collect::<String>())
}
