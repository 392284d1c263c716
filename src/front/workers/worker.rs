//! A worker's socket as the front has it, and how it is listened to.

use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::io::unix::AsyncFd;
use wire::channel::MAX_FDS;
use wire::control::WorkerId;
use wire::frame::Frame;
use wire::transport::{Order, SocketFront};

use crate::log;

/// So many packets of a worker that has ended are taken before others have their turn.
const LAST_WORDS: usize = 64;

/// What the worker is at, the [`Pool`](super::pool::Pool) knows.
pub struct Worker {
    /// Its place in the pool, and which of those that had it.
    pub id: WorkerId,
    /// Its process; 0 until the mold has forked it.
    pub pid: Cell<i32>,
    port: AsyncFd<SocketFront>,
    /// Since when a slow client holds it up; its socket is not read meanwhile.
    paused: Cell<Option<Instant>>,
    /// How long a slow client held it up, until the pool is told.
    held: Cell<Option<Duration>>,
    /// Its process has ended: what the socket still holds is the last that comes, though a child may keep it open.
    ended: Cell<bool>,
    /// Nobody wants to hear it any more.
    closed: Cell<bool>,
    /// Wakes the task that listens to it.
    task: RefCell<Option<Waker>>,
}

impl Worker {
    /// The front's end of a worker's socket.
    #[allow(deprecated, reason = "the new spelling is unsafe; a port owns its descriptor and never changes it")]
    pub fn new(id: WorkerId, port: SocketFront) -> io::Result<Worker> {
        Ok(Worker {
            id,
            pid: Cell::new(0),
            port: AsyncFd::with_interest(port, tokio::io::Interest::READABLE)?,
            paused: Cell::new(None),
            held: Cell::new(None),
            ended: Cell::new(false),
            closed: Cell::new(false),
            task: RefCell::new(None),
        })
    }

    /// Nobody listens to it any more.
    pub fn close(&self) {
        self.closed.set(true);
        self.wake();
    }

    /// Sends it a request.
    pub fn send(&self, frame: &[u8], body: Option<BorrowedFd<'_>>) -> io::Result<()> {
        self.port.get_ref().send(&Order::Request { frame, body })
    }

    /// Whether [`Worker::take_back`] can.
    pub fn can_take_back(&self) -> bool {
        self.port.get_ref().can_take_back()
    }

    /// Takes back the requests that it has not begun, oldest first.
    pub fn take_back(&self, buffer: &mut [u8]) -> Vec<(Frame, Option<OwnedFd>)> {
        self.port.get_ref().take_back(buffer).unwrap_or_else(|error| {
            log::error("front", format_args!("worker={} gives nothing back: {error}", self.id.slot));
            Vec::new()
        })
    }

    /// Asks it to leave. One that cannot hear it is at its end anyway.
    pub fn ask_to_leave(&self) {
        let _ = self.port.get_ref().send(&Order::Leave);
    }

    /// Asks it to say when it has done with the requests of the front before this one.
    pub fn greet(&self) -> io::Result<()> {
        self.port.get_ref().send(&Order::Greet)
    }

    /// Tells it that nobody waits for its request any more. One that cannot hear it works on.
    pub fn tell_abandoned(&self, request: u64) {
        let _ = self.port.get_ref().send(&Order::Abandoned { request });
    }

    /// Tells it that the client of its request sends nothing more. One that cannot hear it works on.
    pub fn tell_hung_up(&self, request: u64) {
        let _ = self.port.get_ref().send(&Order::HungUp { request });
    }

    /// Tells it of new error logs; the first one's number is given. One that cannot hear it keeps the old ones.
    pub fn reopen_logs(&self, first: u16, logs: &[BorrowedFd<'_>]) {
        for (first, logs) in (first..).step_by(MAX_FDS).zip(logs.chunks(MAX_FDS)) {
            let _ = self.port.get_ref().send(&Order::Logs { first, logs });
        }
    }

    /// Stops listening until [`Worker::resume`].
    pub fn pause(&self) {
        self.paused.set(Some(Instant::now()));
    }

    /// Listens again.
    pub fn resume(&self) {
        if let Some(since) = self.paused.take() {
            self.held.set(Some(self.held.take().unwrap_or_default() + since.elapsed()));
            self.wake();
        }
    }

    /// How long a slow client has held it up since this was asked last.
    pub fn was_held(&self) -> Option<Duration> {
        self.held.take()
    }

    /// Whether a slow client holds it up.
    pub fn is_paused(&self) -> bool {
        self.paused.get().is_some()
    }

    /// Its process has ended.
    pub fn set_ended(&self) {
        self.ended.set(true);
        self.paused.set(None);
        self.wake();
    }

    /// Whether its process has ended.
    pub fn has_ended(&self) -> bool {
        self.ended.get()
    }

    fn wake(&self) {
        if let Some(waker) = &*self.task.borrow() {
            waker.wake_by_ref();
        }
    }

    /// Receives packets until its end and hands each to `hear`, which says whether another may be there already. An
    /// error is a packet that no worker of ours sends.
    pub fn poll_listen(
        &self,
        cx: &mut Context<'_>,
        packet: &mut [u8],
        mut hear: impl FnMut(&[u8]) -> Next,
    ) -> Poll<io::Result<()>> {
        self.remember(cx);
        while !self.closed.get() && !self.is_paused() {
            if self.ended.get() {
                return self.poll_last_words(cx, packet, hear);
            }
            let mut guard = ready!(self.port.poll_read_ready(cx))?;
            match self.port.get_ref().receive(packet) {
                Ok(Some(n)) => {
                    // An idle worker has nothing to say: saves the receive that would only find the socket empty.
                    if hear(&packet[..n]) == Next::Nothing {
                        guard.clear_ready();
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear_ready(),
                end => return Poll::Ready(end.map(drop)),
            }
        }
        if self.closed.get() { Poll::Ready(Ok(())) } else { Poll::Pending }
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
                Ok(Some(n)) => drop(hear(&packet[..n])),
                end => return Poll::Ready(end.map(drop)),
            }
            if self.closed.get() {
                return Poll::Ready(Ok(()));
            }
            if self.is_paused() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn remember(&self, cx: &mut Context<'_>) {
        let mut task = self.task.borrow_mut();
        if !task.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
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
            let worker = Worker::new(WorkerId { slot: 0, serial: 1 }, port).expect("a worker");
            worker.set_ended();
            let listen = tokio::task::spawn_local(async move {
                let mut heard = 0;
                let mut hear = |_: &[u8]| {
                    heard += 1;
                    Next::Packet
                };
                std::future::poll_fn(|cx| worker.poll_listen(cx, &mut [0; 16], &mut hear)).await?;
                io::Result::Ok(heard)
            });
            listen.await.expect("no panic").expect("no error")
        });
        assert_eq!(heard, MANY);
    }
}
