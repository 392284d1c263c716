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
use std::task::Context;

use nix::sys::eventfd::EventFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use wire::memory::replies::Reader;

use super::reply_port::ReplyPort;
use super::worker::Worker;

/// A thread that does not come to sleep pays its bells after so many looks.
const LOOKS: u32 = 16;

thread_local! {
    /// Rings whose workers do not ring.
    static WATCHED: RefCell<Vec<Rc<ReplyPort>>> = const { RefCell::new(Vec::new()) };
    /// Workers that may sleep beside what was left for them.
    static OWED: RefCell<Vec<Arc<Worker>>> = const { RefCell::new(Vec::new()) };
    /// Since the first of them was owed one.
    static LOOKED: Cell<u32> = const { Cell::new(0) };
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
        watched.iter().filter(|port| has_something(port)).for_each(|port| port.wake());
    });
    if !OWED.with_borrow(Vec::is_empty) && LOOKED.replace(LOOKED.get() + 1) >= LOOKS {
        pay_bells();
    }
}

/// The thread is about to sleep: from now on workers ring. What has come meanwhile keeps it awake.
pub fn before_sleep() {
    pay_bells();
    WATCHED.with_borrow_mut(|watched| watched.retain(|port| port.ring().is_some_and(|ring| ring.stays_awake(port))));
}

fn has_something(port: &ReplyPort) -> bool {
    !port.is_paused() && port.ring().is_some_and(|ring| !ring.reader.borrow().is_empty())
}

pub struct Ring {
    reader: RefCell<Reader>,
    /// Written by the worker to wake the thread. It is never read: each writing is news to epoll.
    bell: AsyncFd<Arc<EventFd>>,
    is_watched: Cell<bool>,
}

impl Ring {
    /// Is listened to by this thread's runtime.
    #[allow(deprecated, reason = "the new spelling is unsafe; a bell owns its descriptor and never changes it")]
    pub fn new(bell: Arc<EventFd>, reader: Reader) -> io::Result<Ring> {
        let bell = AsyncFd::with_interest(bell, Interest::READABLE)?;
        Ok(Ring { reader: reader.into(), bell, is_watched: Cell::new(false) })
    }

    /// Hands all that is there to `hear`. The task of `cx` is woken when there is more.
    pub(super) fn read(
        &self,
        port: &Rc<ReplyPort>,
        cx: &mut Context<'_>,
        entry: &mut Vec<u8>,
        mut hear: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        loop {
            while !port.is_paused() && !port.worker.is_closed() && self.reader.borrow_mut().read(entry)? {
                if self.reader.borrow().makes_room() {
                    port.worker.socket().wake();
                }
                hear(entry);
            }
            if !port.is_paused() {
                self.watch(port);
            }
            match self.bell.poll_read_ready(cx) {
                std::task::Poll::Ready(guard) => guard?.clear_ready(),
                std::task::Poll::Pending => return Ok(()),
            }
        }
    }

    fn watch(&self, port: &Rc<ReplyPort>) {
        if !self.is_watched.replace(true) {
            self.reader.borrow().sleeps.lower();
            WATCHED.with_borrow_mut(|watched| watched.push(port.clone()));
        }
    }

    /// Whether something is there; otherwise the worker rings from now on. One whose client is slow is not waited for.
    fn stays_awake(&self, port: &ReplyPort) -> bool {
        let reader = self.reader.borrow();
        reader.sleeps.raise();
        if !reader.is_empty() && !port.is_paused() {
            reader.sleeps.lower();
            port.wake();
            return true;
        }
        self.is_watched.set(false);
        false
    }
}
