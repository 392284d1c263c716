//! One client's connection as everything else sees it: who it is, where it is in its life, what went over it.
//!
//! ```text
//!   Fresh ──first byte──▶ Head ──head whole──▶ Request ──answer flushed──▶ Kept ──first byte──▶ Head …
//! ```

pub mod last_call;
pub mod registry;
pub mod timeouts;
pub mod tls_session;
pub mod transport;

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::time::Instant;

use wire::control::ClientStatus;

use super::Front;
use super::base::address::Address;
use super::request::context::{Ending, Record};
use super::site::Site;
use super::workers::{Exchange, Shared};
use crate::config::{KeepAlive, Pace, Timeouts};
use tls_session::{Security, Session};

/// See the diagram above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nothing was received yet.
    Fresh,
    /// A head is on its way.
    Head,
    /// A request is being answered.
    Request,
    /// Waits for a further request.
    Kept,
}

/// What a worker makes for a client, and where.
type Awaited = (Rc<Site>, Weak<RefCell<Exchange>>);

/// See the module's text.
pub struct Client {
    /// The front that it is connected to.
    pub front: Rc<Front>,
    /// The generation that served when it connected.
    pub site: Rc<Site>,
    /// Its own end.
    pub remote: Address,
    /// Our end.
    pub local: Address,
    /// Requests before this one.
    pub served: Cell<u32>,
    /// An interim response (103) that the stream sends when it is at the start of a response.
    pub interim: RefCell<Vec<u8>>,
    /// Whether it speaks TLS, and how.
    pub security: Security,
    /// Requests under way, when the connection carries several at once.
    streams: Cell<Option<u32>>,
    /// How slowly the head of a request may come; its host is not known then, so that of the first on this address.
    head_pace: Pace,
    phase: Cell<Phase>,
    since: Cell<Instant>,
    /// When bytes last came.
    heard: Cell<Instant>,
    /// Its place is needed for another, as soon as it is idle.
    evicted: Cell<bool>,
    /// Since when it accepts no bytes.
    stalled: Cell<Option<Instant>>,
    /// The answer was handed to hyper whole.
    answered: Cell<bool>,
    /// See [`Client::close`].
    close: Cell<bool>,
    /// See [`Client::reads_to_the_end`].
    open_ended: Cell<bool>,
    /// What the host of its last request says of the wait for the next; before the first that of the address.
    keep_alive: Cell<KeepAlive>,
    /// Received and not yet counted for a request.
    received: Cell<u64>,
    /// Sent and not yet counted for a request.
    sent: Cell<u64>,
    /// The pool and the request that it waits for, when its connection carries one at a time.
    awaited: RefCell<Option<Awaited>>,
    /// The record of the request whose answer is being flushed.
    record: RefCell<Option<Rc<Record>>>,
}

impl Client {
    /// A client that has just connected.
    pub fn new(front: Rc<Front>, site: Rc<Site>, remote: Address, local: Address) -> Client {
        let host = site.config.hosts.get(usize::from(site.config.host(local.socket, "")));
        let head_pace = host.and_then(|host| host.read_timeouts.header).unwrap_or_default();
        let keep_alive = Cell::new(host.map(|host| host.keep_alive).unwrap_or_default());
        let now = Instant::now();
        Client {
            front,
            site,
            remote,
            local,
            served: Cell::new(0),
            interim: RefCell::default(),
            security: Security::default(),
            streams: Cell::new(None),
            head_pace,
            phase: Cell::new(Phase::Fresh),
            since: Cell::new(now),
            heard: Cell::new(now),
            evicted: Cell::new(false),
            stalled: Cell::new(None),
            answered: Cell::new(false),
            close: Cell::new(false),
            open_ended: Cell::new(false),
            keep_alive,
            received: Cell::new(0),
            sent: Cell::new(0),
            awaited: RefCell::default(),
            record: RefCell::new(None),
        }
    }

    /// `n` bytes came from it.
    pub fn received(&self, n: usize) {
        self.received.set(self.received.get() + n as u64);
        self.heard.set(Instant::now());
        match self.phase.get() {
            _ if self.streams.get().is_some() => {}
            // A first head has been waited for since the connection was made.
            Phase::Fresh => self.phase.set(Phase::Head),
            Phase::Kept => self.enter(Phase::Head, self.heard.get()),
            Phase::Head | Phase::Request => {}
        }
    }

    /// It took `n` bytes.
    pub fn sent(&self, n: usize) {
        self.sent.set(self.sent.get() + n as u64);
        self.stalled.set(None);
    }

    /// It takes no more bytes for now.
    pub fn stalls(&self) {
        if self.stalled.get().is_none() {
            self.stalled.set(Some(Instant::now()));
        }
    }

    fn enter(&self, phase: Phase, now: Instant) {
        self.phase.set(phase);
        self.since.set(now);
    }

    /// A request's head is whole.
    pub fn begins(&self, now: Instant) {
        if let Some(streams) = self.streams.get() {
            self.streams.set(Some(streams + 1));
            return self.enter(Phase::Request, now);
        }
        // With pipelined requests the last answer may still wait to be flushed.
        self.flushed();
        self.awaited.take();
        self.enter(Phase::Request, now);
    }

    /// The answer was handed to hyper whole, or will never be.
    pub fn answered(&self, record: Rc<Record>) {
        self.served.set(self.served.get() + 1);
        self.keep_alive.set(record.keep_alive());
        if let Some(streams) = self.streams.get() {
            self.leave_stream(streams.saturating_sub(1));
        }
        match record.stream.clone() {
            Some(stream) => stream.traffic.answered(record),
            None => {
                *self.record.borrow_mut() = Some(record);
                self.answered.set(true);
            }
        }
    }

    fn leave_stream(&self, others: u32) {
        self.streams.set(Some(others));
        if others == 0 {
            self.enter(Phase::Kept, Instant::now());
        }
    }

    /// From now on it may have several requests under way.
    pub fn multiplexes(&self) {
        self.streams.set(Some(0));
    }

    /// How slowly what it is at may come.
    pub(super) fn pace(&self) -> Pace {
        self.security.pace().unwrap_or(self.head_pace)
    }

    /// It has agreed on how to speak: its first head is waited for from now on.
    pub fn secured(&self, session: Session) {
        self.security.agree(session);
        self.enter(Phase::Fresh, Instant::now());
    }

    /// What was agreed on, when it came by TLS.
    pub fn session(&self) -> Option<&Session> {
        self.security.session()
    }

    /// Whether each of `requests` has its answer, and all of it has gone out.
    pub fn has_answered(&self, requests: u32) -> bool {
        self.served.get() == requests && !self.answered.get()
    }

    /// It waits for a worker's answer.
    pub fn awaits(&self, site: &Rc<Site>, exchange: &Shared) {
        *self.awaited.borrow_mut() = Some((site.clone(), Rc::downgrade(exchange)));
    }

    /// It sends nothing more, while it is owed an answer. Says whether it may still listen to that.
    pub fn hangs_up(&self) -> bool {
        let awaited =
            self.awaited.borrow().as_ref().and_then(|(site, exchange)| Some((site.clone(), exchange.upgrade()?)));
        awaited.is_none_or(|(site, exchange)| site.pool.hang_up(&exchange))
    }

    /// What was sent to it says something wrong about its own end: no further request may follow.
    pub fn close(&self) {
        self.close.set(true);
    }

    /// Whether the connection ends with the answer that is on its way.
    pub fn must_close(&self) -> bool {
        self.close.get()
    }

    /// The body that is on its way ends where the connection does: a connection that is merely closed makes it look whole.
    pub fn reads_to_the_end(&self) {
        self.open_ended.set(true);
    }

    /// Whether [`Client::reads_to_the_end`] was called.
    pub fn is_open_ended(&self) -> bool {
        self.open_ended.get()
    }

    /// It broke the rules.
    pub fn complain(&self, why: &str) {
        self.site.error_logs.error(&self.site.config, 0, Some(&self.remote), &why);
    }

    /// Everything that was handed to hyper has gone out.
    pub fn flushed(&self) {
        if self.answered.replace(false) {
            let now = Instant::now();
            self.enter(Phase::Kept, now);
            self.log(now);
        }
    }

    /// Whether it waits for a further request.
    pub fn is_kept(&self) -> bool {
        self.phase.get() == Phase::Kept
    }

    /// Whether nothing of its next request has come, be it the first.
    pub fn waits_for_a_request(&self) -> bool {
        matches!(self.phase.get(), Phase::Fresh | Phase::Kept)
    }

    /// Its place is given to another; it leaves when it is woken.
    pub fn evict(&self) {
        self.evicted.set(true);
    }

    /// Whether [`Client::evict`] was called.
    pub fn is_evicted(&self) -> bool {
        self.evicted.get()
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// When its phase began.
    pub(super) fn since(&self) -> Instant {
        self.since.get()
    }

    pub(super) fn heard_at(&self) -> Instant {
        self.heard.get()
    }

    /// Since when it accepts no bytes.
    pub(super) fn stalled_since(&self) -> Option<Instant> {
        self.stalled.get()
    }

    /// Of the request that is on its way.
    pub(super) fn received_bytes(&self) -> u64 {
        self.received.get()
    }

    /// What holds for the wait for its next request.
    pub(super) fn keep_alive(&self) -> KeepAlive {
        self.keep_alive.get()
    }

    pub(super) fn timeouts(&self) -> &Timeouts {
        &self.site.config.timeouts
    }

    /// For a status, while it is idle.
    pub fn status(&self) -> ClientStatus {
        let since_ms = self.since.get().elapsed().as_millis() as u64;
        ClientStatus { client: self.remote.to_string(), served: self.served.get(), since_ms }
    }

    /// The connection is over.
    pub fn left(&self) {
        if let Some(record) = &*self.record.borrow() {
            record.ending.set(Ending::Aborted);
        }
        self.log(Instant::now());
    }

    fn log(&self, now: Instant) {
        let (received, sent) = (self.received.take(), self.sent.take());
        if let Some(record) = self.record.take() {
            record.received_bytes.set(received);
            record.sent_bytes.set(sent);
            record.took.set(now.duration_since(record.started));
            record.finish();
        }
    }
}
