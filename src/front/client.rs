//! One client's connection as everything else sees it: who it is, where it is in its life, what went over it.
//!
//! ```text
//!   Fresh ──first byte──▶ Head ──head whole──▶ Request ──answer flushed──▶ Kept ──first byte──▶ Head …
//! ```

use std::cell::{Cell, OnceCell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use wire::control::ClientStatus;

use super::Front;
use super::record::{Ending, Record};
use super::session::Session;
use super::site::Site;
use crate::config::Timeouts;

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

/// What to do about a client that was too slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overdue {
    /// It uses its right to keep quiet for too long: close in order.
    Idle,
    /// It stopped in the middle: give it up.
    Stalled,
}

/// An end of the connection.
#[derive(Debug, Clone)]
pub struct Address {
    /// As text, without port.
    pub ip: String,
    /// 0 for a unix socket.
    pub port: u16,
    /// `None` for a unix socket.
    pub socket: Option<SocketAddr>,
}

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
    /// What was agreed on, when it came by TLS.
    session: OnceCell<Session>,
    /// It speaks without TLS where TLS is spoken.
    lost: Cell<bool>,
    /// Requests under way, when the connection carries several at once.
    streams: Cell<Option<u32>>,
    phase: Cell<Phase>,
    since: Cell<Instant>,
    /// Since when it accepts no bytes.
    stalled: Cell<Option<Instant>>,
    /// The answer was handed to hyper whole.
    answered: Cell<bool>,
    /// Received and not yet counted for a request.
    received: Cell<u64>,
    /// Sent and not yet counted for a request.
    sent: Cell<u64>,
    /// The record of the request whose answer is being flushed.
    record: RefCell<Option<Rc<Record>>>,
}

impl Address {
    /// Of a TCP connection.
    pub fn tcp(mut socket: SocketAddr) -> Address {
        socket.set_ip(socket.ip().to_canonical());
        Address { ip: socket.ip().to_string(), port: socket.port(), socket: Some(socket) }
    }

    /// Of a unix socket: whoever is there is on this host.
    pub fn unix() -> Address {
        Address { ip: "127.0.0.1".to_owned(), port: 0, socket: None }
    }
}

/// How lines about a client of a unix socket name it.
const UNIX: &str = "unix:";

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.socket {
            Some(_) => write!(f, "{}:{}", self.ip, self.port),
            None => f.write_str(UNIX),
        }
    }
}

impl Client {
    /// A client that has just connected.
    pub fn new(front: Rc<Front>, site: Rc<Site>, remote: Address, local: Address) -> Client {
        Client {
            front,
            site,
            remote,
            local,
            served: Cell::new(0),
            interim: RefCell::default(),
            session: OnceCell::new(),
            lost: Cell::new(false),
            streams: Cell::new(None),
            phase: Cell::new(Phase::Fresh),
            since: Cell::new(Instant::now()),
            stalled: Cell::new(None),
            answered: Cell::new(false),
            received: Cell::new(0),
            sent: Cell::new(0),
            record: RefCell::new(None),
        }
    }

    /// `n` bytes came from it.
    pub fn received(&self, n: usize) {
        self.received.set(self.received.get() + n as u64);
        if self.streams.get().is_none() && matches!(self.phase.get(), Phase::Fresh | Phase::Kept) {
            self.enter(Phase::Head, Instant::now());
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
        self.enter(Phase::Request, now);
    }

    /// The answer was handed to hyper whole, or will never be.
    pub fn answered(&self, record: Rc<Record>) {
        self.served.set(self.served.get() + 1);
        *self.record.borrow_mut() = Some(record);
        match self.streams.get() {
            None => self.answered.set(true),
            Some(streams) => self.leave_stream(streams.saturating_sub(1)),
        }
    }

    fn leave_stream(&self, others: u32) {
        let now = Instant::now();
        self.streams.set(Some(others));
        if others == 0 {
            self.enter(Phase::Kept, now);
        }
        self.log(now);
    }

    /// From now on it may have several requests under way.
    pub fn multiplexes(&self) {
        self.streams.set(Some(0));
    }

    /// It speaks TLS.
    pub fn secured(&self, session: Session) {
        // There is one handshake a connection.
        let _ = self.session.set(session);
    }

    /// What was agreed on, when it came by TLS.
    pub fn session(&self) -> Option<&Session> {
        self.session.get()
    }

    /// It speaks in the open where TLS is spoken.
    pub fn lost_its_way(&self) {
        self.lost.set(true);
    }

    /// Whether it does.
    pub fn is_lost(&self) -> bool {
        self.lost.get()
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

    /// Whether it was too slow, and otherwise when to look again.
    pub fn overdue(&self, now: Instant, timeouts: &Timeouts) -> Result<Instant, Overdue> {
        let (from, limit, verdict) = match (self.stalled.get(), self.phase.get()) {
            (Some(since), _) => (since, timeouts.client, Overdue::Stalled),
            (None, Phase::Kept) => (self.since.get(), timeouts.keep_alive, Overdue::Idle),
            (None, Phase::Fresh | Phase::Head) => (self.since.get(), timeouts.client, Overdue::Stalled),
            (None, Phase::Request) => return Ok(now + look_again(timeouts)),
        };
        match limit.saturating_sub(now.duration_since(from)) {
            Duration::ZERO => Err(verdict),
            left => Ok(now + left.min(look_again(timeouts))),
        }
    }
}

/// However long the limits are.
const LONGEST_LOOK: Duration = Duration::from_secs(60);

/// A connection looks at the clock at least this often, so that a shorter limit that begins meanwhile is not missed.
pub fn look_again(timeouts: &Timeouts) -> Duration {
    timeouts.keep_alive.min(timeouts.client).clamp(Duration::from_millis(50), LONGEST_LOOK)
}
