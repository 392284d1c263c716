//! Where a worker reaches one thread: a ring of the memory that they share, for answers; and for one of the threads its
//! socket, for what is about no request.

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

use super::pool::RequestId;
use super::ring::Ring;
use super::share::{Share, go_on_later};
use super::worker::{Way, Worker};

/// So many packets of a worker that has ended are heard: a child of its program may hold its socket, and go on sending.
const LAST_WORDS: usize = 64;

/// Where packets of workers are received, one after the other: clearing it for each would cost more than reading.
pub struct Buffers {
    /// As long as the longest packet of a socket.
    pub packet: Vec<u8>,
    /// For those that come through a ring.
    pub entry: Vec<u8>,
}

pub struct ReplyPort {
    /// Whose it is.
    pub worker: Arc<Worker>,
    ring: Rc<Ring>,
    socket: Option<AsyncFd<Arc<SocketFront>>>,
    /// The request whose slow client holds it up, and since when; it is not read meanwhile.
    paused: Cell<Option<(RequestId, Instant)>>,
    /// For which request, and how long, a slow client held it up, until the pool is told.
    held: Cell<Option<(RequestId, Duration)>>,
    /// The task that listens to it.
    task: RefCell<Option<Waker>>,
}

impl ReplyPort {
    /// The way of a thread, whose runtime listens to it.
    #[allow(deprecated, reason = "the new spelling is unsafe; a port owns its descriptor and never changes it")]
    pub fn new(worker: Arc<Worker>, number: u8, way: Way) -> io::Result<ReplyPort> {
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

    /// Stops listening until [`ReplyPort::resume`]: the client of this request is slow.
    pub fn pause(&self, request: RequestId) {
        self.paused.set(Some((request, Instant::now())));
        self.ring.pause(true);
    }

    /// Listens again.
    pub fn resume(&self) {
        if let Some((request, since)) = self.paused.take() {
            let before = self.held.take().filter(|(held, _)| *held == request).map_or(Duration::ZERO, |(_, held)| held);
            self.held.set(Some((request, before + since.elapsed())));
            self.ring.pause(false);
            self.task.borrow().iter().for_each(Waker::wake_by_ref);
        }
    }

    /// For which request, and how long, a slow client has held it up since this was asked last.
    pub fn was_held(&self) -> Option<(RequestId, Duration)> {
        self.held.take()
    }

    /// Receives packets until the end and hands each to `hear`. `Ok`: the worker has ended or nobody wants to hear it. An error is a
    /// packet that no worker of ours sends.
    pub fn poll_listen(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut Buffers,
        mut hear: impl FnMut(&[u8]),
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
        // Before the ring: an adopted worker says here that what lies there is for us.
        let socket = match has_ended {
            true => Poll::Ready(self.hear_last_words(&mut buffers.packet, &mut hear)),
            false => self.poll_socket(cx, &mut buffers.packet, &mut hear),
        };
        if self.worker.speaks_to_us() {
            let share = if has_ended { Share::of_last_words(MAX_ENTRIES) } else { Share::new() };
            self.ring.read(cx, share, &mut buffers.entry, &mut hear)?;
        }
        socket
    }

    /// Hears what is about no request, until the worker closes its end.
    fn poll_socket(
        &self,
        cx: &mut Context<'_>,
        packet: &mut [u8],
        mut hear: impl FnMut(&[u8]),
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
                    hear(packet.get(..n).unwrap_or_default());
                    share.spend(n);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear_ready(),
                end => return Poll::Ready(end.map(drop)),
            }
        }
    }

    /// The same when its process has ended. The runtime's word that nothing is there would not do here: it may only mean that
    /// others must have their turn.
    fn hear_last_words(&self, packet: &mut [u8], mut hear: impl FnMut(&[u8])) -> io::Result<()> {
        let Some(socket) = &self.socket else { return Ok(()) };
        for _ in 0..LAST_WORDS {
            match socket.get_ref().receive(packet) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Ok(Some(n)) => hear(packet.get(..n).unwrap_or_default()),
                end => return end.map(drop),
            }
        }
        Ok(())
    }

    /// A task's waker stays the same, so once is enough.
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

    /// More than the runtime lets a task do in one go.
    const MANY: usize = 200;

    /// A worker and its process, of a front with one thread, which hears it in this way.
    fn ends() -> (Arc<Worker>, Way, WorkerPort) {
        let (front, theirs) = pair().expect("a pair");
        let memory = wire::memory::create().expect("a memfd");
        let map = || sys::map_memory(&memory).expect("mapped");
        let socket = theirs.try_clone().expect("a copy");
        let mut process = WorkerPort::new(socket, packet_buffer(), map(), blocks::MOST);
        let socket = SocketFront::new(front, theirs, map(), blocks::MOST).expect("a port");
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
    fn a_worker_that_always_has_more_is_heard_a_little_at_a_time() {
        let heard_at_once = runs(async {
            let (worker, way, mut process) = ends();
            for _ in 0..MANY {
                process.send(&Outgoing { before: b"word", ..Outgoing::default() }).expect("room for it");
            }
            let port = ReplyPort::new(worker, 0, way).expect("a port");
            let mut buffers = Buffers { packet: vec![0; 16], entry: Vec::new() };
            let mut turns = Vec::new();
            std::future::poll_fn(|cx| {
                let mut heard = 0;
                let hears = port.poll_listen(cx, &mut buffers, |_: &[u8]| heard += 1);
                assert!(hears.is_pending(), "it goes on");
                turns.push(heard);
                if turns.iter().sum::<usize>() < MANY { Poll::Pending } else { Poll::Ready(()) }
            })
            .await;
            turns
        });
        assert!(heard_at_once.iter().all(|heard| *heard < MANY / 4), "{heard_at_once:?}");
    }

    #[test]
    fn the_last_words_of_a_worker_that_has_ended_are_all_heard() {
        let heard = runs(async {
            let (worker, way, mut process) = ends();
            for _ in 0..MANY {
                process.send(&Outgoing { before: b"word", ..Outgoing::default() }).expect("room for it");
            }
            drop(process);
            let port = Rc::new(ReplyPort::new(worker.clone(), 0, way).expect("a port"));
            worker.set_ended();
            let listen = tokio::task::spawn_local(async move {
                let mut heard = 0;
                let mut buffers = Buffers { packet: vec![0; 16], entry: Vec::new() };
                let mut hear = |_: &[u8]| heard += 1;
                std::future::poll_fn(|cx| port.poll_listen(cx, &mut buffers, &mut hear)).await?;
                io::Result::Ok(heard)
            });
            listen.await.expect("no panic").expect("no error")
        });
        assert_eq!(heard, MANY);
    }
}
