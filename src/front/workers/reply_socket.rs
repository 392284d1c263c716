//! A reply socket of a worker, as the thread that listens to it has it: what a worker answers to a request comes on the one
//! of the thread that asked.

use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use wire::transport::SocketFront;

use super::pool::RequestId;
use super::worker::Worker;

/// So many packets of a worker that has ended are taken before others have their turn.
const LAST_WORDS: usize = 64;

pub struct ReplySocket {
    /// Whose it is.
    pub worker: Arc<Worker>,
    /// Which of its reply sockets; 0 carries its orders, too.
    number: u8,
    port: AsyncFd<Arc<SocketFront>>,
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

impl ReplySocket {
    /// Is listened to by this thread's runtime.
    #[allow(deprecated, reason = "the new spelling is unsafe; a port owns its descriptor and never changes it")]
    pub fn new(worker: Arc<Worker>, number: u8, port: Arc<SocketFront>) -> io::Result<ReplySocket> {
        Ok(ReplySocket {
            worker,
            number,
            port: AsyncFd::with_interest(port, Interest::READABLE)?,
            paused: Cell::new(None),
            held: Cell::new(None),
            at_end: Cell::new(false),
            hears_last: Cell::new(false),
            task: RefCell::new(None),
        })
    }

    /// Stops listening until [`ReplySocket::resume`]: the client of this request is slow.
    pub fn pause(&self, request: RequestId) {
        self.paused.set(Some((request, Instant::now())));
    }

    /// Listens again.
    pub fn resume(&self) {
        if let Some((request, since)) = self.paused.take() {
            let before = self.held.take().filter(|(held, _)| *held == request).map_or(Duration::ZERO, |(_, held)| held);
            self.held.set(Some((request, before + since.elapsed())));
            if let Some(task) = &*self.task.borrow() {
                task.wake_by_ref();
            }
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
        packet: &mut [u8],
        mut hear: impl FnMut(&[u8]) -> Next,
    ) -> Poll<io::Result<()>> {
        self.remember(cx);
        loop {
            if self.worker.is_closed() {
                return Poll::Ready(Ok(()));
            }
            if self.worker.has_ended() {
                if !self.hears_last.replace(true) {
                    self.paused.set(None);
                }
                return self.poll_last_words(cx, packet, hear);
            }
            if self.is_paused() || self.at_end.get() {
                return Poll::Pending;
            }
            let mut guard = ready!(self.port.poll_read_ready(cx))?;
            match self.port.get_ref().receive(packet) {
                Ok(Some(n)) => {
                    // An idle worker has nothing to say: saves the receive that would only find the socket empty.
                    if hear(packet.get(..n).unwrap_or_default()) == Next::Nothing {
                        guard.clear_ready();
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear_ready(),
                Err(error) => return Poll::Ready(Err(error)),
                Ok(None) if self.number == 0 => return Poll::Ready(Ok(())),
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
        for _ in 0..LAST_WORDS {
            match self.port.get_ref().receive(packet) {
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
            let worker = Arc::new(Worker::new(WorkerId { slot: 0, serial: 1 }, port));
            let socket = ReplySocket::new(worker.clone(), 0, worker.socket()).expect("a reply socket");
            worker.set_ended();
            let listen = tokio::task::spawn_local(async move {
                let mut heard = 0;
                let mut hear = |_: &[u8]| {
                    heard += 1;
                    Next::Packet
                };
                std::future::poll_fn(|cx| socket.poll_listen(cx, &mut [0; 16], &mut hear)).await?;
                io::Result::Ok(heard)
            });
            listen.await.expect("no panic").expect("no error")
        });
        assert_eq!(heard, MANY);
    }
}
