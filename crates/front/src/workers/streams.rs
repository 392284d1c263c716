//! Streams of event workers: connections on which a worker serves HTTP/1.1 beside its others. The scheduler of the pool
//! knows such workers as idle ones, whose requests it never sees; [`Register`] decides which of them gets a request.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tokio::sync::Notify;
use wire::control::{OpenStreams, WorkerId};

use config::PoolSettings;

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

    /// The streams of a worker, and the number of requests that it has got.
    pub fn of(&self, worker: WorkerId) -> (OpenStreams, u64) {
        self.workers.get(&worker).map_or_else(Default::default, |streams| (streams.open, streams.requests))
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

/// A request's place at an event worker, until its response or its connection has ended.
pub struct StreamTurn {
    pool: Arc<SharedPool>,
    worker: WorkerId,
    kind: StreamKind,
}

impl StreamTurn {
    /// The worker, for logs.
    pub fn worker(&self) -> WorkerId {
        self.worker
    }

    /// Changes the purpose of the stream.
    pub fn be(&mut self, kind: StreamKind) {
        lock(&self.pool.streams.register).change(self.worker, self.kind, Some(kind));
        self.kind = kind;
    }
}

impl Drop for StreamTurn {
    fn drop(&mut self) {
        lock(&self.pool.streams.register).change(self.worker, self.kind, None);
        self.pool.streams.room.notify_one();
        // A generation that drains may be over now.
        self.pool.front.clock.start();
    }
}

impl proxy::EventWorker for StreamTurn {
    fn serial(&self) -> u64 {
        self.worker.serial
    }

    fn connect(&self) -> io::Result<UnixStream> {
        let worker = self.pool.look(|state| state.workers.get(&self.worker).cloned());
        let worker = worker.ok_or(io::ErrorKind::NotConnected)?;
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::Stream, None, flags)?;
        let _ = worker.socket().send(&WorkerOrder::Stream { socket: theirs.as_fd() })?;
        Ok(ours.into())
    }
}

/// Counts a request among those that wait.
struct Waiting<'a>(&'a Streams);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        lock(&self.0.register).waiting -= 1;
    }
}

impl SharedPool {
    /// Whether the workers of this pool run an event loop.
    pub fn is_event(&self) -> bool {
        self.streams.settings.is_event()
    }

    /// Whether a worker has streams.
    pub fn has_streams(&self) -> bool {
        lock(&self.streams.register).workers.values().any(|streams| streams.count() > 0)
    }

    /// Number of streams of a worker, by kind.
    pub fn streams_of(&self, worker: WorkerId) -> StreamCounts {
        lock(&self.streams.register).workers.get(&worker).map_or([0; 3], |streams| streams.counts)
    }

    /// Number of requests that an event worker has got.
    pub fn stream_requests_of(&self, worker: WorkerId) -> u64 {
        lock(&self.streams.register).workers.get(&worker).map_or(0, |streams| streams.requests)
    }

    /// A place at the event worker with the fewest streams; waits up to `patience` for one.
    pub async fn stream_turn(self: &Arc<Self>, patience: Duration) -> Result<StreamTurn, Failure> {
        if let Some(turn) = self.take_stream() {
            return Ok(turn);
        }
        let streams = &self.streams;
        if !lock(&streams.register).queue() {
            count(&self.front.counters.shed.queue_full);
            return Err(Failure::Busy(RETRY_AFTER));
        }
        let _waiting = Waiting(streams);
        let waiting = async {
            loop {
                let mut room = std::pin::pin!(streams.room.notified());
                // A place that becomes free from now on is not missed.
                room.as_mut().enable();
                if let Some(turn) = self.take_stream() {
                    return turn;
                }
                room.await;
            }
        };
        timeout(patience, waiting).await.map_err(|_| {
            count(&self.front.counters.shed.queue_timeout);
            Failure::Busy(RETRY_AFTER)
        })
    }

    fn take_stream(self: &Arc<Self>) -> Option<StreamTurn> {
        let serving: Vec<WorkerId> = self.look(|state| {
            let workers = state.scheduler.workers();
            workers.filter(|(_, worker)| worker.state == WorkerState::Idle).map(|(id, _)| id).collect()
        });
        let limit = || request_limit(&self.streams.settings.max_requests);
        let Place { worker, is_last } = lock(&self.streams.register).take(&serving, limit)?;
        if is_last {
            // The order to leave follows the stream: the worker serves those that it has got.
            self.dismiss_later(worker);
        }
        count(&self.front.counters.worker_requests);
        Some(StreamTurn { pool: self.clone(), worker, kind: StreamKind::Http })
    }

    fn dismiss_later(self: &Arc<Self>, worker: WorkerId) {
        let pool = self.clone();
        tokio::task::spawn_local(async move {
            // The request of the last place is sent by the task that runs now.
            tokio::task::yield_now().await;
            pool.dismiss(worker);
        });
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
