//! A worker as all threads of the front have it: its socket, for what it is told.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::task::Waker;

use nix::sys::eventfd::{EfdFlags, EventFd};
use wire::Malformed;
use wire::channel::MAX_FDS;
use wire::control::{Inspection, WorkerId};
use wire::memory::FrontMemory;
use wire::memory::blocks::Block;
use wire::transport::{Order, Sent, SocketFront};

use crate::base::lock::lock;
use base::log;

/// How a worker reaches a thread.
pub struct Way {
    /// Wakes it for what lies in its ring.
    pub bell: Arc<EventFd>,
    /// One of them hears what is about no request.
    pub socket: Option<Arc<SocketFront>>,
}

/// The worker says that it is ready.
const READY: u8 = 1;
/// The master says which process it is.
const KNOWN: u8 = 2;

/// What the worker is at, the [`Pool`](super::pool::Pool) knows.
pub struct Worker {
    /// Its place in the pool, and which of those that had it.
    pub id: WorkerId,
    /// Its process; 0 until the mold has forked it.
    pid: AtomicI32,
    /// [`READY`] and [`KNOWN`], as they have come.
    heard: AtomicU8,
    socket: Arc<SocketFront>,
    /// Its process has ended: what its sockets still hold is the last that comes, though a child may keep them open.
    ended: AtomicBool,
    /// Nobody wants to hear it any more.
    closed: AtomicBool,
    /// It works for this front, and not for one that has died.
    is_ours: AtomicBool,
    /// Threads that listen to it.
    listened_to: AtomicUsize,
    /// Wake the tasks that listen to them.
    tasks: Mutex<Vec<Waker>>,
    /// When it leaves it becomes a mold, with this channel to the master.
    promotion: Mutex<Option<OwnedFd>>,
}

impl Worker {
    /// The front's end of a worker's socket; one that is adopted works for another front still.
    pub fn new(id: WorkerId, socket: SocketFront, adopted: bool) -> Worker {
        Worker {
            id,
            pid: AtomicI32::new(0),
            heard: AtomicU8::new(0),
            socket: Arc::new(socket),
            ended: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            is_ours: AtomicBool::new(!adopted),
            listened_to: AtomicUsize::new(0),
            tasks: Mutex::default(),
            promotion: Mutex::default(),
        }
    }

    /// Its process; 0 until the mold has forked it.
    pub fn pid(&self) -> i32 {
        self.pid.load(Relaxed)
    }

    /// The master says which process it is. True: it may work from now on.
    #[must_use]
    pub fn set_pid(&self, pid: i32) -> bool {
        self.pid.store(pid, Relaxed);
        self.heard.fetch_or(KNOWN, SeqCst) == READY
    }

    /// It says that it is ready. True: it may work from now on; else the master has not said yet which process it is, and
    /// without that no log could name who answered.
    #[must_use]
    pub(super) fn set_ready(&self) -> bool {
        self.heard.fetch_or(READY, SeqCst) & KNOWN != 0
    }

    /// Its socket.
    pub fn socket(&self) -> Arc<SocketFront> {
        self.socket.clone()
    }

    /// The memory that it shares with us.
    pub fn memory(&self) -> &FrontMemory {
        self.socket.memory()
    }

    /// Makes the ways on which so many threads hear it, and tells it of them.
    pub fn ways(&self, threads: usize) -> io::Result<Vec<Way>> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let bells = (0..threads).map(|_| EventFd::from_flags(flags)).collect::<nix::Result<Vec<_>>>()?;
        let _: Sent = self.socket.send(&Order::Bells { bells: &bells.iter().map(AsFd::as_fd).collect::<Vec<_>>() })?;
        self.listened_to.store(threads, SeqCst);
        let own = std::iter::once(Some(self.socket())).chain(std::iter::repeat(None));
        Ok(bells.into_iter().zip(own).map(|(bell, socket)| Way { bell: bell.into(), socket }).collect())
    }

    /// What it says is for us.
    pub(super) fn speaks_to_us(&self) -> bool {
        self.is_ours.load(SeqCst)
    }

    /// It has ended what it had under way for another front.
    pub(super) fn set_ours(&self) {
        if !self.is_ours.swap(true, SeqCst) {
            self.wake();
        }
    }

    /// Takes over a piece of a body that it says it has left in its memory.
    pub(super) fn take_block(&self, block: u32, length: u32) -> Result<Block, Malformed> {
        self.memory().lender().take(block, length)
    }

    /// Whether it has few blocks left.
    pub(super) fn is_short_of_blocks(&self) -> bool {
        self.memory().lender().is_short()
    }

    /// Nobody listens to it any more.
    pub fn close(&self) {
        self.closed.store(true, SeqCst);
        self.wake();
    }

    /// Whether nobody listens to it any more.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(SeqCst)
    }

    /// A thread has heard all that it ever will. Says whether it was the last one.
    pub(super) fn is_all_heard(&self) -> bool {
        self.listened_to.fetch_sub(1, SeqCst) == 1
    }

    /// Sends it a request, to be answered to that thread.
    pub fn send(&self, frame: &[u8], body: Option<BorrowedFd<'_>>, reply_to: u8) -> io::Result<Sent> {
        self.socket.send(&Order::Request { frame, body, reply_to })
    }

    /// Wakes it, if it sleeps beside what was left in its memory.
    pub(super) fn wake_if_asleep(&self) {
        self.socket.wake_if_asleep();
    }

    /// Whether it waits for something to come.
    pub(super) fn waits(&self) -> bool {
        self.memory().is_worker_asleep()
    }

    /// Takes back the requests that it has not begun, oldest first; their numbers are told.
    pub fn take_back(&self, buffer: &mut [u8]) -> Vec<u64> {
        self.socket.take_back(buffer).unwrap_or_else(|error| {
            log::error("front", format_args!("worker={} gives nothing back: {error}", self.id.slot));
            Vec::new()
        })
    }

    /// When it is asked to leave it is to become a mold first.
    pub fn will_be_promoted(&self, control: OwnedFd) {
        *lock(&self.promotion) = Some(control);
    }

    /// Asks it to leave. One that cannot hear it is at its end anyway.
    pub fn ask_to_leave(&self) {
        let _ = match lock(&self.promotion).take() {
            Some(control) => self.socket.send(&Order::Promote { control: control.as_fd() }),
            None => self.socket.send(&Order::Leave),
        };
    }

    /// Has it tell about itself, when it has no request. One that cannot hear it tells nothing.
    pub fn inspect(&self, what: Inspection, into: BorrowedFd<'_>, done: BorrowedFd<'_>, with: &[BorrowedFd<'_>]) {
        let _ = self.socket.send(&Order::Inspect { what, into, done, with });
    }

    /// Asks it to say when it has done with the requests of the front before this one.
    pub fn greet(&self) -> io::Result<()> {
        self.socket.send(&Order::Greet).map(drop)
    }

    /// Tells it that nobody waits for its request any more. One that cannot hear it works on.
    pub fn tell_abandoned(&self, request: u64) {
        let _ = self.socket.send(&Order::Abandoned { request });
    }

    /// Tells it that the client of its request sends nothing more. One that cannot hear it works on.
    pub fn tell_hung_up(&self, request: u64) {
        let _ = self.socket.send(&Order::HungUp { request });
    }

    /// Tells it of new error logs; the first one's number is given. One that cannot hear it keeps the old ones.
    pub fn reopen_logs(&self, first: u16, logs: &[BorrowedFd<'_>]) {
        for (first, logs) in (first..).step_by(MAX_FDS).zip(logs.chunks(MAX_FDS)) {
            let _ = self.socket.send(&Order::Logs { first, logs });
        }
    }

    /// Its process has ended.
    pub fn set_ended(&self) {
        self.ended.store(true, SeqCst);
        self.wake();
    }

    /// Whether its process has ended.
    pub fn has_ended(&self) -> bool {
        self.ended.load(SeqCst)
    }

    fn wake(&self) {
        lock(&self.tasks).iter().for_each(Waker::wake_by_ref);
    }

    pub(super) fn wakes(&self, task: &Waker) {
        lock(&self.tasks).push(task.clone());
    }
}
