//! The connection of one client: addresses, phase, and byte counts.
//!
//! ```text
//!   Fresh ──first byte──▶ Head ──head whole──▶ Request ──answer flushed──▶ Kept ──first byte──▶ Head …
//! ```

pub mod copy_both;
mod departure;
pub mod last_call;
pub mod registry;
pub mod socket;
pub mod timeouts;
pub mod tls_session;
mod traffic;
pub mod transport;
pub mod tunnel;

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::Context;
use std::time::{Duration, Instant};

use super::base::address::Address;
use super::base::shared::Shared;
use super::log::error_logs::ErrorLogs;
use base::log::Subject;
use config::{Config, KeepAlive, ReceivePace};
use registry::ConnectionEntry;
use tls_session::{Security, Session};
use traffic::ClientTraffic;
use tunnel::Tunnel;

/// Phase of a connection; see the diagram above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionPhase {
    /// No byte was received yet.
    Fresh,
    /// A head is partly received.
    Head,
    /// A request is being answered.
    Request,
    /// The connection waits for another request.
    Kept,
}

/// The pending request of a connection.
pub trait Pending {
    /// Called when the response was sent as far as it will be; with the bytes received and sent for this request.
    fn flushed(self: Rc<Self>, received: u64, sent: u64, now: Instant);

    /// Called when the client does not get its whole response.
    fn cut(&self);

    /// Called when the client sends no more bytes. Returns whether the client still gets the response.
    fn hang_up(&self) -> bool;

    /// Whether a backend answers. Such a request ends when its client sends no more bytes.
    fn is_at_backend(&self) -> bool;
}

/// Settings of a connection, from the generation that served when it was made.
pub struct ConnectionTerms {
    /// The configuration in force when the connection was accepted.
    pub config: Arc<Config>,
    pub error_logs: Arc<ErrorLogs>,
    /// The shortest `KeepAliveTimeout` or `Timeout` of all hosts.
    pub shortest_wait: Duration,
}

pub struct Client {
    /// State shared by all parts of the front.
    pub shared: Arc<Shared>,
    /// The configuration at the time of the connection.
    pub config: Arc<Config>,
    error_logs: Arc<ErrorLogs>,
    /// The shortest `KeepAliveTimeout` or `Timeout` of all hosts.
    shortest_wait: Duration,
    pub remote: Address,
    pub local: Address,
    /// Address of the balancer whose PROXY header has named `remote`.
    balancer: Option<IpAddr>,
    /// Variables of programs that a PROXY header names.
    pub proxy_variables: Vec<(&'static str, String)>,
    /// Number of answered requests.
    pub served: Cell<u32>,
    /// An interim response (103), which the stream sends before the next response begins.
    pub interim: RefCell<Vec<u8>>,
    /// TLS state of the connection.
    pub security: Security,
    /// Number of running requests on a multiplexed connection (HTTP/2); `None` for HTTP/1.
    streams: Cell<Option<u32>>,
    /// `RequestReadTimeout` for heads, of the first host of the address, because the request's own host is not known
    /// yet.
    head_pace: ReceivePace,
    phase: Cell<ConnectionPhase>,
    since: Cell<Instant>,
    traffic: ClientTraffic,
    /// The part that other threads see.
    entry: Arc<ConnectionEntry>,
    /// A whole response was passed to hyper and is not flushed yet.
    answered: Cell<bool>,
    /// See [`Client::close`].
    close: Cell<bool>,
    /// See [`Client::set_open_ended`].
    open_ended: Cell<bool>,
    /// `KeepAlive` of the last request's host; initially of the address's first host.
    keep_alive: Cell<KeepAlive>,
    /// `Timeout` of the last request's host; initially the server's.
    pub timeout: Cell<Duration>,
    /// Set when the connection is about to switch protocols.
    tunnel: RefCell<Option<Tunnel>>,
    /// Whether the last request ends with its tunnel, and not with its response.
    tunnels: Cell<bool>,
    /// See [`Client::has_hung_up`].
    hung_up: Cell<bool>,
    /// See [`Client::is_uploading`].
    uploading: Cell<bool>,
    /// The last request on an HTTP/1 connection.
    awaited: RefCell<Option<Weak<dyn Pending>>>,
    /// The request whose response is being flushed.
    flushing: RefCell<Option<Rc<dyn Pending>>>,
}

impl Client {
    /// Creates the state of a new connection.
    pub fn new(shared: Arc<Shared>, terms: ConnectionTerms, remote: Address, local: Address) -> Client {
        let ConnectionTerms { config, error_logs, shortest_wait } = terms;
        let host = config.hosts.get(usize::from(config.host(local.socket, "")));
        let head_pace = host.and_then(|host| host.read_timeouts.header).unwrap_or_default();
        let keep_alive = Cell::new(host.map(|host| host.keep_alive).unwrap_or_default());
        let timeout = Cell::new(config.timeouts.client);
        let now = Instant::now();
        Client {
            shared,
            config,
            error_logs,
            shortest_wait,
            entry: Arc::new(ConnectionEntry::new(remote.clone())),
            remote,
            local,
            balancer: None,
            proxy_variables: Vec::new(),
            served: Cell::new(0),
            interim: RefCell::default(),
            security: Security::default(),
            streams: Cell::new(None),
            head_pace,
            phase: Cell::new(ConnectionPhase::Fresh),
            since: Cell::new(now),
            traffic: ClientTraffic::new(now),
            answered: Cell::new(false),
            close: Cell::new(false),
            open_ended: Cell::new(false),
            keep_alive,
            timeout,
            tunnel: RefCell::default(),
            tunnels: Cell::new(false),
            hung_up: Cell::new(false),
            uploading: Cell::new(false),
            awaited: RefCell::default(),
            flushing: RefCell::default(),
        }
    }

    /// The address that has connected: the client's, or that of the balancer with its PROXY header.
    pub fn peer(&self) -> IpAddr {
        self.balancer.unwrap_or_else(|| self.remote.ip_addr())
    }

    /// Sets the address that a PROXY header names.
    pub fn set_remote(&mut self, remote: Address) {
        self.balancer = Some(self.peer());
        self.entry = Arc::new(ConnectionEntry::new(remote.clone()));
        self.remote = remote;
    }

    /// Counts `n` received bytes.
    pub fn received(&self, n: usize) {
        let now = Instant::now();
        self.traffic.receive(n, now);
        match self.phase.get() {
            _ if self.streams.get().is_some() => {}
            // The timeout of the first head began with the connection, so the phase's start is unchanged.
            ConnectionPhase::Fresh => self.phase.set(ConnectionPhase::Head),
            ConnectionPhase::Kept => self.enter(ConnectionPhase::Head, now),
            ConnectionPhase::Head | ConnectionPhase::Request => {}
        }
    }

    /// Counts `n` sent bytes.
    pub fn sent(&self, n: usize) {
        self.traffic.send(n);
    }

    /// Notes that the socket accepts no more bytes for now.
    pub fn note_stalled(&self) {
        self.traffic.stall();
    }

    fn enter(&self, phase: ConnectionPhase, now: Instant) {
        match phase {
            ConnectionPhase::Kept => self.entry.is_kept_since(self.served.get(), now),
            ConnectionPhase::Fresh | ConnectionPhase::Head | ConnectionPhase::Request if self.is_kept() => {
                self.entry.is_busy()
            }
            ConnectionPhase::Fresh | ConnectionPhase::Head | ConnectionPhase::Request => {}
        }
        self.phase.set(phase);
        self.since.set(now);
        self.uploading.set(false);
    }

    /// Notes that the head of `request` is complete.
    pub fn note_request(&self, request: Weak<dyn Pending>, now: Instant) {
        if let Some(streams) = self.streams.get() {
            self.streams.set(Some(streams + 1));
            return self.enter(ConnectionPhase::Request, now);
        }
        // With pipelining, the previous response may still wait to be flushed.
        self.flushed();
        *self.awaited.borrow_mut() = Some(request);
        self.enter(ConnectionPhase::Request, now);
    }

    /// Notes that the response to `request` was handed over, or was given up. On HTTP/2, each stream reports by itself
    /// when its response was sent.
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
            self.enter(ConnectionPhase::Kept, Instant::now());
        }
    }

    /// Marks the connection as multiplexed (HTTP/2).
    pub fn set_multiplexed(&self) {
        self.streams.set(Some(0));
    }

    /// Minimum pace of a handshake or a head.
    pub(super) fn pace(&self) -> ReceivePace {
        self.security.pace().unwrap_or(self.head_pace)
    }

    /// Notes the end of the TLS handshake; the timeout of the first head begins.
    pub fn secured(&self, session: Session) {
        self.security.agree(session);
        self.enter(ConnectionPhase::Fresh, Instant::now());
    }

    /// The TLS session, if the client uses TLS.
    pub fn session(&self) -> Option<&Session> {
        self.security.session()
    }

    /// Whether `requests` requests were answered, and the last response was flushed.
    pub fn has_answered(&self, requests: u32) -> bool {
        self.served.get() == requests && !self.answered.get()
    }

    /// Lets no further request follow, because the response differs from its Content-Length.
    pub fn close(&self) {
        self.close.set(true);
    }

    /// Whether the connection ends after the current response.
    pub fn must_close(&self) -> bool {
        self.close.get()
    }

    /// Notes that the current body ends with the connection. If it is truncated, only a reset shows that to the client.
    pub fn set_open_ended(&self) {
        self.open_ended.set(true);
    }

    /// Whether [`Client::set_open_ended`] was called.
    pub fn is_open_ended(&self) -> bool {
        self.open_ended.get()
    }

    /// Writes a mistake of the client to the error log.
    pub fn log_error(&self, why: &str) {
        self.error_logs.error(0, &Subject::of_client(&self.remote), &why);
    }

    /// Bytes received and sent in all.
    pub fn moved(&self) -> u64 {
        self.traffic.moved()
    }

    /// Notes that the connection switches protocols after the next response. The request ends with the tunnel.
    pub fn will_tunnel(&self, tunnel: Tunnel) {
        *self.tunnel.borrow_mut() = Some(tunnel);
        self.tunnels.set(true);
    }

    /// The tunnel, if the connection has switched protocols.
    pub fn take_tunnel(&self) -> Option<Tunnel> {
        self.tunnel.take()
    }

    /// Notes the end of the tunnel, and so of its request.
    pub fn tunnel_ended(&self) {
        self.tunnels.set(false);
        self.flushed();
    }

    /// Notes that hyper has flushed everything.
    pub fn flushed(&self) {
        if self.tunnels.get() {
            return;
        }
        if self.answered.replace(false) {
            let now = Instant::now();
            self.enter(ConnectionPhase::Kept, now);
            self.log(now);
        }
    }

    /// Whether the connection waits for another request.
    pub fn is_kept(&self) -> bool {
        self.phase.get() == ConnectionPhase::Kept
    }

    /// Whether no byte of the next request, or of the first one, was received.
    pub fn waits_for_a_request(&self) -> bool {
        matches!(self.phase.get(), ConnectionPhase::Fresh | ConnectionPhase::Kept)
    }

    /// Whether the connection is to be closed as soon as it is idle, to make room for another.
    pub fn is_evicted(&self) -> bool {
        self.entry.is_evicted()
    }

    /// The part that other threads see.
    pub fn entry(&self) -> &Arc<ConnectionEntry> {
        &self.entry
    }

    pub(super) fn phase(&self) -> ConnectionPhase {
        self.phase.get()
    }

    /// When the phase began.
    pub(super) fn since(&self) -> Instant {
        self.since.get()
    }

    pub(super) fn traffic(&self) -> &ClientTraffic {
        &self.traffic
    }

    /// `KeepAlive` settings for the next request.
    pub(super) fn keep_alive(&self) -> KeepAlive {
        self.keep_alive.get()
    }

    /// Notes the end of the connection.
    pub fn left(&self) {
        if let Some(request) = &*self.flushing.borrow() {
            request.cut();
        }
        self.log(Instant::now());
    }

    fn log(&self, now: Instant) {
        let (received, sent) = self.traffic.take();
        if let Some(request) = self.flushing.take() {
            request.flushed(received, sent, now);
        }
    }

    /// Stores the task's waker; it does not change, so storing it once is enough.
    pub fn remember(&self, cx: &Context<'_>) {
        self.entry.remember(cx.waker());
    }

    /// Wakes the connection's task.
    pub fn wake(&self) {
        self.entry.wake();
    }
}
