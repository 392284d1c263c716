//! The worker of an event pool: Perl runs an event loop, which watches the packet socket and the streams that come
//! over it.
//!
//! ```text
//!   front ── Stream + socket ──▶ orders() ──▶ Cameleer::Event: an HTTP/1.1 connection of the loop
//!         ── Leave ────────────▶ orders() ──▶ the loop ends with its last stream
//! ```

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, AsRawFd, IntoRawFd, RawFd};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use apache::{EventOrders, EventPort};
use libperl::Interrupted;
use wire::broadcast::cost;
use wire::reply::{LeaveReason, Reply};
use wire::transport::Inbound;

use crate::broadcast::Broadcast;
use crate::inspection::{self, LoopFacts};
use crate::memory_limit::{FIRST_REQUESTS, MemoryLimit, TooLarge};
use crate::site::Site;
use crate::{Port, WorkerIdentity};
use base::log;

/// The packet socket as the event loop sees it.
struct LoopPort {
    site: Rc<Site>,
    port: Port,
    broadcast: Rc<Broadcast>,
    /// Time from fork to ready, in µs.
    fork_us: u32,
    slot: u32,
    /// The front has ended.
    is_over: Cell<bool>,
    leaves: Cell<bool>,
    /// The server stops soon.
    closes_websockets: Cell<bool>,
    requests: Cell<u64>,
    /// Number of calls of the application, for requests and for messages of their WebSockets.
    calls: Cell<u64>,
    memory: RefCell<MemoryLimit>,
    /// Why the worker must leave. The front gets it until it orders that: it does nothing for a worker that it does not
    /// know to be ready.
    wants_to_leave: Cell<Option<LeaveReason>>,
    /// Cost of the broadcast messages that the front does not know to have arrived.
    unconfirmed: Cell<usize>,
    /// Why the socket cannot be used any more.
    failed: RefCell<Option<io::Error>>,
}

/// Runs the event loop of the loaded application until the front orders the worker to exit.
pub fn run(
    site: &Rc<Site>,
    port: &Port,
    identity: WorkerIdentity,
    broadcast: &Rc<Broadcast>,
    memory: MemoryLimit,
) -> io::Result<()> {
    let fork_us = identity.forked.elapsed().as_micros().min(u128::from(u32::MAX)) as u32;
    let own = Rc::new(LoopPort {
        site: site.clone(),
        port: port.clone(),
        broadcast: broadcast.clone(),
        fork_us,
        slot: identity.slot,
        is_over: Cell::new(false),
        leaves: Cell::new(false),
        closes_websockets: Cell::new(false),
        requests: Cell::new(0),
        calls: Cell::new(0),
        memory: memory.into(),
        wants_to_leave: Cell::new(None),
        unconfirmed: Cell::new(0),
        failed: RefCell::new(None),
    });
    libperl::loop_socket(own.port.borrow().as_fd());
    apache::event_port_is(own.clone());
    site.perl.stdout_is_log(true);
    let graceful = site.config.timeouts.graceful.as_secs_f64();
    let start = site.config.timeouts.start.as_secs_f64();
    let ended = site.perl.call(c"Cameleer::Event::run", Some(&format!("{} {graceful} {start}", identity.slot)));
    site.calls.end_forked_child(ended.as_ref().err());
    libperl::request_is(0);
    libperl::activity_ends();
    if let Some(error) = own.failed.take() {
        return Err(error);
    }
    match ended {
        Ok(()) if own.leaves.get() => Ok(()),
        Ok(()) => Err(io::Error::other("the event loop has ended: an application stopped it")),
        Err(Interrupted::Exited(code)) => Err(io::Error::other(format!("the application called exit({code})"))),
        Err(error) => Err(io::Error::other(error.to_string())),
    }
}

impl EventPort for LoopPort {
    fn descriptor(&self) -> RawFd {
        self.port.borrow().as_fd().as_raw_fd()
    }

    fn orders(&self) -> EventOrders {
        // The loop goes on in a child whose code has returned or died: its sockets are readable.
        self.site.calls.end_forked_child(None);
        // From here on, the signal of an earlier turn does nothing.
        libperl::request_is(self.port.borrow().begin_turn());
        let mut orders = EventOrders::default();
        if let Err(error) = self.receive(&mut orders) {
            self.failed.replace(Some(error));
            self.end();
        }
        // Further messages come only then, so a publisher cannot occupy the loop.
        self.broadcast.taken(self.unconfirmed.take());
        (orders.leave, orders.is_over) = (self.leaves.get(), self.is_over.get());
        orders.closes_websockets = self.closes_websockets.take();
        orders
    }

    fn ready(&self) {
        if let Err(error) = self.port.borrow_mut().send_reply(&Reply::Ready { fork_us: self.fork_us }) {
            log::error("perl", format_args!("cannot report that the worker is ready: {error}"));
        }
    }

    fn begins(&self, texts: [&[u8]; 4], is_more: bool) {
        self.requests.set(self.requests.get() + u64::from(!is_more));
        self.calls.set(self.calls.get() + 1);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        libperl::activity_begins(self.calls.get(), now.as_micros() as u64, texts);
    }

    fn ends(&self) {
        libperl::activity_ends();
    }

    fn tick(&self) {
        // As in `orders`, for loops that forget their sockets in a child.
        self.site.calls.end_forked_child(None);
        if self.leaves.get() {
            return;
        }
        if let Some(reason) = self.wants_to_leave.get() {
            return self.ask_to_leave(reason);
        }
        let mut memory = self.memory.borrow_mut();
        let exceeded = memory.look().and_then(|has| memory.is_exceeded_by(has));
        let Some(TooLarge { grown, directive }) = exceeded else { return };
        let grown = grown as f64 / f64::from(1 << 20);
        let requests = self.requests.get();
        log::notice(
            "perl",
            format_args!(
                "worker={} exits after its requests: +{grown:.1} MB since the fork, {requests} requests ({directive})",
                self.slot
            ),
        );
        let reason = if requests < FIRST_REQUESTS { LeaveReason::MemoryAtOnce } else { LeaveReason::Memory };
        self.wants_to_leave.set(Some(reason));
        self.ask_to_leave(reason);
    }
}

impl LoopPort {
    /// Fails only if the front has ended.
    fn ask_to_leave(&self, reason: LeaveReason) {
        let _ = self.port.borrow_mut().send_reply(&Reply::Leaves(reason));
    }

    /// Handles the end of the socket.
    fn end(&self) {
        self.leaves.set(true);
        self.is_over.set(true);
    }

    fn receive(&self, orders: &mut EventOrders) -> io::Result<()> {
        loop {
            let received = self.port.borrow_mut().next_if_there()?;
            match received {
                Some(None) => return Ok(()),
                Some(Some(inbound)) => self.execute(inbound, orders)?,
                None => {
                    self.end();
                    return Ok(());
                }
            }
        }
    }

    fn execute(&self, inbound: Inbound, orders: &mut EventOrders) -> io::Result<()> {
        match inbound {
            Inbound::Stream(socket) => {
                libperl::loop_socket(socket.as_fd());
                orders.streams.push(socket.into_raw_fd());
            }
            // A worker with connections cannot become a mold: without its channel the master gives that up.
            Inbound::Leave | Inbound::Promote(_) => self.leaves.set(true),
            Inbound::Inspect { what, into, done, with } => {
                inspection::report(&self.site, LoopFacts::default(), what, into, with);
                drop(done);
            }
            Inbound::Bells(bells) => {
                let mut port = self.port.borrow_mut();
                port.take_bells(bells)?;
                libperl::keep_from_children(port.fds());
            }
            Inbound::CloseWebSockets => self.closes_websockets.set(true),
            Inbound::Greet => {
                // The new front waits for no confirmation of what the earlier one has sent.
                self.unconfirmed.set(0);
                // Nor does it know that the worker must leave; the next tick says so again.
                self.wants_to_leave.set(None);
                self.port.borrow_mut().send_reply(&Reply::Greeted { fork_us: self.fork_us })?;
                self.broadcast.repeat()?;
            }
            Inbound::Broadcast(message) => {
                self.unconfirmed.set(self.unconfirmed.get() + cost(message.len()));
                orders.messages.push(message);
            }
            Inbound::Logs { first, logs } => {
                for (number, log) in (first..).zip(logs) {
                    self.site.error_logs.borrow_mut().renew(number, log)?;
                }
                if first == 0 {
                    self.site.perl.stderr_is_log();
                }
            }
            // The front sends an event worker no request.
            Inbound::Request(..) => return Err(io::Error::other("a request outside of a stream")),
            Inbound::Abandoned(_) | Inbound::HungUp(_) | Inbound::Bell => {}
        }
        Ok(())
    }
}
