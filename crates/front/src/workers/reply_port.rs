//! A worker's replies to one thread. A ring in shared memory carries responses. On one thread, the worker's socket
//! carries replies without a request.

use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use wire::memory::replies::MAX_ENTRIES;
use wire::transport::SocketFront;

use super::ring::Ring;
use super::scheduler::RequestId;
use super::share::{Share, go_on_later};
use super::worker::{ReplyPath, Worker};

/// Maximum number of packets read from the socket of a worker that has ended. A child of its program may hold the
/// socket open and continue to send.
const LAST_WORDS: usize = 64;

/// Receive buffers, reused for all packets, because clearing a buffer for each packet costs more than reading it.
pub struct Buffers {
    /// Buffer for packets of a socket; as long as the longest packet.
    pub packet: Vec<u8>,
    /// Buffer for entries of a ring.
    pub entry: Vec<u8>,
}

pub struct ReplyPort {
    /// The worker that sends the replies.
    pub worker: Arc<Worker>,
    ring: Rc<Ring>,
    socket: Option<AsyncFd<Arc<SocketFront>>>,
    /// The request whose slow client pauses this port, and since when. A paused ring is not read.
    paused: Cell<Option<(RequestId, Instant)>>,
    /// The request, and for how long, that was paused; consumed by [`ReplyPort::was_held`].
    held: Cell<Option<(RequestId, Duration)>>,
    /// The task that reads this port.
    task: RefCell<Option<Waker>>,
}

impl ReplyPort {
    /// Opens the port of a worker on this thread's runtime.
    #[allow(deprecated, reason = "the new spelling is unsafe; a port owns its descriptor and never changes it")]
    pub fn new(worker: Arc<Worker>, number: u8, way: ReplyPath) -> io::Result<ReplyPort> {
        let listen = |socket| AsyncFd::with_interest(socket, Interest::READABLE);
        let reader = worker.memory().reader(number.into());
        Ok(ReplyPort {
            ring: Ring::new(worker.clone(), way.bell, reader)?,
            socket: way.socket.map(listen).transpose()?,
            worker,
            paused: Cell::new(None),
            held: Cell::new(None),
            task: RefCell::new(None),
        })
    }

    /// Pauses reading until [`ReplyPort::resume`], because the client of `request` is slow.
    pub fn pause(&self, request: RequestId) {
        self.paused.set(Some((request, Instant::now())));
        self.ring.pause(true);
    }

    /// Resumes reading.
    pub fn resume(&self) {
        if let Some((request, since)) = self.paused.take() {
            let before = self.held.take().filter(|(held, _)| *held == request).map_or(Duration::ZERO, |(_, held)| held);
            self.held.set(Some((request, before + since.elapsed())));
            self.ring.pause(false);
            self.task.borrow().iter().for_each(Waker::wake_by_ref);
        }
    }

    /// The request, and for how long, that its slow client paused this port since the last call.
    pub fn was_held(&self) -> Option<(RequestId, Duration)> {
        self.held.take()
    }

    /// Reads packets and passes each to `receive`. Ready with `Ok` when the worker has ended or was closed; an error is
    /// an invalid packet.
    pub fn poll_listen(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut Buffers,
        mut receive: impl FnMut(&[u8]),
    ) -> Poll<io::Result<()>> {
        self.remember(cx);
        if self.worker.is_closed() {
            return Poll::Ready(Ok(()));
        }
        let has_ended = self.worker.has_ended();
        if has_ended {
            self.paused.set(None);
            self.ring.pause(false);
        }
        // The socket comes before the ring: an adopted worker's `Greeted` arrives on the socket and makes the ring's
        // content ours.
        let socket = match has_ended {
            true => Poll::Ready(self.read_rest(&mut buffers.packet, &mut receive)),
            false => self.poll_socket(cx, &mut buffers.packet, &mut receive),
        };
        if self.worker.belongs_to_this_front() {
            let share = if has_ended { Share::of_last_words(MAX_ENTRIES) } else { Share::new() };
            self.ring.read(cx, share, &mut buffers.entry, &mut receive)?;
        }
        socket
    }

    /// Reads the socket until the worker closes its end.
    fn poll_socket(
        &self,
        cx: &mut Context<'_>,
        packet: &mut [u8],
        mut receive: impl FnMut(&[u8]),
    ) -> Poll<io::Result<()>> {
        let Some(socket) = &self.socket else { return Poll::Pending };
        let mut share = Share::new();
        loop {
            if share.is_spent() {
                go_on_later(cx);
                return Poll::Pending;
            }
            let mut guard = ready!(socket.poll_read_ready(cx))?;
            match socket.get_ref().receive(packet) {
                Ok(Some(n)) => {
                    receive(packet.get(..n).unwrap_or_default());
                    share.spend(n);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear_ready(),
                end => return Poll::Ready(end.map(drop)),
            }
        }
    }

    /// Reads the rest of the socket after the worker's process has ended. The runtime may report "not ready" only
    /// because the task has used up its budget, so this calls the kernel directly.
    fn read_rest(&self, packet: &mut [u8], mut receive: impl FnMut(&[u8])) -> io::Result<()> {
        let Some(socket) = &self.socket else { return Ok(()) };
        for _ in 0..LAST_WORDS {
            match socket.get_ref().receive(packet) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Ok(Some(n)) => receive(packet.get(..n).unwrap_or_default()),
                end => return end.map(drop),
            }
        }
        Ok(())
    }

    /// Stores the task's waker; it does not change, so storing it once is enough.
    fn remember(&self, cx: &mut Context<'_>) {
        let mut task = self.task.borrow_mut();
        if task.is_none() {
            self.worker.wakes(cx.waker());
            *task = Some(cx.waker().clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;
    use tokio::task::LocalSet;
    use wire::channel::pair;
    use wire::control::WorkerId;
    use wire::memory::blocks;
    use wire::reply::Outgoing;
    use wire::transport::{Inbound, WorkerPort, packet_buffer};

    use super::*;

    /// More packets than tokio's budget lets a task read in one turn.
    const MANY: usize = 200;

    /// The two ends of a worker's socket and memory: the front's, with its only thread, and the worker's.
    fn ends() -> (Arc<Worker>, ReplyPath, WorkerPort) {
        let (front, theirs) = pair().expect("a pair");
        let memory = wire::memory::create().expect("a memfd");
        let map = || sys::map_memory(&memory).expect("mapped");
        let socket = theirs.try_clone().expect("a copy");
        let mut process = WorkerPort::new(socket, packet_buffer(), map(), blocks::MAX_BLOCKS);
        let socket = SocketFront::new(front, theirs, map(), blocks::MAX_BLOCKS).expect("a port");
        let worker = Arc::new(Worker::new(WorkerId { slot: 0, serial: 1 }, socket, false));
        let way = worker.ways(1).expect("a way").remove(0);
        match process.next(Vec::new()) {
            Ok(Some(Inbound::Bells(bells))) => process.take_bells(bells).expect("taken"),
            other => panic!("{other:?}"),
        }
        (worker, way, process)
    }

    fn runs<T>(work: impl Future<Output = T>) -> T {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        LocalSet::new().block_on(&runtime, work)
    }

    #[test]
    fn replies_of_a_worker_are_read_in_bounded_turns() {
        let heard_at_once = runs(async {
            let (worker, way, mut process) = ends();
            for _ in 0..MANY {
                process.send(&Outgoing { before: b"word", ..Outgoing::default() }).expect("room for it");
            }
            let port = ReplyPort::new(worker, 0, way).expect("a port");
            let mut buffers = Buffers { packet: vec![0; 16], entry: Vec::new() };
            let mut turns = Vec::new();
            std::future::poll_fn(|cx| {
                let mut received = 0;
                let listening = port.poll_listen(cx, &mut buffers, |_: &[u8]| received += 1);
                assert!(listening.is_pending(), "it goes on");
                turns.push(received);
                if turns.iter().sum::<usize>() < MANY { Poll::Pending } else { Poll::Ready(()) }
            })
            .await;
            turns
        });
        assert!(heard_at_once.iter().all(|received| *received < MANY / 4), "{heard_at_once:?}");
    }

    #[test]
    fn all_replies_of_an_ended_worker_are_read() {
        let count = runs(async {
            let (worker, way, mut process) = ends();
            for _ in 0..MANY {
                process.send(&Outgoing { before: b"word", ..Outgoing::default() }).expect("room for it");
            }
            drop(process);
            let port = Rc::new(ReplyPort::new(worker.clone(), 0, way).expect("a port"));
            worker.set_ended();
            let listen = tokio::task::spawn_local(async move {
                let mut received = 0;
                let mut buffers = Buffers { packet: vec![0; 16], entry: Vec::new() };
                let mut receive = |_: &[u8]| received += 1;
                std::future::poll_fn(|cx| port.poll_listen(cx, &mut buffers, &mut receive)).await?;
                io::Result::Ok(received)
            });
            listen.await.expect("no panic").expect("no error")
        });
        assert_eq!(count, MANY);
    }
}
