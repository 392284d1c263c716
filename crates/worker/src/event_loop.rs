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

use apache::{EventOrders, EventPort};
use libperl::Interrupted;
use wire::reply::Reply;
use wire::transport::Inbound;

use crate::growth::Growth;
use crate::site::Site;
use crate::{Port, WorkerIdentity, inspection};
use base::log;

/// The packet socket as the event loop sees it.
struct LoopPort {
    site: Rc<Site>,
    port: Port,
    /// Time from fork to ready, in µs.
    fork_us: u32,
    leaves: Cell<bool>,
    /// Why the socket cannot be used any more.
    failed: RefCell<Option<io::Error>>,
}

/// Runs the event loop of the loaded application until the front orders the worker to exit.
pub fn run(site: &Rc<Site>, port: &Port, identity: WorkerIdentity) -> io::Result<()> {
    let fork_us = identity.forked.elapsed().as_micros().min(u128::from(u32::MAX)) as u32;
    let (leaves, failed) = (Cell::new(false), RefCell::new(None));
    let own = Rc::new(LoopPort { site: site.clone(), port: port.clone(), fork_us, leaves, failed });
    apache::event_port_is(own.clone());
    site.perl.stdout_is_log(true);
    let graceful = site.config.timeouts.graceful.as_secs_f64();
    let ended = site.perl.call(c"Cameleer::Event::run", Some(&format!("{} {graceful}", identity.slot)));
    site.calls.end_forked_child(ended.as_ref().err());
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
        let mut orders = EventOrders::default();
        if let Err(error) = self.receive(&mut orders) {
            self.failed.replace(Some(error));
            self.leaves.set(true);
        }
        orders.leave = self.leaves.get();
        orders
    }

    fn ready(&self) {
        if let Err(error) = self.port.borrow_mut().send_reply(&Reply::Ready { fork_us: self.fork_us }) {
            log::error("perl", format_args!("cannot report that the worker is ready: {error}"));
        }
    }
}

impl LoopPort {
    fn receive(&self, orders: &mut EventOrders) -> io::Result<()> {
        loop {
            let received = self.port.borrow_mut().next_if_there()?;
            match received {
                Some(None) => return Ok(()),
                Some(Some(inbound)) => self.execute(inbound, orders)?,
                None => {
                    self.leaves.set(true);
                    return Ok(());
                }
            }
        }
    }

    fn execute(&self, inbound: Inbound, orders: &mut EventOrders) -> io::Result<()> {
        match inbound {
            Inbound::Stream(socket) => orders.streams.push(socket.into_raw_fd()),
            // A worker with connections cannot become a mold: without its channel the master gives that up.
            Inbound::Leave | Inbound::Promote(_) => self.leaves.set(true),
            Inbound::Inspect { what, into, done, with } => {
                inspection::report(&self.site, &Growth::default(), what, into, with);
                drop(done);
            }
            Inbound::Bells(bells) => {
                let mut port = self.port.borrow_mut();
                port.take_bells(bells)?;
                libperl::keep_from_children(port.fds());
            }
            Inbound::Greet => self.port.borrow_mut().send_reply(&Reply::Greeted { fork_us: self.fork_us })?,
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
