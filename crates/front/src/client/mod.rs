//! One client's connection as everything else sees it: who it is, where it is in its life, what went over it.
//!
//! ```text
//!   Fresh ──first byte──▶ Head ──head whole──▶ Request ──answer flushed──▶ Kept ──first byte──▶ Head …
//! ```

pub mod last_call;
pub mod registry;
pub mod socket;
pub mod timeouts;
pub mod tls_session;
pub mod transport;

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::Context;
use std::time::{Duration, Instant};

use super::base::address::Address;
use super::base::shared::Shared;
use super::log::error_logs::ErrorLogs;
use base::log::Subject;
use config::{Config, KeepAlive, Pace, Timeouts};
use registry::Entry;
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

/// A request of the client, as its connection sees it.
pub trait Pending {
    /// The answer has gone out as far as it ever will; so many bytes were received and sent for this request.
    fn flushed(self: Rc<Self>, received: u64, sent: u64, now: Instant);

    /// The client does not get all of its answer.
    fn cut(&self);

    /// The client sends nothing more. Says whether it is to be sent the answer all the same.
    fn hang_up(&self) -> bool;
}

/// What holds for a client from the generation that served when it connected.
pub struct Terms {
    /// What is configured.
    pub config: Arc<Config>,
    /// Where mistakes of clients are logged.
    pub error_logs: Arc<ErrorLogs>,
    /// The shortest `KeepAliveTimeout` of all hosts.
    pub shortest_keep_alive: Duration,
}

pub struct Client {
    /// What all parts of the front share.
    pub shared: Arc<Shared>,
    /// What was configured when it connected.
    pub config: Arc<Config>,
    /// Where its mistakes are logged.
    error_logs: Arc<ErrorLogs>,
    /// The shortest `KeepAliveTimeout` of all hosts.
    shortest_keep_alive: Duration,
    /// The client's end.
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
    /// How slowly the head of a request may come, by the first host of the address: the request's own is not known yet.
    head_pace: Pace,
    phase: Cell<Phase>,
    since: Cell<Instant>,
    /// When bytes last came.
    heard: Cell<Instant>,
    /// What other threads see of it.
    entry: Arc<Entry>,
    /// Since when it accepts no bytes.
    stalled: Cell<Option<Instant>>,
    /// An answer was handed to hyper whole, and is not flushed yet.
    answered: Cell<bool>,
    /// See [`Client::close`].
    close: Cell<bool>,
    /// See [`Client::reads_to_the_end`].
    open_ended: Cell<bool>,
    /// `KeepAlive` of the host of the last request; before there was one, of the first host of the address.
    keep_alive: Cell<KeepAlive>,
    /// Bytes received that are not counted for a request yet.
    received: Cell<u64>,
    /// Bytes sent that are not counted for a request yet.
    sent: Cell<u64>,
    /// The request that it has sent last, when its connection carries one at a time.
    awaited: RefCell<Option<Weak<dyn Pending>>>,
    /// The request whose answer is being flushed.
    flushing: RefCell<Option<Rc<dyn Pending>>>,
}

impl Client {
    /// A client that has just connected.
    pub fn new(shared: Arc<Shared>, terms: Terms, remote: Address, local: Address) -> Client {
        let Terms { config, error_logs, shortest_keep_alive } = terms;
        let host = config.hosts.get(usize::from(config.host(local.socket, "")));
        let head_pace = host.and_then(|host| host.read_timeouts.header).unwrap_or_default();
        let keep_alive = Cell::new(host.map(|host| host.keep_alive).unwrap_or_default());
        let now = Instant::now();
        Client {
            shared,
            config,
            error_logs,
            shortest_keep_alive,
            entry: Arc::new(Entry::new(remote.clone())),
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
            stalled: Cell::new(None),
            answered: Cell::new(false),
            close: Cell::new(false),
            open_ended: Cell::new(false),
            keep_alive,
            received: Cell::new(0),
            sent: Cell::new(0),
            awaited: RefCell::default(),
            flushing: RefCell::default(),
        }
    }

    /// Who it is, when a proxy has named it.
    pub fn is_really(&mut self, remote: Address) {
        self.entry = Arc::new(Entry::new(remote.clone()));
        self.remote = remote;
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
        match phase {
            Phase::Kept => self.entry.is_kept_since(self.served.get(), now),
            Phase::Fresh | Phase::Head | Phase::Request if self.is_kept() => self.entry.is_busy(),
            Phase::Fresh | Phase::Head | Phase::Request => {}
        }
        self.phase.set(phase);
        self.since.set(now);
    }

    /// The head of `request` is whole.
    pub fn begins(&self, request: Weak<dyn Pending>, now: Instant) {
        if let Some(streams) = self.streams.get() {
            self.streams.set(Some(streams + 1));
            return self.enter(Phase::Request, now);
        }
        // With pipelined requests the last answer may still wait to be flushed.
        self.flushed();
        *self.awaited.borrow_mut() = Some(request);
        self.enter(Phase::Request, now);
    }

    /// The answer to `request` was handed over whole, or will never be. When the connection carries several at once, somebody
    /// else says when it has gone out.
    pub fn answered(&self, request: Rc<dyn Pending>, keep_alive: KeepAlive) {
        self.served.set(self.served.get() + 1);
        self.keep_alive.set(keep_alive);
        match self.streams.get() {
            Some(streams) => self.leave_stream(streams.saturating_sub(1)),
            None => {
                *self.flushing.borrow_mut() = Some(request);
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

    /// How slowly a handshake or a head may come.
    pub(super) fn pace(&self) -> Pace {
        self.security.pace().unwrap_or(self.head_pace)
    }

    /// The TLS handshake is over: the first head is waited for from now on.
    pub fn secured(&self, session: Session) {
        self.security.agree(session);
        self.enter(Phase::Fresh, Instant::now());
    }

    /// The TLS session, if the client speaks TLS.
    pub fn session(&self) -> Option<&Session> {
        self.security.session()
    }

    /// Whether so many requests were answered, and the last answer has gone out.
    pub fn has_answered(&self, requests: u32) -> bool {
        self.served.get() == requests && !self.answered.get()
    }

    /// The client has ended its half while it waits for an answer. Says whether it is to be sent the answer all the same.
    pub fn hangs_up(&self) -> bool {
        let awaited = self.awaited.borrow().as_ref().and_then(Weak::upgrade);
        awaited.is_none_or(|request| request.hang_up())
    }

    /// The answer is longer or shorter than it says: no further request may follow on this connection.
    pub fn close(&self) {
        self.close.set(true);
    }

    /// Whether the connection ends with the answer that is on its way.
    pub fn must_close(&self) -> bool {
        self.close.get()
    }

    /// The body on its way has no length and ends with the connection. If it breaks off, only a reset can tell the client.
    pub fn reads_to_the_end(&self) {
        self.open_ended.set(true);
    }

    /// Whether [`Client::reads_to_the_end`] was called.
    pub fn is_open_ended(&self) -> bool {
        self.open_ended.get()
    }

    /// Writes what the client did wrong to the error log.
    pub fn complain(&self, why: &str) {
        self.error_logs.error(0, &Subject::of_client(&self.remote), &why);
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

    /// Whether nothing of the next request has come, be it the first one.
    pub fn waits_for_a_request(&self) -> bool {
        matches!(self.phase.get(), Phase::Fresh | Phase::Kept)
    }

    /// Whether the connection is to be closed for another one, as soon as it is idle.
    pub fn is_evicted(&self) -> bool {
        self.entry.is_evicted()
    }

    /// What other threads see of it.
    pub fn entry(&self) -> &Arc<Entry> {
        &self.entry
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

    /// Bytes received of the request that is on its way.
    pub(super) fn received_bytes(&self) -> u64 {
        self.received.get()
    }

    /// How long the next request is waited for.
    pub(super) fn keep_alive(&self) -> KeepAlive {
        self.keep_alive.get()
    }

    pub(super) fn timeouts(&self) -> &Timeouts {
        &self.config.timeouts
    }

    /// The connection is over.
    pub fn left(&self) {
        if let Some(request) = &*self.flushing.borrow() {
            request.cut();
        }
        self.log(Instant::now());
    }

    fn log(&self, now: Instant) {
        let (received, sent) = (self.received.take(), self.sent.take());
        if let Some(request) = self.flushing.take() {
            request.flushed(received, sent, now);
        }
    }

    /// Notes how to wake its task; a task's waker stays the same, so once is enough.
    pub fn remember(&self, cx: &Context<'_>) {
        self.entry.remember(cx.waker());
    }

    /// Lets its connection look again at what it should do.
    pub fn wake(&self) {
        self.entry.wake();
    }
}
