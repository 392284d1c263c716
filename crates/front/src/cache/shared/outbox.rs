//! What waits to be written to the store: responses, ends of locks, purges. Responses are bounded and may be dropped;
//! purges wait until the store can be reached.

use std::collections::VecDeque;
use std::time::Duration;

/// Maximum size of waiting responses in bytes.
const MAX_BYTES: usize = 8 << 20;
/// Maximum number of waiting ends of locks, which end by themselves.
const MAX_RELEASES: usize = 1000;
/// Maximum number of waiting purges of one resource; more become a purge of all.
const MAX_PURGES: usize = 1000;

/// A change of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreWrite {
    /// Stores a response, and ends its lock.
    Put {
        resource: String,
        lock: String,
        field: String,
        vary: String,
        token: String,
        entry: Vec<u8>,
        fresh: Duration,
        ttl: Duration,
    },
    /// Ends a lock.
    Release { lock: String, token: String },
    /// Drops the responses of a resource.
    Purge(Box<[u8]>),
    /// Drops all responses; the text is the URL of the purge.
    PurgeAll(String),
}

/// Writes that wait. Purges come first: what they mean must not be found any more.
#[derive(Debug, Default)]
pub struct StoreOutbox {
    purges: VecDeque<StoreWrite>,
    others: VecDeque<StoreWrite>,
    bytes: usize,
}

impl StoreOutbox {
    /// Adds a write, unless too many wait.
    pub fn push(&mut self, write: StoreWrite) {
        match &write {
            StoreWrite::Put { entry, lock, token, .. } if self.bytes + entry.len() > MAX_BYTES => {
                self.push(StoreWrite::Release { lock: lock.clone(), token: token.clone() });
            }
            StoreWrite::Release { .. } if self.others.len() >= MAX_RELEASES => {}
            StoreWrite::Put { entry, .. } => {
                self.bytes += entry.len();
                self.others.push_back(write);
            }
            StoreWrite::Release { .. } => self.others.push_back(write),
            StoreWrite::Purge(_) | StoreWrite::PurgeAll(_) => self.push_purge(write),
        }
    }

    /// Adds a purge. The first may be on its way already, and does not stand for another one.
    fn push_purge(&mut self, purge: StoreWrite) {
        if self.purges.len() >= MAX_PURGES {
            self.purges.clear();
            self.purges.push_back(StoreWrite::PurgeAll("*".to_owned()));
        } else if !self.purges.iter().skip(1).any(|waiting| *waiting == purge) {
            self.purges.push_back(purge);
        }
        // Responses that were made before must not come after it.
        self.bytes = 0;
        for write in &mut self.others {
            if let StoreWrite::Put { lock, token, .. } = write {
                *write = StoreWrite::Release { lock: std::mem::take(lock), token: std::mem::take(token) };
            }
        }
    }

    /// Whether a purge of the resource waits.
    pub fn is_purged(&self, resource: &[u8]) -> bool {
        self.purges.iter().any(|purge| match purge {
            StoreWrite::Purge(of) => **of == *resource,
            _ => true,
        })
    }

    /// The next purge. It waits until [`StoreOutbox::purged`].
    pub fn purge(&self) -> Option<StoreWrite> {
        self.purges.front().cloned()
    }

    /// Ends the wait of the next purge.
    pub fn purged(&mut self, purge: &StoreWrite) {
        if self.purges.front() == Some(purge) {
            self.purges.pop_front();
        }
    }

    /// Takes the next write that is no purge.
    pub fn take(&mut self) -> Option<StoreWrite> {
        let write = self.others.pop_front()?;
        if let StoreWrite::Put { entry, .. } = &write {
            self.bytes = self.bytes.saturating_sub(entry.len());
        }
        Some(write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(size: usize) -> StoreWrite {
        let (fresh, ttl) = (Duration::ZERO, Duration::ZERO);
        let [resource, lock, field, vary, token] = std::array::from_fn(|_| String::new());
        StoreWrite::Put { resource, lock, field, vary, token, entry: vec![0; size], fresh, ttl }
    }

    #[test]
    fn responses_are_bounded_and_purges_are_not_lost() {
        let mut outbox = StoreOutbox::default();
        (0..100).for_each(|_| outbox.push(put(1 << 20)));
        let puts = outbox.others.iter().filter(|write| matches!(write, StoreWrite::Put { .. })).count();
        assert_eq!((puts, outbox.others.len()), (8, 100), "the locks of the others end");
        for number in 0..=MAX_PURGES {
            outbox.push(StoreWrite::Purge(number.to_le_bytes()[..].into()));
        }
        assert_eq!(outbox.purges, [StoreWrite::PurgeAll("*".to_owned())]);
        while outbox.take().is_some() {}
        assert_eq!(outbox.bytes, 0);
    }

    #[test]
    fn a_response_does_not_come_after_a_later_purge() {
        let (mut outbox, purge) = (StoreOutbox::default(), StoreWrite::Purge(b"a"[..].into()));
        outbox.push(put(10));
        outbox.push(purge.clone());
        assert_eq!(outbox.take(), Some(StoreWrite::Release { lock: String::new(), token: String::new() }));
        (0..3).for_each(|_| outbox.push(purge.clone()));
        assert_eq!(outbox.purges.len(), 2, "the first may be on its way");
        outbox.purged(&purge);
        assert!(outbox.is_purged(b"a"));
    }

    #[test]
    fn a_purged_resource_is_not_looked_up_until_the_store_has_dropped_it() {
        let mut outbox = StoreOutbox::default();
        outbox.push(StoreWrite::Purge(b"a"[..].into()));
        assert!(outbox.is_purged(b"a") && !outbox.is_purged(b"b"));
        let purge = outbox.purge().expect("it waits");
        assert!(outbox.is_purged(b"a"), "the store has not answered yet");
        outbox.purged(&purge);
        assert!(!outbox.is_purged(b"a"));
        outbox.push(StoreWrite::PurgeAll("/a*".to_owned()));
        assert!(outbox.is_purged(b"b"));
    }
}
