//! The queue: requests that wait for a worker, and their order. This module knows no workers, clients or clock.
//!
//! Every `PoolShare` has a lane of its own, so that requests whose share is used up do not delay others. A lane is
//! served in order of arrival until it is overloaded: see [`overload`].

mod lane;
mod overload;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use config::scheduling::{PoolShare, ShareSize};

pub use lane::{Lane, Waiting};
pub use overload::Change;

use overload::Overload;

#[derive(Debug)]
pub struct Queue<T> {
    sizes: Sizes,
    /// Sizes of the shares, for all lanes but the first.
    shares: Vec<ShareSize>,
    /// All lanes; the first is for requests without a share.
    lanes: Vec<Lane<T>>,
}

/// Configured sizes of a pool.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// `MaxClients`
    pub workers: u32,
    /// `QueueLength`
    pub length: usize,
    /// `QueueStale`
    pub stale: Duration,
}

/// Upper limit of Retry-After, in seconds.
const MAX_RETRY_AFTER_SECONDS: u64 = 30;
/// Retry-After before anything was measured.
const UNKNOWN: Duration = Duration::from_secs(2);

impl<T> Queue<T> {
    /// Creates an empty queue with a lane for each share.
    pub fn new<'a>(sizes: Sizes, shares: impl Iterator<Item = &'a PoolShare>, now: Instant) -> Queue<T> {
        let Sizes { workers, length, stale } = sizes;
        let all = Lane::new(None, u32::MAX, length, Overload::new(stale, now));
        let part = |share: &PoolShare| {
            let most = share.size.of(workers);
            let length = (length * most as usize).div_ceil(workers.max(1) as usize).min(length);
            Lane::new(Some((share.id, share.place.clone())), most, length, Overload::new(stale, now))
        };
        let (sizes_of_shares, parts) = shares.map(|share| (share.size, part(share))).unzip::<_, _, Vec<_>, Vec<_>>();
        Queue { sizes, shares: sizes_of_shares, lanes: std::iter::once(all).chain(parts).collect() }
    }

    /// Recomputes the shares as parts of `workers` workers.
    pub fn resize(&mut self, workers: u32) {
        for (lane, share) in self.lanes.iter_mut().skip(1).zip(&self.shares) {
            lane.most = share.of(workers);
        }
    }

    /// Index of the lane for requests of the share with this id.
    pub fn lane(&self, share: Option<u32>) -> usize {
        let Some(share) = share else { return 0 };
        let is_its = |lane: &Lane<T>| lane.share.as_ref().is_some_and(|(id, _)| *id == share);
        self.lanes.iter().position(is_its).unwrap_or(0)
    }

    /// All lanes; the first is for requests without a share.
    pub fn lanes(&self) -> &[Lane<T>] {
        &self.lanes
    }

    /// Number of queued requests.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.lanes.iter().map(Lane::len).sum()
    }

    /// Number of requests that wait for their share, not for a worker.
    pub fn held_back(&self) -> usize {
        self.lanes.iter().map(Lane::held_back).sum()
    }

    /// Counts an arrival. True: the request may get a worker at once, if one is idle.
    pub fn arrives(&mut self, lane: usize) -> bool {
        let lane = &mut self.lanes[lane];
        lane.seen = true;
        lane.overload.arrives();
        lane.len() == 0 && lane.places() > 0
    }

    /// Queues a request; returns it as the error when the lane is full.
    pub fn push(&mut self, lane: usize, waiting: Waiting<T>) -> Result<(), T> {
        self.lanes[lane].push(waiting)
    }

    /// Counts a request that gets a worker without waiting.
    pub fn occupy(&mut self, lane: usize) {
        self.lanes[lane].busy += 1;
    }

    /// Removes and returns the next request to serve.
    pub fn pop(&mut self) -> Option<T> {
        let lane = self.next_lane()?;
        let lane = &mut self.lanes[lane];
        lane.busy += 1;
        lane.pop()
    }

    /// The request that [`Queue::pop`] would return.
    pub fn peek(&self) -> Option<&T> {
        self.lanes[self.next_lane()?].next().map(|waiting| &waiting.item)
    }

    fn next_lane(&self) -> Option<usize> {
        let ready = self.lanes.iter().enumerate().filter(|(_, lane)| lane.places() > 0);
        let since = ready.filter_map(|(number, lane)| Some((lane.next()?.since, number)));
        since.min_by_key(|(since, _)| *since).map(|(_, number)| number)
    }

    /// Queues a request again that a worker has given back.
    pub fn put_back(&mut self, lane: usize, waiting: Waiting<T>) {
        let lane = &mut self.lanes[lane];
        lane.busy -= 1;
        lane.insert(waiting);
    }

    /// Frees a request's place in its lane; `took` is its time in the worker, if it was answered.
    pub fn release(&mut self, lane: usize, took: Option<Duration>) {
        let lane = &mut self.lanes[lane];
        lane.busy -= 1;
        if let Some(took) = took {
            lane.overload.ended(took);
        }
    }

    /// Removes a request whose client has left. False if it is not queued.
    pub fn remove(&mut self, lane: usize, order: u64) -> bool {
        self.lanes[lane].remove(order)
    }

    /// Removes and returns the requests that an overload sheds now.
    pub fn expired(&mut self, now: Instant) -> Vec<T> {
        self.lanes.iter_mut().flat_map(|lane| lane.expired(now)).collect()
    }

    /// Removes and returns the requests that have waited too long, as decided by `is_late`.
    pub fn timed_out(&mut self, is_late: impl Fn(&T, Duration) -> bool, now: Instant) -> Vec<T> {
        self.lanes.iter_mut().flat_map(|lane| lane.timed_out(&is_late, now)).collect()
    }

    /// Retry-After for a shed request, in seconds.
    pub fn retry_after(&self, lane: usize) -> u32 {
        let lane = &self.lanes[lane];
        let after = lane.overload.retry_after(lane.len()).unwrap_or(UNKNOWN);
        (after.as_secs_f64().ceil() as u64).clamp(1, MAX_RETRY_AFTER_SECONDS) as u32
    }

    /// Updates the overload state of all lanes, and returns the changes. `workers` is the pool's current size.
    pub fn watch(&mut self, workers: u32, now: Instant) -> Vec<(usize, Change)> {
        let may_grow = workers < self.sizes.workers;
        let lanes = self.lanes.iter_mut().enumerate();
        lanes.filter_map(|(number, lane)| lane.watch(may_grow, now).map(|change| (number, change))).collect()
    }
}
