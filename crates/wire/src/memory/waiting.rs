//! Flags that let a producer wake a sleeping consumer, without needless wake-ups.
//!
//! The consumer raises the flag, checks for work once more, and sleeps. The producer leaves its work, then lowers the
//! flag; if it was raised, the producer sends a wake-up. One of the two checks always sees the other side's write, so
//! that no wake-up is lost.

use super::Memory;
use super::sync::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst, fence};

/// A word that is set while the consumer sleeps.
#[derive(Clone)]
pub struct Flag {
    memory: Memory,
    at: usize,
}

impl Flag {
    /// The flag at word index `at`.
    pub(super) fn new(memory: &Memory, at: usize) -> Flag {
        Flag { memory: memory.clone(), at }
    }

    fn word(&self) -> Option<&AtomicU64> {
        self.memory.words().get(self.at)
    }

    /// Announces that the caller is going to sleep. The caller must check for work once more before it does.
    pub fn raise(&self) {
        self.word().inspect(|word| word.store(1, Relaxed));
        fence(SeqCst);
    }

    /// Withdraws [`Flag::raise`].
    pub fn lower(&self) {
        self.word().inspect(|word| word.store(0, Relaxed));
    }

    /// Whether the flag is raised now. The other side may change it at any moment.
    pub fn is_raised(&self) -> bool {
        self.word().is_some_and(|word| word.load(Relaxed) != 0)
    }

    /// Lowers the flag after work was left. Returns whether the caller must send a wake-up.
    pub fn take(&self) -> bool {
        fence(SeqCst);
        self.word().is_some_and(|word| word.load(Relaxed) != 0 && word.swap(0, SeqCst) != 0)
    }
}
