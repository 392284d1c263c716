//! A ring of a worker's memory, read by a thread. While the thread is awake it looks into the rings of the workers that it hears
//! of whenever it has done something, so that they need not wake it; before it sleeps it asks them to.
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
use wire::memory::replies::Reader;

use super::share::{Share, go_on_later};
use super::worker::Worker;

/// A thread that does not come to sleep pays its bells after so many looks.
const LOOKS: u32 = 16;

thread_local! {
    /// Rings whose workers do not ring.
    static WATCHED: RefCell<Vec<Rc<Ring>>> = const { RefCell::new(Vec::new()) };
    /// Workers that may sleep beside what was left for them.
    static OWED: RefCell<Vec<Arc<Worker>>> = const { RefCell::new(Vec::new()) };
    /// Since the first of them was owed one.
    static LOOKED: Cell<u32> = const { Cell::new(0) };
    /// For so long the thread lets events come together before it waits for the next.
    static COALESCED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Requests lie in the memory of `worker`, and it is to be woken for them, once for all that come in this turn of the thread:
/// to wake a worker costs more than a small request does.
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

/// Looks into the rings that this thread watches. Cheap: a look at a word for each.
pub fn look() {
    WATCHED.with_borrow(|watched| {
        watched.iter().filter(|ring| ring.has_news()).for_each(|ring| ring.wake());
    });
    if !OWED.with_borrow(Vec::is_empty) && LOOKED.replace(LOOKED.get() + 1) >= LOOKS {
        pay_bells();
    }
}

/// What comes within so long need not be heard at once: see [`Pool::slack`](super::pool::Pool::slack). It holds for the next sleep only,
/// because the pool may look otherwise then.
pub(super) fn coalesce(slack: Duration) {
    COALESCED.set(slack);
}

/// The thread is about to sleep: from now on workers ring. What has come meanwhile keeps it awake.
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
    reader: RefCell<Reader>,
    /// Written by the worker to wake the thread. It is never read: each writing is news to epoll.
    bell: AsyncFd<Arc<EventFd>>,
    /// It is not read now, because of a slow client.
    is_paused: Cell<bool>,
    is_watched: Cell<bool>,
    /// The task that reads it.
    task: RefCell<Option<Waker>>,
}

impl Ring {
    /// Is listened to by this thread's runtime.
    #[allow(deprecated, reason = "the new spelling is unsafe; a bell owns its descriptor and never changes it")]
    pub fn new(worker: Arc<Worker>, bell: Arc<EventFd>, reader: Reader) -> io::Result<Rc<Ring>> {
        Ok(Rc::new(Ring {
            worker,
            reader: reader.into(),
            bell: AsyncFd::with_interest(bell, Interest::READABLE)?,
            is_paused: Cell::new(false),
            is_watched: Cell::new(false),
            task: RefCell::new(None),
        }))
    }

    /// Whether it is left unread.
    pub(super) fn pause(&self, is_paused: bool) {
        self.is_paused.set(is_paused);
    }

    /// Hands what is there to `hear`, as far as `share` allows. The task of `cx` is woken when there is more.
    pub(super) fn read(
        self: &Rc<Self>,
        cx: &mut Context<'_>,
        mut share: Share,
        entry: &mut Vec<u8>,
        mut hear: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.task.borrow_mut().get_or_insert_with(|| cx.waker().clone());
        loop {
            while self.is_heard() && self.reader.borrow_mut().read(entry)? {
                if self.reader.borrow().makes_room() {
                    self.worker.socket().wake();
                }
                hear(entry);
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

    /// Whether something is there; otherwise the worker rings from now on.
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
