//! Drives the workers of one pool of a generation. [`Scheduler`](scheduler::Scheduler) decides; this module feeds it
//! events and carries out its actions on workers' sockets, on the exchanges of requests and towards the master.
//!
//! ```text
//!   each thread                                 all threads
//!   request's future ──submit──▶ Workers ──▶ SharedPool ──▶ Scheduler  decides, knows no socket
//!          ▲                       │  ▲          │  ◀── Action
//!          │        ◀── Notice ──────┼──┼──────────┤                    for requests of other threads
//!          │                       ▼  │          ▼
//!       Exchange ◀──── replies ─── ReplyPort     Worker               sends orders; each thread has a port for replies
//! ```

mod actions;
mod content_length;
pub mod exchange;
mod loop_watch;
mod mailbox;
mod pools;
mod replies;
mod reply_port;
mod ring;
pub mod scheduler;
mod share;
mod shared_pool;
mod slow_client;
pub mod spool;
mod status;
mod storing;
mod stream_turn;
mod streams;
mod submitted;
mod takeover;
mod ticket;
mod worker;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use wire::memory::orders::MAX_FRAME;

use super::base::failure::Failure;
use super::base::shared::count;
use base::log;
use config::Config;
use scheduler::NewRequest;
use submitted::Submitted;

pub use content_length::Promised;
pub use exchange::{Exchange, ExchangeStage, SharedExchange};
pub use mailbox::{Mailbox, Mailboxes, Notice, mailbox};
pub use pools::Pools;
pub use reply_port::Buffers;
pub use ring::{before_sleep, look};
pub use scheduler::{ClientId, PaceInquiry, RequestId, RequestTimeouts, TooFast};
pub use shared_pool::{ConcurrencyTurn, SharedPool};
pub use stream_turn::StreamTurn;
pub use streams::StreamKind;
pub use submitted::{Job, Label};
pub use takeover::take_over;
pub use ticket::Ticket;
pub use worker::Worker;

/// One thread's access to the workers of one pool.
pub struct Workers {
    /// The pool's state, shared by all threads.
    pub pool: Arc<SharedPool>,
    /// Index of this thread; it selects this thread's ring in each worker's memory.
    thread: u8,
    /// Requests of this thread that are not over.
    exchanges: RefCell<FxHashMap<RequestId, SharedExchange>>,
    store: Rc<spool::SpoolStore>,
    /// Receive buffers for workers' packets.
    buffers: Rc<RefCell<Buffers>>,
}

impl Workers {
    /// Creates the access of `thread`, which receives packets into `buffers`.
    pub fn new(pool: Arc<SharedPool>, thread: u8, config: &Config, buffers: Rc<RefCell<Buffers>>) -> Workers {
        let store = Rc::new(spool::SpoolStore::new(config.spooling.clone(), spool::Totals::of_front()));
        Workers { pool, thread, exchanges: RefCell::default(), store, buffers }
    }

    /// Sends the job to a worker, or queues it. Fails when the queue is full or overloaded.
    pub fn submit(self: &Rc<Self>, job: Job<'_>) -> Result<Ticket, Failure> {
        let Job { id, frame, body, label, timeouts, share, charged_to } = job;
        if self.pool.is_event() {
            let why =
                "workers with an event loop (PsgiMode event) run only PSGI applications; give the place another pool";
            log::error("front", format_args!("{label}: {why}"));
            return Err(Failure::ProtocolViolation);
        }
        // A request in shared memory would overtake one in the socket, so `small` requires both: no body file and a
        // short frame.
        let small = body.is_none() && frame.len() <= MAX_FRAME;
        let new = NewRequest { id, share: share.map(|share| share.id), timeouts, small, charged_to };
        let submitted = Submitted { thread: self.thread, frame, body, label, at: Instant::now(), begun: None };
        let exchange = Rc::new(RefCell::new(Exchange::new(id, self.store.clone())));
        self.exchanges.borrow_mut().insert(id, exchange.clone());
        let accepted = self.pass_event(|state| {
            state.scheduler.submit(new, submitted.at)?;
            state.requests.insert(id, submitted);
            Ok(())
        });
        if let Err(failure) = accepted {
            self.take(id);
            count(&self.pool.front.counters.shed.queue_full);
            return Err(failure);
        }
        Ok(Ticket { workers: self.clone(), exchange })
    }

    /// Handles a notice for a request or worker of this thread.
    pub fn receive(self: &Rc<Self>, notice: Notice) {
        match notice {
            Notice::Worker(worker, way) => {
                let workers = self.clone();
                tokio::task::spawn_local(async move { workers.listen(worker, way).await });
            }
            Notice::Spill(id) => self.exchange(id).iter().for_each(|exchange| {
                exchange.borrow_mut().spill();
                storing::store(exchange);
            }),
            Notice::Press(id, patience) => self.press(id, patience),
            // Receiving this notice wakes the thread; looking up its view then drops the old generation.
            Notice::GenerationIsOver => {}
            Notice::Over(id, begun) => self.take(id).iter().for_each(|exchange| exchange.borrow_mut().over(begun)),
            Notice::Failed(id, failure, begun) => {
                self.take(id).iter().for_each(|exchange| exchange.borrow_mut().fail(failure, begun));
            }
        }
    }

    /// Handles a client that left: a queued request is never started.
    pub fn abandon(self: &Rc<Self>, exchange: &SharedExchange) {
        let (id, owed, unfinished) = {
            let mut exchange = exchange.borrow_mut();
            if exchange.is_abandoned() {
                return;
            }
            exchange.abandon();
            (exchange.id, exchange.is_owed(), !exchange.is_whole())
        };
        self.pass_event(|state| state.scheduler.client_gone(id, owed, unfinished));
    }

    /// Handles a slow client whose worker others wait for. A client below the minimum speed during `patience` loses the
    /// rest of its response.
    fn press(self: &Rc<Self>, id: RequestId, patience: Duration) {
        let Some(exchange) = self.exchange(id) else { return };
        if !exchange.borrow_mut().is_too_slow(patience, Instant::now()) {
            return;
        }
        self.pass_event(|state| {
            state.scheduler.gave_up_slow(Instant::now());
            if let Some(slow) = state.requests.get(&id) {
                let label = &slow.label;
                log::warn("front", format_args!(
                    "{label}: a slow client loses the rest of its response: requests wait for its worker, and the response cannot be \
                     stored: SpoolDirectory is full or slow, or SpoolLimit or SpoolTotalLimit is reached"
                ));
            }
        });
        count(&self.pool.front.counters.slow_readers);
        exchange.borrow_mut().cut();
        self.abandon(&exchange);
    }

    /// Handles a client that closed its sending side. Returns whether the client can still get its response.
    pub fn hang_up(self: &Rc<Self>, exchange: &SharedExchange) -> bool {
        let id = exchange.borrow().id;
        self.pass_event(|state| state.scheduler.client_hung_up(id));
        self.pass_event(|state| state.scheduler.told_hung_up(id))
    }

    fn exchange(&self, id: RequestId) -> Option<SharedExchange> {
        self.exchanges.borrow().get(&id).cloned()
    }

    fn take(&self, id: RequestId) -> Option<SharedExchange> {
        self.exchanges.borrow_mut().remove(&id)
    }
}
