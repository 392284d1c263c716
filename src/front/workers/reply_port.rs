//! Where the answers of a worker reach one thread: a socket, or a ring of the memory that they share.

use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use wire::memory::FrontMemory;
use wire::transport::SocketFront;

use super::pool::RequestId;
use super::ring::Ring;
use super::worker::{Way, Worker};

/// So many packets of a worker that has ended are taken before others have their turn.
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
    socket: Option<AsyncFd<Arc<SocketFront>>>,
    ring: Option<Rc<Ring>>,
    /// Whether the worker's own words come here, too.
    is_first: bool,
    /// The request whose slow client holds it up, and since when; it is not read meanwhile.
    paused: Cell<Option<(RequestId, Instant)>>,
    /// For which request, and how long, a slow client held it up, until the pool is told.
    held: Cell<Option<(RequestId, Duration)>>,
    /// The worker has closed its end.
    at_end: Cell<bool>,
    /// The worker has ended, and what it has said before is heard.
    hears_last: Cell<bool>,
    /// The task that listens to it.
    task: RefCell<Option<Waker>>,
}

impl ReplyPort {
    /// The way of a thread, whose runtime listens to it.
    #[allow(deprecated, reason = "the new spelling is unsafe; a port owns its descriptor and never changes it")]
    pub fn new(worker: Arc<Worker>, number: u8, way: Way) -> io::Result<ReplyPort> {
        let listen = |socket| AsyncFd::with_interest(socket, Interest::READABLE);
        let memory = worker.memory();
        let ring = |(bell, memory): (_, &FrontMemory)| Ring::new(worker.clone(), bell, memory.reader(number.into()));
        Ok(ReplyPort {
            ring: way.bell.zip(memory).map(ring).transpose()?,
            worker: worker.clone(),
            socket: way.socket.map(listen).transpose()?,
            is_first: number == 0,
            paused: Cell::new(None),
            held: Cell::new(None),
            at_end: Cell::new(false),
            hears_last: Cell::new(false),
            task: RefCell::new(None),
        })
    }

    /// Stops listening until [`ReplyPort::resume`]: the client of this request is slow.
    pub fn pause(&self, request: RequestId) {
        self.paused.set(Some((request, Instant::now())));
        self.ring.iter().for_each(|ring| ring.pause(true));
    }

    /// Listens again.
    pub fn resume(&self) {
        if let Some((request, since)) = self.paused.take() {
            let before = self.held.take().filter(|(held, _)| *held == request).map_or(Duration::ZERO, |(_, held)| held);
            self.held.set(Some((request, before + since.elapsed())));
            self.ring.iter().for_each(|ring| ring.pause(false));
            self.task.borrow().iter().for_each(Waker::wake_by_ref);
        }
    }

    /// For which request, and how long, a slow client has held it up since this was asked last.
    pub fn was_held(&self) -> Option<(RequestId, Duration)> {
        self.held.take()
    }

    fn is_paused(&self) -> bool {
        self.paused.get().is_some()
    }

    /// Receives packets until the end and hands each to `hear`, which says whether another may be there already. `Ok`: the worker
    /// has ended or nobody wants to hear it. An error is a packet that no worker of ours sends.
    pub fn poll_listen(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut Buffers,
        mut hear: impl FnMut(&[u8]) -> Next,
    ) -> Poll<io::Result<()>> {
        self.remember(cx);
        loop {
            if self.worker.is_closed() {
                return Poll::Ready(Ok(()));
            }
            if self.worker.has_ended() && !self.hears_last.replace(true) {
                self.paused.set(None);
                self.ring.iter().for_each(|ring| ring.pause(false));
            }
            if let Some(ring) = &self.ring
                && self.worker.speaks_to_us()
            {
                ring.read(cx, &mut buffers.entry, |entry| {
                    hear(entry);
                })?;
            }
            if self.worker.has_ended() {
                return self.poll_last_words(cx, &mut buffers.packet, hear);
            }
            let Some(socket) = &self.socket else { return Poll::Pending };
            if self.is_paused() || self.at_end.get() {
                return Poll::Pending;
            }
            let mut guard = ready!(socket.poll_read_ready(cx))?;
            match socket.get_ref().receive(&mut buffers.packet) {
                Ok(Some(n)) => {
                    // An idle worker has nothing to say: saves the receive that would only find the socket empty.
                    if hear(buffers.packet.get(..n).unwrap_or_default()) == Next::Nothing {
                        guard.clear_ready();
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear_ready(),
                Err(error) => return Poll::Ready(Err(error)),
                Ok(None) if self.is_first => return Poll::Ready(Ok(())),
                // It leaves or dies, and the master will say so; one that does neither is silent.
                Ok(None) => self.at_end.set(true),
            }
        }
    }

    /// What the socket holds when its process has ended. Here the runtime's word that nothing is there would not do: it
    /// may only mean that others must have their turn.
    fn poll_last_words(
        &self,
        cx: &mut Context<'_>,
        packet: &mut [u8],
        mut hear: impl FnMut(&[u8]) -> Next,
    ) -> Poll<io::Result<()>> {
        if self.is_paused() {
            return Poll::Pending;
        }
        let Some(socket) = &self.socket else { return Poll::Ready(Ok(())) };
        for _ in 0..LAST_WORDS {
            match socket.get_ref().receive(packet) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Poll::Ready(Ok(())),
                Ok(Some(n)) => drop(hear(packet.get(..n).unwrap_or_default())),
                end => return Poll::Ready(end.map(drop)),
            }
            if self.worker.is_closed() {
                return Poll::Ready(Ok(()));
            }
            if self.is_paused() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
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

/// What to expect after a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Another may be there already.
    Packet,
    /// The worker waits for us.
    Nothing,
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;
    use std::os::fd::AsFd;

    use tokio::runtime::Builder;
    use tokio::task::LocalSet;
    use wire::channel::{pair, send_packet};
    use wire::control::WorkerId;

    use super::*;

    /// More than the runtime lets a task do in one go.
    const MANY: usize = 200;

    #[test]
    fn the_last_words_of_a_worker_that_has_ended_are_all_heard() {
        let (front, theirs) = pair().expect("a pair");
        for _ in 0..MANY {
            send_packet(theirs.as_fd(), &[IoSlice::new(b"word")], &[]).expect("room for it");
        }
        let port = SocketFront::new(front, Some(theirs)).expect("a port");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let heard = LocalSet::new().block_on(&runtime, async {
            let worker = Arc::new(Worker::new(WorkerId { slot: 0, serial: 1 }, port, false));
            let way = worker.ways(1).expect("a way").remove(0);
            let port = Rc::new(ReplyPort::new(worker.clone(), 0, way).expect("a port"));
            worker.set_ended();
            let listen = tokio::task::spawn_local(async move {
                let mut heard = 0;
                let mut buffers = Buffers { packet: vec![0; 16], entry: Vec::new() };
                let mut hear = |_: &[u8]| {
                    heard += 1;
                    Next::Packet
                };
                std::future::poll_fn(|cx| port.poll_listen(cx, &mut buffers, &mut hear)).await?;
                io::Result::Ok(heard)
            });
            listen.await.expect("no panic").expect("no error")
        });
        assert_eq!(heard, MANY);
    }
}
