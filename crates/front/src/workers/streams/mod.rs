//! Streams of event workers: connections on which a worker serves HTTP/1.1 beside its others. The scheduler of the pool
//! knows such workers as idle ones, whose requests it never sees; [`Register`] decides which of them gets a request.

mod unanswered;

use std::collections::BTreeMap;
use std::sync::Mutex;

use tokio::sync::Notify;
use wire::control::{OpenStreams, WorkerId};

use config::PoolSettings;
pub use unanswered::{AwaitedRequests, NamedRequests, run};

/// Purpose of a stream, for the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamKind {
    /// A request and its response.
    Http,
    WebSocket,
    /// A response of server-sent events.
    Events,
}

/// The open streams of a worker, and what its `MaxRequestsPerChild` leaves.
#[derive(Debug, Default)]
struct WorkerStreams {
    open: OpenStreams,
    /// Number of requests that the worker may still get: `MaxRequestsPerChild`.
    left: Option<u64>,
    /// Number of requests that the worker has got.
    requests: u64,
    /// Requests whose response has not begun.
    unanswered: AwaitedRequests,
}

impl WorkerStreams {
    fn of_kind(&mut self, kind: StreamKind) -> &mut u32 {
        match kind {
            StreamKind::Http => &mut self.open.http,
            StreamKind::WebSocket => &mut self.open.websocket,
            StreamKind::Events => &mut self.open.sse,
        }
    }
}

/// Choice of the worker for a request, and the number of requests that wait. Without I/O.
#[derive(Debug)]
pub(super) struct Register {
    /// `EventConnections`
    most: u32,
    /// `QueueLength`
    queue_length: usize,
    pub waiting: usize,
    workers: BTreeMap<WorkerId, WorkerStreams>,
}

/// A place at a worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub worker: WorkerId,
    /// The worker gets no request after this one.
    pub is_last: bool,
}

impl Register {
    /// The worker among `serving` with the fewest streams, if it has room for one more. `limit` draws the number of
    /// requests of a worker that was not known yet.
    pub fn take(&mut self, serving: &[WorkerId], limit: impl Fn() -> Option<u64>) -> Option<Place> {
        self.workers.retain(|worker, streams| streams.open.all() > 0 || serving.contains(worker));
        for worker in serving {
            let new = || WorkerStreams { left: limit(), ..WorkerStreams::default() };
            self.workers.entry(*worker).or_insert_with(new);
        }
        let open = self.workers.iter_mut().filter(|(worker, streams)| {
            serving.contains(worker) && streams.open.all() < self.most && streams.left != Some(0)
        });
        let (worker, streams) = open.min_by_key(|(_, streams)| (streams.open.all(), streams.requests))?;
        streams.open.http += 1;
        streams.requests += 1;
        streams.left = streams.left.map(|left| left - 1);
        Some(Place { worker: *worker, is_last: streams.left == Some(0) })
    }

    /// Counts a stream as one of another kind; `None`: it has ended.
    pub fn change(&mut self, worker: WorkerId, from: StreamKind, to: Option<StreamKind>) {
        let Some(streams) = self.workers.get_mut(&worker) else { return };
        let before = streams.of_kind(from);
        *before = before.saturating_sub(1);
        if let Some(to) = to {
            *streams.of_kind(to) += 1;
        }
    }

    /// The requests of a worker whose response has not begun.
    pub fn unanswered(&mut self, worker: WorkerId) -> Option<&mut AwaitedRequests> {
        self.workers.get_mut(&worker).map(|streams| &mut streams.unanswered)
    }

    /// The streams of a worker, the number of requests that it has got, and names of those without a response.
    pub fn of(&self, worker: WorkerId) -> (OpenStreams, u64, String) {
        let of = |streams: &WorkerStreams| (streams.open, streams.requests, streams.unanswered.listed());
        self.workers.get(&worker).map_or_else(Default::default, of)
    }

    /// Whether a worker has streams.
    pub fn has_streams(&self) -> bool {
        self.workers.values().any(|streams| streams.open.all() > 0)
    }

    /// Whether a request may wait.
    pub fn queue(&mut self) -> bool {
        let has_room = self.waiting < self.queue_length;
        self.waiting += usize::from(has_room);
        has_room
    }
}

/// The streams of a pool's workers, and the requests that wait for one.
pub(super) struct Streams {
    pub register: Mutex<Register>,
    /// Notified when a place may have become free.
    pub room: Notify,
    pub settings: PoolSettings,
}

impl Streams {
    pub fn new(settings: &PoolSettings) -> Streams {
        let register = Register {
            most: settings.event_connections,
            queue_length: settings.queue_length,
            waiting: 0,
            workers: BTreeMap::new(),
        };
        Streams { register: register.into(), room: Notify::new(), settings: settings.clone() }
    }

    /// Lets waiting requests look for a place: a worker has come.
    pub fn look_again(&self) {
        if self.settings.is_event() {
            self.room.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(slot: u32) -> WorkerId {
        WorkerId { slot, serial: u64::from(slot) + 1 }
    }

    fn register(most: u32) -> Register {
        Register { most, queue_length: 1, waiting: 0, workers: BTreeMap::new() }
    }

    fn taken(register: &mut Register, serving: &[WorkerId]) -> Option<u32> {
        register.take(serving, || None).map(|place| place.worker.slot)
    }

    #[test]
    fn the_worker_with_the_fewest_streams_gets_the_next() {
        let serving = [worker(0), worker(1), worker(2)];
        let mut register = register(10);
        let first: Vec<_> = (0..6).map(|_| taken(&mut register, &serving)).collect();
        assert_eq!(first, [0, 1, 2, 0, 1, 2].map(Some));
        register.change(worker(1), StreamKind::Http, None);
        assert_eq!(taken(&mut register, &serving), Some(1));
    }

    #[test]
    fn a_full_worker_gets_none_until_one_of_its_streams_ends() {
        let serving = [worker(0)];
        let mut register = register(2);
        assert_eq!([(); 3].map(|()| taken(&mut register, &serving)), [Some(0), Some(0), None]);
        register.change(worker(0), StreamKind::Http, Some(StreamKind::WebSocket));
        assert_eq!(taken(&mut register, &serving), None, "a WebSocket is a stream");
        register.change(worker(0), StreamKind::WebSocket, None);
        assert_eq!(taken(&mut register, &serving), Some(0));
    }

    #[test]
    fn a_worker_that_leaves_gets_none() {
        let mut register = register(10);
        assert_eq!(taken(&mut register, &[worker(0)]), Some(0));
        assert_eq!(taken(&mut register, &[worker(1)]), Some(1));
        assert_eq!(taken(&mut register, &[]), None);
    }

    #[test]
    fn the_last_request_of_a_worker_is_known_as_such() {
        let mut register = register(10);
        let mut take = || register.take(&[worker(0)], || Some(2)).map(|place| place.is_last);
        assert_eq!([take(), take(), take()], [Some(false), Some(true), None]);
    }

    #[test]
    fn the_queue_has_its_length() {
        let mut register = register(1);
        assert_eq!([register.queue(), register.queue()], [true, false]);
    }
}
