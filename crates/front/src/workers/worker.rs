//! A worker as seen by all threads of the front: its socket, for orders, and its state.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::task::Waker;

use nix::sys::eventfd::{EfdFlags, EventFd};
use tokio::sync::watch;
use wire::Malformed;
use wire::channel::MAX_FDS;
use wire::control::{Inspection, WorkerId};
use wire::memory::FrontMemory;
use wire::memory::blocks::Block;
use wire::transport::{OrderDelivery, SocketFront, WorkerOrder};

use crate::base::lock::lock;
use base::log;

/// The path of a worker's replies to one thread.
pub struct ReplyPath {
    /// Wakes the thread when replies lie in its ring.
    pub bell: Arc<EventFd>,
    /// The worker's socket, on exactly one thread, for replies without a request.
    pub socket: Option<Arc<SocketFront>>,
}

/// The worker has sent `Ready`.
const READY: u8 = 1;
/// The master has reported the worker's pid.
const KNOWN: u8 = 2;

/// The front's handle of a worker. The [`Scheduler`](super::scheduler::Scheduler) knows what the worker is doing.
pub struct Worker {
    /// Slot in the pool and serial number within that slot.
    pub id: WorkerId,
    /// Process id; 0 until the mold has forked the worker.
    pid: AtomicI32,
    /// Bits [`READY`] and [`KNOWN`], set in any order.
    announced: AtomicU8,
    socket: Arc<SocketFront>,
    /// The process has ended. A child may hold its socket open, so only what the socket contains now is read.
    ended: AtomicBool,
    /// No thread shall read the worker's replies any more.
    closed: AtomicBool,
    /// True ends the worker's streams.
    streams_end: watch::Sender<bool>,
    /// The worker serves this front, not an earlier one that has died.
    is_ours: AtomicBool,
    /// Number of threads that read the worker's replies.
    listened_to: AtomicUsize,
    /// Wakers of the tasks that read the replies.
    tasks: Mutex<Vec<Waker>>,
    /// Channel to the master, if the worker is to become a mold when it leaves.
    promotion: Mutex<Option<OwnedFd>>,
}

impl Worker {
    /// Creates the handle of a worker. An `adopted` worker still serves an earlier front.
    pub fn new(id: WorkerId, socket: SocketFront, adopted: bool) -> Worker {
        Worker {
            id,
            pid: AtomicI32::new(0),
            announced: AtomicU8::new(0),
            socket: Arc::new(socket),
            ended: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            streams_end: watch::Sender::new(false),
            is_ours: AtomicBool::new(!adopted),
            listened_to: AtomicUsize::new(0),
            tasks: Mutex::default(),
            promotion: Mutex::default(),
        }
    }

    /// Process id; 0 until the mold has forked the worker.
    pub fn pid(&self) -> i32 {
        self.pid.load(Relaxed)
    }

    /// Sets the pid reported by the master. True: the worker is ready and may serve from now on.
    #[must_use]
    pub fn set_pid(&self, pid: i32) -> bool {
        self.pid.store(pid, Relaxed);
        self.announced.fetch_or(KNOWN, SeqCst) == READY
    }

    /// Notes that the worker is ready. True: the worker may serve from now on. False: its pid is unknown, so no log
    /// line could name the process.
    #[must_use]
    pub(super) fn set_ready(&self) -> bool {
        self.announced.fetch_or(READY, SeqCst) & KNOWN != 0
    }

    pub fn socket(&self) -> &Arc<SocketFront> {
        &self.socket
    }

    pub fn memory(&self) -> &FrontMemory {
        self.socket.memory()
    }

    /// Creates the ways to `threads` threads, and sends their bells to the worker. The first thread also gets the
    /// socket.
    pub fn ways(&self, threads: usize) -> io::Result<Vec<ReplyPath>> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let bells = (0..threads).map(|_| EventFd::from_flags(flags)).collect::<nix::Result<Vec<_>>>()?;
        let _: OrderDelivery =
            self.socket.send(&WorkerOrder::Bells { bells: &bells.iter().map(AsFd::as_fd).collect::<Vec<_>>() })?;
        self.listened_to.store(threads, SeqCst);
        let own = std::iter::once(Some(self.socket.clone())).chain(std::iter::repeat(None));
        Ok(bells.into_iter().zip(own).map(|(bell, socket)| ReplyPath { bell: bell.into(), socket }).collect())
    }

    /// Whether the worker's replies are for this front.
    pub(super) fn belongs_to_this_front(&self) -> bool {
        self.is_ours.load(SeqCst)
    }

    /// Notes that the worker has finished its request of an earlier front.
    pub(super) fn set_ours(&self) {
        if !self.is_ours.swap(true, SeqCst) {
            self.wake();
        }
    }

    /// Takes ownership of a block with a piece of a body, as announced by the worker.
    pub(super) fn take_block(&self, block: u32, length: u32) -> Result<Block, Malformed> {
        self.memory().lender().take(block, length)
    }

    pub(super) fn is_short_of_blocks(&self) -> bool {
        self.memory().lender().is_short()
    }

    /// Stops all threads from reading the worker's replies, and ends its streams.
    pub fn close(&self) {
        self.closed.store(true, SeqCst);
        self.streams_end.send_replace(true);
        self.wake();
    }

    /// Resolves when [`Worker::close`] was called.
    pub(super) fn end(&self) -> proxy::WorkerEnd {
        let mut ended = self.streams_end.subscribe();
        Box::pin(async move { drop(ended.wait_for(|is_over| *is_over).await) })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(SeqCst)
    }

    /// Notes that one thread has read all replies. True for the last thread.
    pub(super) fn is_drained(&self) -> bool {
        self.listened_to.fetch_sub(1, SeqCst) == 1
    }

    /// Wakes the worker if it sleeps although orders lie in its memory.
    pub(super) fn wake_if_asleep(&self) {
        self.socket.wake_if_asleep();
    }

    /// Whether the worker sleeps until an order arrives.
    pub(super) fn waits(&self) -> bool {
        self.memory().is_worker_asleep()
    }

    /// Takes back the requests that the worker has not begun. Returns their ids, oldest first.
    pub fn take_back(&self, buffer: &mut [u8]) -> Vec<u64> {
        self.socket.take_back(buffer).unwrap_or_else(|error| {
            log::error(
                "front",
                format_args!("worker={}: cannot take back its waiting requests: {error}", self.id.slot),
            );
            Vec::new()
        })
    }

    /// Makes the worker a mold when it leaves; `control` is its channel to the master.
    pub fn will_be_promoted(&self, control: OwnedFd) {
        *lock(&self.promotion) = Some(control);
    }

    /// Asks the worker to leave. A failed send is ignored, because the worker is then ending anyway.
    pub fn order_to_leave(&self) {
        let _ = match lock(&self.promotion).take() {
            Some(control) => self.socket.send(&WorkerOrder::Promote { control: control.as_fd() }),
            None => self.socket.send(&WorkerOrder::Leave),
        };
    }

    /// Asks an idle worker to describe itself into `into`. A failed send is ignored; no description is written then.
    pub fn inspect(&self, what: Inspection, into: BorrowedFd<'_>, done: BorrowedFd<'_>, with: &[BorrowedFd<'_>]) {
        let _ = self.socket.send(&WorkerOrder::Inspect { what, into, done, with });
    }

    /// Asks an adopted worker to reply when it has finished the request of the earlier front.
    pub fn greet(&self) -> io::Result<()> {
        self.socket.send(&WorkerOrder::Greet).map(drop)
    }

    /// Sends a notice about a client. A failed send is ignored: the worker continues.
    pub(super) fn notify(&self, order: &WorkerOrder<'_>) {
        let _ = self.socket.send(order);
    }

    /// Sends new error logs; `first` is the index of the first. If the send fails, the worker writes to the old logs.
    pub fn reopen_logs(&self, first: u16, logs: &[BorrowedFd<'_>]) {
        for (first, logs) in (first..).step_by(MAX_FDS).zip(logs.chunks(MAX_FDS)) {
            let _ = self.socket.send(&WorkerOrder::Logs { first, logs });
        }
    }

    /// Notes that the worker's process has ended.
    pub fn set_ended(&self) {
        self.ended.store(true, SeqCst);
        self.wake();
    }

    /// Whether the worker's process has ended.
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
