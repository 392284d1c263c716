//! What waits to be written to the store: responses, ends of locks, purges. Responses are bounded and may be dropped;
//! purges wait until the store can be reached.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use super::PurgesSeen;

/// Maximum size of waiting responses in bytes.
const MAX_BYTES: usize = 8 << 20;
/// Maximum number of waiting ends of locks, which end by themselves.
const MAX_RELEASES: usize = 1000;
/// Maximum size of waiting purges of one resource in bytes; more become a purge of all.
const MAX_PURGE_BYTES: usize = 4 << 20;
/// Estimated memory in bytes of a waiting write besides its content.
const PER_WRITE: usize = 512;

/// A change of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreWrite {
    Put(Box<StorePut>),
    /// Ends a lock.
    Release {
        lock: String,
        token: String,
    },
    /// Drops the responses of a resource.
    Purge(Box<[u8]>),
    /// Drops all responses; the text is the URL of the purge.
    PurgeAll(String),
}

/// Stores a response, and ends its lock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StorePut {
    pub resource: String,
    pub lock: String,
    pub field: String,
    pub vary: String,
    /// Empty: there is no lock.
    pub token: String,
    pub seen: PurgesSeen,
    pub entry: Vec<u8>,
    pub fresh: Duration,
    pub ttl: Duration,
}

impl StorePut {
    fn size(&self) -> usize {
        self.entry.len() + PER_WRITE
    }

    /// The end of its lock, if the response is not stored.
    fn release(self) -> Option<StoreWrite> {
        (!self.token.is_empty()).then_some(StoreWrite::Release { lock: self.lock, token: self.token })
    }
}

/// Writes that wait. Purges come first: what they mean must not be found any more.
#[derive(Debug, Default)]
pub struct StoreOutbox {
    purges: VecDeque<StoreWrite>,
    /// Resources of `purges` without the first.
    resources: HashSet<Box<[u8]>>,
    /// Size of `resources`.
    purge_bytes: usize,
    /// Number of purges of all in `purges`.
    of_all: usize,
    others: VecDeque<StoreWrite>,
    /// Size of the responses in `others`.
    bytes: usize,
}

impl StoreOutbox {
    /// Adds a write, unless too many wait.
    pub fn push(&mut self, write: StoreWrite) {
        match write {
            StoreWrite::Put(put) if self.bytes + put.size() > MAX_BYTES => {
                put.release().into_iter().for_each(|release| self.push(release));
            }
            StoreWrite::Release { .. } if self.others.len() >= MAX_RELEASES => {}
            StoreWrite::Put(put) => {
                self.bytes += put.size();
                self.others.push_back(StoreWrite::Put(put));
            }
            StoreWrite::Release { .. } => self.others.push_back(write),
            StoreWrite::Purge(resource) => {
                self.push_purge(resource);
                self.drop_responses(|_| true);
            }
            StoreWrite::PurgeAll(_) => {
                if !self.purges.iter().skip(1).any(|waiting| *waiting == write) {
                    self.of_all += 1;
                    self.purges.push_back(write);
                }
                self.drop_responses(|_| true);
            }
        }
    }

    /// Adds a purge of a resource. The first may be on its way already, and does not stand for another one.
    fn push_purge(&mut self, resource: Box<[u8]>) {
        if self.resources.contains(&resource) {
            return;
        }
        let size = resource.len() + PER_WRITE;
        if self.purge_bytes + size > MAX_PURGE_BYTES {
            *self =
                StoreOutbox { others: std::mem::take(&mut self.others), bytes: self.bytes, ..StoreOutbox::default() };
            self.of_all = 1;
            return self.purges.push_back(StoreWrite::PurgeAll("*".to_owned()));
        }
        if !self.purges.is_empty() {
            self.purge_bytes += size;
            self.resources.insert(resource.clone());
        }
        self.purges.push_back(StoreWrite::Purge(resource));
    }

    /// Drops the waiting responses of the resources for which `is_meant` holds: they must not come after a purge.
    pub fn drop_responses(&mut self, is_meant: impl Fn(&str) -> bool) {
        let mut releases = 0;
        for write in std::mem::take(&mut self.others) {
            let kept = match write {
                StoreWrite::Put(put) if is_meant(&put.resource) => {
                    self.bytes = self.bytes.saturating_sub(put.size());
                    put.release()
                }
                write => Some(write),
            };
            releases += usize::from(matches!(kept, Some(StoreWrite::Release { .. })));
            let is_one_too_many = releases > MAX_RELEASES && matches!(kept, Some(StoreWrite::Release { .. }));
            self.others.extend(kept.filter(|_| !is_one_too_many));
        }
    }

    /// Whether a purge of the resource waits.
    pub fn is_purged(&self, resource: &[u8]) -> bool {
        let is_first = matches!(self.purges.front(), Some(StoreWrite::Purge(of)) if **of == *resource);
        self.of_all > 0 || is_first || self.resources.contains(resource)
    }

    /// Whether purges wait.
    pub fn has_purges(&self) -> bool {
        !self.purges.is_empty()
    }

    /// The next purge. It waits until [`StoreOutbox::purged`].
    pub fn purge(&self) -> Option<StoreWrite> {
        self.purges.front().cloned()
    }

    /// Ends the wait of the next purge.
    pub fn purged(&mut self, purge: &StoreWrite) {
        if self.purges.front() != Some(purge) {
            return;
        }
        self.of_all -= usize::from(matches!(purge, StoreWrite::PurgeAll(_)));
        self.purges.pop_front();
        if let Some(StoreWrite::Purge(first)) = self.purges.front()
            && self.resources.remove(first)
        {
            self.purge_bytes = self.purge_bytes.saturating_sub(first.len() + PER_WRITE);
        }
    }

    /// Takes the next write that is no purge.
    pub fn take(&mut self) -> Option<StoreWrite> {
        let write = self.others.pop_front()?;
        if let StoreWrite::Put(put) = &write {
            self.bytes = self.bytes.saturating_sub(put.size());
        }
        Some(write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(size: usize) -> StoreWrite {
        put_of("", size)
    }

    fn put_of(resource: &str, size: usize) -> StoreWrite {
        let (resource, token) = (resource.to_owned(), "token".to_owned());
        StoreWrite::Put(Box::new(StorePut { resource, token, entry: vec![0; size], ..StorePut::default() }))
    }

    fn release() -> StoreWrite {
        StoreWrite::Release { lock: String::new(), token: "token".to_owned() }
    }

    #[test]
    fn responses_are_bounded_and_purges_are_not_lost() {
        let mut outbox = StoreOutbox::default();
        (0..100).for_each(|_| outbox.push(put(1_000_000)));
        let puts = outbox.others.iter().filter(|write| matches!(write, StoreWrite::Put(_))).count();
        assert_eq!((puts, outbox.others.len()), (8, 100), "the locks of the others end");
        let purge = |number: usize| StoreWrite::Purge(number.to_le_bytes()[..].into());
        (0..5000).for_each(|number| outbox.push(purge(number)));
        (0..5000).for_each(|number| outbox.push(purge(number)));
        assert_eq!(outbox.purges.len(), 5001, "the first may be on its way");
        (0..5000).for_each(|number| outbox.purged(&purge(number)));
        assert_eq!((outbox.purges.len(), outbox.resources.len(), outbox.purge_bytes), (1, 0, 0));
        (0..10_000).for_each(|number| outbox.push(purge(number)));
        assert_eq!(outbox.purges.front(), Some(&StoreWrite::PurgeAll("*".to_owned())));
        while outbox.take().is_some() {}
        assert_eq!(outbox.bytes, 0);
        while let Some(purge) = outbox.purge() {
            outbox.purged(&purge);
        }
        assert_eq!((outbox.of_all, outbox.purge_bytes, outbox.has_purges()), (0, 0, false));
    }

    #[test]
    fn ends_of_locks_are_bounded() {
        let mut outbox = StoreOutbox::default();
        for _ in 0..10 {
            (0..MAX_RELEASES).for_each(|_| outbox.push(put(0)));
            outbox.push(StoreWrite::Purge(b"a"[..].into()));
        }
        assert_eq!(outbox.others.len(), MAX_RELEASES);
    }

    #[test]
    fn a_response_does_not_come_after_a_later_purge() {
        let (mut outbox, purge) = (StoreOutbox::default(), StoreWrite::Purge(b"a"[..].into()));
        outbox.push(put(10));
        outbox.push(purge.clone());
        assert_eq!(outbox.take(), Some(release()));
        (0..3).for_each(|_| outbox.push(purge.clone()));
        assert_eq!(outbox.purges.len(), 2, "the first may be on its way");
        outbox.purged(&purge);
        assert!(outbox.is_purged(b"a"));
        // A purge of another server.
        outbox.push(put_of("one", 10));
        outbox.push(put_of("other", 10));
        outbox.drop_responses(|resource| resource == "one");
        assert_eq!((outbox.take(), outbox.take()), (Some(release()), Some(put_of("other", 10))));
        assert_eq!(outbox.bytes, 0);
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
