//! The requests that wait for a worker, and in which order they get one. Nothing here knows workers, clients or the clock.
//!
//! Every `PoolShare` has a lane of its own, so that requests whose share is used up wait beside the others and not before
//! them. A lane is served in order of arrival until it is overloaded: see [`overload`].

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
    /// Those of all lanes but the first.
    shares: Vec<ShareSize>,
    /// The first is for requests without a share.
    lanes: Vec<Lane<T>>,
}

/// What is configured for all lanes.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// `MaxClients`
    pub workers: u32,
    /// `QueueLength`
    pub length: usize,
    /// `QueueStale`
    pub stale: Duration,
}

/// A client is not told to stay away for longer.
const LONGEST: u64 = 30;
/// What it is told before anything was measured.
const UNKNOWN: Duration = Duration::from_secs(2);

impl<T> Queue<T> {
    /// An empty one, with a lane for each share.
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

    /// From now on shares are parts of so many workers.
    pub fn resize(&mut self, workers: u32) {
        for (lane, share) in self.lanes.iter_mut().skip(1).zip(&self.shares) {
            lane.most = share.of(workers);
        }
    }

    /// The lane for requests with this share.
    pub fn lane(&self, share: Option<&PoolShare>) -> usize {
        let Some(share) = share else { return 0 };
        let is_its = |lane: &Lane<T>| lane.share.as_ref().is_some_and(|(id, _)| *id == share.id);
        self.lanes.iter().position(is_its).unwrap_or(0)
    }

    /// All lanes.
    pub fn lanes(&self) -> &[Lane<T>] {
        &self.lanes
    }

    /// How many wait.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.lanes.iter().map(Lane::len).sum()
    }

    /// How many wait for their share and not for a worker.
    pub fn held_back(&self) -> usize {
        self.lanes.iter().map(Lane::held_back).sum()
    }

    /// A request has come; whether it may have a worker at once, if one is idle.
    pub fn arrives(&mut self, lane: usize) -> bool {
        let lane = &mut self.lanes[lane];
        lane.seen = true;
        lane.overload.arrives();
        lane.len() == 0 && lane.places() > 0
    }

    /// Lets a request wait, if there is room.
    pub fn push(&mut self, lane: usize, waiting: Waiting<T>) -> Result<(), T> {
        self.lanes[lane].push(waiting)
    }

    /// A request has a worker without having waited.
    pub fn occupy(&mut self, lane: usize) {
        self.lanes[lane].busy += 1;
    }

    /// The next that is to have a worker.
    pub fn pop(&mut self) -> Option<T> {
        let lane = self.next_lane()?;
        let lane = &mut self.lanes[lane];
        lane.busy += 1;
        lane.pop()
    }

    /// What [`Queue::pop`] would give.
    pub fn peek(&self) -> Option<&T> {
        self.lanes[self.next_lane()?].next().map(|waiting| &waiting.item)
    }

    fn next_lane(&self) -> Option<usize> {
        let ready = self.lanes.iter().enumerate().filter(|(_, lane)| lane.places() > 0);
        let since = ready.filter_map(|(number, lane)| Some((lane.next()?.since, number)));
        since.min_by_key(|(since, _)| *since).map(|(_, number)| number)
    }

    /// A request that had a worker waits again.
    pub fn put_back(&mut self, lane: usize, waiting: Waiting<T>) {
        let lane = &mut self.lanes[lane];
        lane.busy -= 1;
        lane.insert(waiting);
    }

    /// A request has no worker any more; an answer took it so long.
    pub fn release(&mut self, lane: usize, took: Option<Duration>) {
        let lane = &mut self.lanes[lane];
        lane.busy -= 1;
        if let Some(took) = took {
            lane.overload.ended(took);
        }
    }

    /// A client that waits has left. Says whether it was here.
    pub fn remove(&mut self, lane: usize, order: u64) -> bool {
        self.lanes[lane].remove(order)
    }

    /// Takes out the requests that must be shed now.
    pub fn expired(&mut self, now: Instant) -> Vec<T> {
        self.lanes.iter_mut().flat_map(|lane| lane.expired(now)).collect()
    }

    /// Takes out those of whom `is_late` says that they have waited too long.
    pub fn timed_out(&mut self, is_late: impl Fn(&T, Duration) -> bool, now: Instant) -> Vec<T> {
        self.lanes.iter_mut().flat_map(|lane| lane.timed_out(&is_late, now)).collect()
    }

    /// After how many seconds a client whose request was shed may find a place.
    pub fn retry_after(&self, lane: usize) -> u32 {
        let lane = &self.lanes[lane];
        let after = lane.overload.retry_after(lane.len()).unwrap_or(UNKNOWN);
        (after.as_secs_f64().ceil() as u64).clamp(1, LONGEST) as u32
    }

    /// Looks at the clock: lanes that became overloaded, or are so no longer, when the pool has so many workers.
    pub fn watch(&mut self, workers: u32, now: Instant) -> Vec<(usize, Change)> {
        let may_grow = workers < self.sizes.workers;
        let lanes = self.lanes.iter_mut().enumerate();
        lanes.filter_map(|(number, lane)| lane.watch(may_grow, now).map(|change| (number, change))).collect()
    }
}
