//! How somebody who waits is noticed by whoever brings what they wait for, and by nobody else.
//!
//! Whoever waits sets the flag, looks once more, and sleeps. Whoever brings something leaves it there, and then takes the flag
//! down; if it was up, a wake-up is due. Of the two looks at least one comes after the other's writing, so that nobody
//! sleeps beside what lies there.

use super::Memory;
use super::sync::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst, fence};

/// A word that says that somebody sleeps.
#[derive(Clone)]
pub struct Flag {
    memory: Memory,
    at: usize,
}

impl Flag {
    /// The word `at`.
    pub(super) fn new(memory: &Memory, at: usize) -> Flag {
        Flag { memory: memory.clone(), at }
    }

    fn word(&self) -> Option<&AtomicU64> {
        self.memory.words().get(self.at)
    }

    /// From now on a wake-up is due for what comes. The caller looks once more before it sleeps.
    pub fn raise(&self) {
        self.word().inspect(|word| word.store(1, Relaxed));
        fence(SeqCst);
    }

    /// Nobody sleeps.
    pub fn lower(&self) {
        self.word().inspect(|word| word.store(0, Relaxed));
    }

    /// Whether it is up.
    pub fn is_raised(&self) -> bool {
        self.word().is_some_and(|word| word.load(Relaxed) != 0)
    }

    /// To be asked after something was left: whether the caller is to wake somebody.
    pub fn take(&self) -> bool {
        fence(SeqCst);
        self.word().is_some_and(|word| word.load(Relaxed) != 0 && word.swap(0, SeqCst) != 0)
    }
}
