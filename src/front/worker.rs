//! One worker as the front sees it, and the task that listens to it.
//!
//! ```text
//!   Starting ──Ready──▶ Idle ──request──▶ Busy ──End──▶ Idle
//!       └─────────────────┴──── Leave, or End says so ───┴──▶ Retiring ──end of file──▶ Gone
//! ```
//!
//! One that had another front begins as Busy: see [`adopted`](super::adopted).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use tokio::io::unix::AsyncFd;
use wire::channel::MAX_FDS;
use wire::control::{Generation, WorkerId, WorkerState, WorkerStatus};
use wire::frame::Frame;
use wire::transport::{FrontPort, Order, SocketFront};

use super::exchange::Shared;
use super::pick_up::LOOK;
use crate::{log, printable};

/// More than this saves nothing: the worker is awake already.
const MAX_AHEAD: usize = 2;

/// So many packets of a worker that has ended are taken before others have their turn.
const LAST_WORDS: usize = 64;
/// Characters of a request in a table.
const SHOWN: usize = 200;

/// See the module's text.
pub struct Worker {
    /// Its place in the pool, and which of those that had it.
    pub id: WorkerId,
    /// Its generation.
    pub generation: Generation,
    /// Its process; 0 until the mold has forked it.
    pub pid: Cell<i32>,
    /// Requests that it has ended.
    pub requests: Cell<u64>,
    /// The request that it has.
    pub exchange: RefCell<Option<Shared>>,
    /// Requests that lie in its socket behind the one that it has. They count as queued, and can be taken back.
    pub ahead: RefCell<VecDeque<Shared>>,
    /// It has said `Ready`.
    pub booted: Cell<bool>,
    /// What it says may be for a front that has died: until it has answered our greeting nobody listens to it.
    pub adopted: Cell<bool>,
    /// When to look whether it has begun with the request that it has, unless that is known.
    pub look_at: Cell<Option<Instant>>,
    port: AsyncFd<SocketFront>,
    state: Cell<WorkerState>,
    since: Cell<Instant>,
    /// Since when a slow client holds it up; its socket is not read meanwhile.
    paused: Cell<Option<Instant>>,
    /// Its process has ended: what the socket still holds is the last that comes, though a child may keep it open.
    ended: Cell<bool>,
    /// Wakes the task that listens to it.
    task: RefCell<Option<Waker>>,
}

impl Worker {
    /// A worker that was just asked of the mold.
    #[allow(deprecated, reason = "the new spelling is unsafe; a port owns its descriptor and never changes it")]
    pub fn new(id: WorkerId, generation: Generation, port: SocketFront) -> io::Result<Worker> {
        Ok(Worker {
            id,
            generation,
            pid: Cell::new(0),
            requests: Cell::new(0),
            exchange: RefCell::new(None),
            ahead: RefCell::default(),
            booted: Cell::new(false),
            adopted: Cell::new(false),
            look_at: Cell::new(None),
            port: AsyncFd::with_interest(port, tokio::io::Interest::READABLE)?,
            state: Cell::new(WorkerState::Starting),
            since: Cell::new(Instant::now()),
            paused: Cell::new(None),
            ended: Cell::new(false),
            task: RefCell::new(None),
        })
    }

    /// Where it is in its life.
    pub fn state(&self) -> WorkerState {
        self.state.get()
    }

    /// Moves it on.
    pub fn set_state(&self, state: WorkerState) {
        self.state.set(state);
        self.since.set(Instant::now());
        if state == WorkerState::Gone {
            self.wake();
        }
    }

    /// It begins to work on `exchange`.
    pub fn occupy(&self, exchange: &Shared, now: Instant) {
        *self.exchange.borrow_mut() = Some(exchange.clone());
        self.state.set(WorkerState::Busy);
        self.look_at.set(Some(now + LOOK));
        self.since.set(now);
    }

    /// Sends it a request.
    pub fn send(&self, frame: &[u8], body: Option<BorrowedFd<'_>>) -> io::Result<()> {
        self.port.get_ref().send(&Order::Request { frame, body })
    }

    /// Whether it can be sent a request that it may have to give back.
    pub fn can_take_ahead(&self) -> bool {
        self.state.get() == WorkerState::Busy
            && !self.adopted.get()
            && self.ahead.borrow().len() < MAX_AHEAD
            && self.can_take_back()
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

    /// Whether it is the one with this request.
    pub fn has(&self, id: u64) -> bool {
        self.exchange.borrow().as_ref().is_some_and(|exchange| exchange.borrow().id == id)
    }

    /// How long it has been in its state.
    pub fn since(&self) -> Instant {
        self.since.get()
    }

    /// Asks it to leave. One that cannot hear it is at its end anyway.
    pub fn ask_to_leave(&self) {
        self.set_state(WorkerState::Retiring);
        let _ = self.port.get_ref().send(&Order::Leave);
    }

    /// Takes it over from a front that has died, and asks it to say when it has done with that one's requests.
    pub fn greet(&self) -> io::Result<()> {
        self.adopted.set(true);
        self.set_state(WorkerState::Busy);
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

    /// Listens again; says how long it was paused.
    pub fn resume(&self) -> Option<Duration> {
        let since = self.paused.take()?;
        self.wake();
        Some(since.elapsed())
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
        while self.state.get() != WorkerState::Gone && !self.is_paused() {
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
        if self.state.get() == WorkerState::Gone { Poll::Ready(Ok(())) } else { Poll::Pending }
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
            if self.state.get() == WorkerState::Gone {
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

    /// For `cameleer status`.
    pub fn status(&self) -> WorkerStatus {
        let exchange = self.exchange.borrow();
        WorkerStatus {
            slot: self.id.slot,
            generation: self.generation,
            pid: self.pid.get(),
            state: self.state.get(),
            requests: self.requests.get(),
            request: exchange.as_ref().map_or_else(String::new, shown),
            since_ms: self.since.get().elapsed().as_millis() as u64,
            private_bytes: None,
        }
    }
}

/// [`describe`] for a table: what a client sends may be long, and made for whoever looks.
fn shown(exchange: &Shared) -> String {
    let mut text = describe(exchange);
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(end);
        text.push('…');
    }
    printable::line(&text)
}

/// What to expect after a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Another may be there already.
    Packet,
    /// The worker waits for us.
    Nothing,
}

/// `GET /path`
pub fn describe(exchange: &Shared) -> String {
    let exchange = exchange.borrow();
    format!("{} {}", exchange.method, String::from_utf8_lossy(&exchange.route.path))
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
            let worker = Worker::new(WorkerId { slot: 0, serial: 1 }, 1, port).expect("a worker");
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
