//! Places of requests at event workers, and the connections that they make.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use tokio::time::timeout;
use wire::control::{FromFront, LongWait, OpenStreams, WorkerId, WorkerState};
use wire::reply::LeaveReason;
use wire::transport::WorkerOrder;

use super::scheduler::RequestTimeouts;
use super::shared_pool::SharedPool;
use super::streams::{Place, StreamKind, Streams};
use super::submitted::Label;
use crate::base::failure::Failure;
use crate::base::lock::lock;
use crate::base::shared::count;
use base::drawn::request_limit;

/// Retry-After, in seconds, of a request that found no place.
const RETRY_AFTER: u32 = 2;

/// A request's place at an event worker, until its response or its connection has ended.
pub struct StreamTurn {
    pool: Arc<SharedPool>,
    worker: WorkerId,
    kind: StreamKind,
    /// Number of the request among those whose response has not begun.
    unanswered: Option<u64>,
}

impl StreamTurn {
    /// Begins to wait for the response to a request. A loop that is blocked meanwhile is interrupted.
    pub fn wait_for_response(&mut self, label: Label, timeouts: RequestTimeouts) {
        self.unanswered = self.pool.wait_for_response(self.worker, label, timeouts);
    }

    /// Reports that the response began late.
    pub fn report_wait(&self, wait: LongWait) {
        self.pool.send_to_master(FromFront::Waited(Box::new(wait)));
    }

    /// Notes that the response has begun.
    pub fn is_answered(&mut self) {
        if let Some(number) = self.unanswered.take() {
            self.pool.is_answered(self.worker, number);
        }
    }

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
        self.is_answered();
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

    fn connect(&self) -> io::Result<(UnixStream, proxy::WorkerEnd)> {
        let worker = self.pool.look(|state| state.workers.get(&self.worker).cloned());
        let worker = worker.ok_or(io::ErrorKind::NotConnected)?;
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::Stream, None, flags)?;
        let _ = worker.socket().send(&WorkerOrder::Stream { socket: theirs.as_fd() })?;
        Ok((ours.into(), worker.end()))
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
        lock(&self.streams.register).has_streams()
    }

    /// The streams of an event worker, the number of requests that it has got, and those without a response.
    pub(super) fn streams_of(&self, worker: WorkerId) -> (OpenStreams, u64, String) {
        lock(&self.streams.register).of(worker)
    }

    /// A place at the event worker with the fewest streams. Waits up to `patience` for one, behind those that wait
    /// already.
    pub async fn stream_turn(self: &Arc<Self>, patience: Duration) -> Result<StreamTurn, Failure> {
        let streams = &self.streams;
        let is_first = lock(&streams.register).waiting == 0;
        if let Some(turn) = is_first.then(|| self.take_stream()).flatten() {
            return Ok(turn);
        }
        if !lock(&streams.register).queue() {
            count(&self.front.counters.shed.queue_full);
            return Err(Failure::Busy(RETRY_AFTER));
        }
        let waiting = Waiting(streams);
        let turn = timeout(patience, self.wait_for_stream(is_first)).await.map_err(|_| {
            count(&self.front.counters.shed.queue_timeout);
            Failure::Busy(RETRY_AFTER)
        });
        drop(waiting);
        if turn.is_ok() {
            // There may be more places than the one for which this request was woken.
            streams.room.notify_one();
        }
        turn
    }

    async fn wait_for_stream(self: &Arc<Self>, mut may_take: bool) -> StreamTurn {
        loop {
            let mut room = std::pin::pin!(self.streams.room.notified());
            // A place that becomes free from now on is not missed.
            room.as_mut().enable();
            if let Some(turn) = may_take.then(|| self.take_stream()).flatten() {
                return turn;
            }
            room.await;
            may_take = true;
        }
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
        Some(StreamTurn { pool: self.clone(), worker, kind: StreamKind::Http, unanswered: None })
    }

    /// Lets a worker leave that has asked for it.
    pub(super) fn leaves(&self, worker: WorkerId, reason: LeaveReason) {
        let mut may_leave = false;
        self.change_worker(|scheduler| may_leave = scheduler.leaves(worker, reason, Instant::now()));
        if may_leave {
            self.look(|state| state.workers.get(&worker).inspect(|worker| worker.order_to_leave()).is_some());
        }
    }

    /// Has all workers close the WebSockets whose protocol they speak.
    pub fn close_websockets(&self) {
        self.all().iter().for_each(|worker| worker.notify(&WorkerOrder::CloseWebSockets));
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
