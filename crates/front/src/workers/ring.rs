//! A thread's reader of a ring in a worker's memory. A running thread polls the rings of its active workers after each
//! piece of work, so workers need not wake it. Before it sleeps, it asks them to ring its bell.
//!
//! ```text
//!   asleep ── the worker rings ──▶ read, until it is empty ──▶ watched ── nothing came, and the thread sleeps ──▶ asleep
//! ```

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use nix::sys::eventfd::EventFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use wire::memory::replies::RingReader;

use super::share::{Share, go_on_later};
use super::worker::Worker;

/// Looks after which owed wake-ups are sent to workers, if the thread does not come to sleep.
const LOOKS: u32 = 16;

thread_local! {
    /// Rings that this thread polls; their workers do not ring.
    static WATCHED: RefCell<Vec<Rc<Ring>>> = const { RefCell::new(Vec::new()) };
    /// Workers that may sleep although a request lies in their memory.
    static OWED: RefCell<Vec<Arc<Worker>>> = const { RefCell::new(Vec::new()) };
    /// Looks since the wake-ups were last sent.
    static LOOKED: Cell<u32> = const { Cell::new(0) };
    /// How long the thread sleeps before it waits for events, so that several arrive together.
    static COALESCED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Notes that `worker` must be woken for requests in its memory. One wake-up serves all requests of this turn, because
/// a wake-up costs more than a small request.
pub(super) fn owe_bell(worker: &Arc<Worker>) {
    OWED.with_borrow_mut(|owed| {
        if !owed.iter().any(|other| Arc::ptr_eq(other, worker)) {
            owed.push(worker.clone());
        }
    });
}

fn pay_bells() {
    LOOKED.set(0);
    OWED.with_borrow_mut(|owed| owed.drain(..).for_each(|worker| worker.wake_if_asleep()));
}

/// Wakes the tasks of watched rings with news. Cheap: it reads one word of each ring.
pub fn look() {
    WATCHED.with_borrow(|watched| {
        watched.iter().filter(|ring| ring.has_news()).for_each(|ring| ring.wake());
    });
    if !OWED.with_borrow(Vec::is_empty) && LOOKED.replace(LOOKED.get() + 1) >= LOOKS {
        pay_bells();
    }
}

/// Lets the next sleep of the thread be delayed by `slack`; see
/// [`Scheduler::slack`](super::scheduler::Scheduler::slack). It applies only once, because the pool's load changes.
pub(super) fn coalesce(slack: Duration) {
    COALESCED.set(slack);
}

/// To be called before the thread sleeps: asks workers to ring from now on. Entries that arrived meanwhile keep the
/// thread awake.
pub fn before_sleep() {
    pay_bells();
    let slack = COALESCED.take();
    if !slack.is_zero() {
        thread::sleep(slack);
    }
    WATCHED.with_borrow_mut(|watched| watched.retain(|ring| ring.stays_awake()));
}

pub struct Ring {
    worker: Arc<Worker>,
    reader: RefCell<RingReader>,
    /// Written by the worker to wake the thread. The counter is never read: each write triggers epoll's edge.
    bell: AsyncFd<Arc<EventFd>>,
    /// The ring is not read, because a client is slow.
    is_paused: Cell<bool>,
    is_watched: Cell<bool>,
    /// The task that reads the ring.
    task: RefCell<Option<Waker>>,
}

impl Ring {
    /// Opens the ring on this thread's runtime.
    #[allow(deprecated, reason = "the new spelling is unsafe; a bell owns its descriptor and never changes it")]
    pub fn new(worker: Arc<Worker>, bell: Arc<EventFd>, reader: RingReader) -> io::Result<Rc<Ring>> {
        Ok(Rc::new(Ring {
            worker,
            reader: reader.into(),
            bell: AsyncFd::with_interest(bell, Interest::READABLE)?,
            is_paused: Cell::new(false),
            is_watched: Cell::new(false),
            task: RefCell::new(None),
        }))
    }

    /// Sets whether the ring is left unread.
    pub(super) fn pause(&self, is_paused: bool) {
        self.is_paused.set(is_paused);
    }

    /// Passes entries to `receive`, as far as `share` allows; then the task of `cx` is scheduled again.
    pub(super) fn read(
        self: &Rc<Self>,
        cx: &mut Context<'_>,
        mut share: Share,
        entry: &mut Vec<u8>,
        mut receive: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.task.borrow_mut().get_or_insert_with(|| cx.waker().clone());
        loop {
            while self.is_heard() && self.reader.borrow_mut().read(entry)? {
                if self.reader.borrow().makes_room() {
                    self.worker.socket().wake();
                }
                receive(entry);
                share.spend(entry.len());
                if share.is_spent() {
                    go_on_later(cx);
                    return Ok(());
                }
            }
            if self.is_heard() {
                self.watch();
            }
            match self.bell.poll_read_ready(cx) {
                Poll::Ready(guard) => guard?.clear_ready(),
                Poll::Pending => return Ok(()),
            }
        }
    }

    fn is_heard(&self) -> bool {
        !self.is_paused.get() && !self.worker.is_closed()
    }

    fn has_news(&self) -> bool {
        self.is_heard() && !self.reader.borrow().is_empty()
    }

    fn wake(&self) {
        self.task.borrow().iter().for_each(Waker::wake_by_ref);
    }

    fn watch(self: &Rc<Self>) {
        if !self.is_watched.replace(true) {
            self.reader.borrow().sleeps.lower();
            WATCHED.with_borrow_mut(|watched| watched.push(self.clone()));
        }
    }

    /// Whether the ring has entries; if not, the worker rings from now on.
    fn stays_awake(&self) -> bool {
        self.reader.borrow().sleeps.raise();
        let stays = self.has_news();
        if stays {
            self.reader.borrow().sleeps.lower();
            self.wake();
        }
        self.is_watched.set(stays);
        stays
    }
}
