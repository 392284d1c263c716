//! A lane of the queue: requests of one `PoolShare`, or of no share.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::overload::{Change, LaneQueue, Overload};

#[derive(Debug)]
pub struct Lane<T> {
    /// Id of the share and the place that configures it; `None`: requests without a share.
    pub share: Option<(u32, String)>,
    /// Maximum number of workers that the lane's requests may occupy at one time.
    pub most: u32,
    /// Number of requests of this lane at workers, including those sent ahead.
    pub busy: u32,
    /// Whether any request has come to this lane.
    pub seen: bool,
    /// Requests that were refused because the queue was full or the lane overloaded.
    pub shed: u64,
    /// Maximum number of requests that may wait.
    length: usize,
    /// Queued requests, oldest first.
    waiting: VecDeque<Waiting<T>>,
    pub(super) overload: Overload,
}

/// A queued request.
#[derive(Debug)]
pub struct Waiting<T> {
    /// Increases in order of arrival.
    pub order: u64,
    /// Time of arrival.
    pub since: Instant,
    /// The request that waits.
    pub item: T,
}

impl<T> Lane<T> {
    pub(super) fn new(share: Option<(u32, String)>, most: u32, length: usize, overload: Overload) -> Lane<T> {
        Lane { share, most, busy: 0, seen: false, shed: 0, length, waiting: VecDeque::new(), overload }
    }

    /// Number of queued requests.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Number of queued requests that have no place even if workers are idle.
    pub fn held_back(&self) -> usize {
        self.len().saturating_sub(self.places() as usize)
    }

    /// Number of further workers that the lane's requests may occupy.
    pub fn places(&self) -> u32 {
        self.most.saturating_sub(self.busy)
    }

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

    /// Inserts in order of arrival, whatever the length: a request that comes back was admitted before.
    pub(super) fn insert(&mut self, waiting: Waiting<T>) {
        let at = self.waiting.partition_point(|other| other.order < waiting.order);
        self.waiting.insert(at, waiting);
    }

    pub(super) fn remove(&mut self, order: u64) -> bool {
        let at = self.waiting.binary_search_by_key(&order, |waiting| waiting.order);
        at.is_ok_and(|at| self.waiting.remove(at).is_some())
    }

    /// The next request to serve: the oldest, or in an overload the newest.
    pub(super) fn next(&self) -> Option<&Waiting<T>> {
        if self.is_overloaded() { self.waiting.back() } else { self.waiting.front() }
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let next = if self.is_overloaded() { self.waiting.pop_back() } else { self.waiting.pop_front() };
        next.map(|waiting| waiting.item)
    }

    /// Removes the requests that have waited longer than an overloaded lane allows.
    pub(super) fn expired(&mut self, now: Instant) -> Vec<T> {
        let Some(patience) = self.overload.patience() else { return Vec::new() };
        let late = self.waiting.partition_point(|waiting| now.duration_since(waiting.since) > patience);
        (0..late).for_each(|_| self.turn_away());
        self.waiting.drain(..late).map(|waiting| waiting.item).collect()
    }

    /// Removes the requests that are late by their own timeouts.
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
        let line = LaneQueue {
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
