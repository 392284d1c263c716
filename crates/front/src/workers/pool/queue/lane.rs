//! Requests that wait for the same places: those of one `PoolShare`, or all others.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::overload::{Change, Line, Overload};

#[derive(Debug)]
pub struct Lane<T> {
    /// Which share's it is, and where that was said; `None`: all others.
    pub share: Option<(u32, String)>,
    /// How many workers its requests may have at one time.
    pub most: u32,
    /// How many they have.
    pub busy: u32,
    /// One has come.
    pub seen: bool,
    /// Requests that were refused because the queue was full or the lane overloaded.
    pub shed: u64,
    /// How many may wait.
    length: usize,
    /// Sorted: the oldest is the first.
    waiting: VecDeque<Waiting<T>>,
    pub(super) overload: Overload,
}

/// A request that waits.
#[derive(Debug)]
pub struct Waiting<T> {
    /// Grows with the order of arrival.
    pub order: u64,
    /// When it came.
    pub since: Instant,
    /// The request.
    pub item: T,
}

impl<T> Lane<T> {
    pub(super) fn new(share: Option<(u32, String)>, most: u32, length: usize, overload: Overload) -> Lane<T> {
        Lane { share, most, busy: 0, seen: false, shed: 0, length, waiting: VecDeque::new(), overload }
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// How many of them would not get a worker even if there were one.
    pub fn held_back(&self) -> usize {
        self.len().saturating_sub(self.places() as usize)
    }

    /// How many workers more its requests may have.
    pub fn places(&self) -> u32 {
        self.most.saturating_sub(self.busy)
    }

    /// Whether more come than are answered.
    pub fn is_overloaded(&self) -> bool {
        self.overload.is_on()
    }

    pub(super) fn push(&mut self, waiting: Waiting<T>) -> Result<(), T> {
        if self.len() >= self.length {
            self.turn_away();
            return Err(waiting.item);
        }
        self.insert(waiting);
        Ok(())
    }

    /// However many wait: it was let in before.
    pub(super) fn insert(&mut self, waiting: Waiting<T>) {
        let at = self.waiting.partition_point(|other| other.order < waiting.order);
        self.waiting.insert(at, waiting);
    }

    pub(super) fn remove(&mut self, order: u64) -> bool {
        let at = self.waiting.binary_search_by_key(&order, |waiting| waiting.order);
        at.is_ok_and(|at| self.waiting.remove(at).is_some())
    }

    /// The one that would be the next.
    pub(super) fn next(&self) -> Option<&Waiting<T>> {
        if self.is_overloaded() { self.waiting.back() } else { self.waiting.front() }
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let next = if self.is_overloaded() { self.waiting.pop_back() } else { self.waiting.pop_front() };
        next.map(|waiting| waiting.item)
    }

    /// Those that will not make it.
    pub(super) fn expired(&mut self, now: Instant) -> Vec<T> {
        let Some(patience) = self.overload.patience() else { return Vec::new() };
        let late = self.waiting.partition_point(|waiting| now.duration_since(waiting.since) > patience);
        (0..late).for_each(|_| self.turn_away());
        self.waiting.drain(..late).map(|waiting| waiting.item).collect()
    }

    /// Those that have waited for too long by their own account.
    pub(super) fn timed_out(&mut self, is_late: impl Fn(&T, Duration) -> bool, now: Instant) -> Vec<T> {
        let late = |waiting: &Waiting<T>| is_late(&waiting.item, now.duration_since(waiting.since));
        if !self.waiting.iter().any(late) {
            return Vec::new();
        }
        let (late, kept): (Vec<_>, _) = std::mem::take(&mut self.waiting).into_iter().partition(late);
        self.waiting = kept.into();
        late.into_iter().map(|waiting| waiting.item).collect()
    }

    pub(super) fn watch(&mut self, may_grow: bool, now: Instant) -> Option<Change> {
        let line = Line {
            oldest: self.waiting.front().map(|waiting| now.duration_since(waiting.since)),
            waiting: self.len(),
            may_grow: may_grow && self.places() > 0,
        };
        self.overload.watch(line, now)
    }

    fn turn_away(&mut self) {
        self.shed += 1;
        self.overload.shed();
    }
}
