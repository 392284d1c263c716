//! The workers of one pool of a generation: carries events to the [`Pool`](pool::Pool), which decides, and what it decides to workers'
//! sockets, to the exchanges of requests and to the master.
//!
//! ```text
//!   each thread                                 all threads
//!   request's future ──submit──▶ Workers ──▶ SharedPool ──▶ Pool     decides, knows no socket
//!          ▲                       │  ▲          │  ◀── Action
//!          │        ◀── Notice ──────┼──┼──────────┤                    what is for requests of other threads
//!          │                       ▼  │          ▼
//!       Exchange ◀──── replies ─── ReplyPort     Worker               a way for orders; a way back for each thread
//! ```

mod actions;
mod content_length;
pub mod exchange;
mod mailbox;
pub mod pool;
mod pools;
mod replies;
mod reply_port;
mod ring;
mod share;
mod shared_pool;
mod slow_client;
pub mod spool;
mod status;
mod storing;
mod submitted;
mod takeover;
mod worker;

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use wire::memory::orders::MAX_FRAME;

use super::base::failure::Failure;
use super::base::shared::count;
use base::log;
use config::Config;
use config::access::Throttle;
use config::scheduling::SpeedLimit;
use pool::{NewRequest, Pool};
use shared_pool::State;
use submitted::Submitted;

pub use content_length::Promised;
pub use exchange::{Exchange, Job, SharedExchange, Stage};
pub use mailbox::{Mailbox, Mailboxes, Notice, mailbox};
pub use pool::{ClientId, RequestId, RequestTimeouts, TooFast};
pub use pools::Pools;
pub use reply_port::Buffers;
pub use ring::{before_sleep, look};
pub use shared_pool::{SharedPool, Turn};
pub use submitted::Label;
pub use takeover::take_over;
pub use worker::Worker;

/// The workers of one pool, as one thread has them.
pub struct Workers {
    /// What all threads have.
    pub pool: Arc<SharedPool>,
    /// The number of this thread: of its requests, and of its rings.
    thread: u8,
    /// The requests of this thread.
    exchanges: RefCell<FxHashMap<RequestId, SharedExchange>>,
    store: Rc<spool::Store>,
    /// Where packets of workers are received.
    buffers: Rc<RefCell<Buffers>>,
}

impl Workers {
    /// For the thread `thread`; `buffers` are where it receives packets.
    pub fn new(pool: Arc<SharedPool>, thread: u8, config: &Config, buffers: Rc<RefCell<Buffers>>) -> Workers {
        let store = Rc::new(spool::Store::new(config.spooling.clone(), spool::Totals::of_front()));
        Workers { pool, thread, exchanges: RefCell::default(), store, buffers }
    }

    /// Tells the pool of an event, and does what it wants.
    fn tell<T>(self: &Rc<Self>, event: impl FnOnce(&mut Pool) -> T) -> T {
        self.tell_state(|state| event(&mut state.pool))
    }

    fn tell_state<T>(self: &Rc<Self>, event: impl FnOnce(&mut State) -> T) -> T {
        let (told, notices) = self.pool.tell_from(self.thread, event);
        notices.into_iter().for_each(|notice| self.receive(notice));
        told
    }

    /// Gives the job to a worker, or puts it into the queue.
    pub fn submit(self: &Rc<Self>, job: Job) -> Result<SharedExchange, Failure> {
        let now = Instant::now();
        let id = job.id;
        let new = NewRequest {
            id,
            lane: 0,
            timeouts: job.timeouts,
            // What goes through memory would overtake what lies in a socket.
            small: job.body.is_none() && job.frame.len() <= MAX_FRAME,
            charged_to: job.charged_to,
        };
        let exchange = Rc::new(RefCell::new(Exchange::new(id, self.store.clone())));
        self.exchanges.borrow_mut().insert(id, exchange.clone());
        let share = job.share;
        let job =
            Submitted { thread: self.thread, frame: job.frame, body: job.body, label: job.label, at: now, begun: None };
        if let Err(failure) = self.tell_state(|state| state.submit(new, share, job, now)) {
            self.take(id);
            count(&self.pool.front.counters.shed.queue_full);
            return Err(failure);
        }
        Ok(exchange)
    }

    /// What this thread is to know.
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
            // Whoever looks for its view has noticed.
            Notice::GenerationIsOver => {}
            Notice::Over(id, begun) => self.take(id).iter().for_each(|exchange| exchange.borrow_mut().over(begun)),
            Notice::Failed(id, failure, begun) => {
                self.take(id).iter().for_each(|exchange| exchange.borrow_mut().fail(failure, begun));
            }
        }
    }

    /// A client that left: a request that waits will not be started.
    pub fn abandon(self: &Rc<Self>, exchange: &SharedExchange) {
        let (id, owed, unfinished) = {
            let mut exchange = exchange.borrow_mut();
            if exchange.is_abandoned() {
                return;
            }
            exchange.abandon();
            (exchange.id, exchange.is_owed(), !exchange.is_whole())
        };
        self.tell(|pool| pool.client_gone(id, owed, unfinished));
    }

    /// Requests wait for the worker of this one. A client that was too slow for so long loses the rest of its answer.
    fn press(self: &Rc<Self>, id: RequestId, patience: Duration) {
        let Some(exchange) = self.exchange(id) else { return };
        if !exchange.borrow_mut().is_too_slow(patience, Instant::now()) {
            return;
        }
        self.tell_state(|state| {
            state.pool.gave_up_slow(Instant::now());
            if let Some(slow) = state.requests.get(&id) {
                let label = &slow.label;
                log::warn("front", format_args!(
                    "{label}: a slow client loses the rest of its answer: requests wait for its worker, and the answer cannot be \
                     stored: SpoolDirectory is full or slow, or SpoolLimit or SpoolTotalLimit is reached"
                ));
            }
        });
        count(&self.pool.front.counters.slow_readers);
        exchange.borrow_mut().cut();
        self.abandon(&exchange);
    }

    /// The client of `exchange` sends nothing more. Says whether it can be given its answer all the same.
    pub fn hang_up(self: &Rc<Self>, exchange: &SharedExchange) -> bool {
        let id = exchange.borrow().id;
        self.tell(|pool| pool.client_hung_up(id));
        self.tell(|pool| pool.told_hung_up(id))
    }

    /// Counts a request of `client` where its speed is limited, or refuses it.
    pub fn keep_pace(&self, limit: &SpeedLimit, client: IpAddr) -> Result<ClientId, TooFast> {
        self.pool.keep_pace(limit, client)
    }

    /// Counts a request where only some may be under way; `None`: as many as may be are.
    pub fn take_turn(&self, throttle: &Throttle) -> Option<Turn> {
        self.pool.take_turn(throttle)
    }

    fn exchange(&self, id: RequestId) -> Option<SharedExchange> {
        self.exchanges.borrow().get(&id).cloned()
    }

    fn take(&self, id: RequestId) -> Option<SharedExchange> {
        self.exchanges.borrow_mut().remove(&id)
    }
}
