//! The front: the process that serves clients, with one or several threads (`threads`). It speaks HTTP, sends static
//! files, queues requests, submits them to workers and sends responses at each client's speed. It contains no Perl, and
//! trusts no bytes of clients or workers.
//!
//! ```text
//!   control ◀─▶ master           messages of the master; clock: timeouts and reports; scoreboard: status for workers
//!      │
//!   accept/                      listeners, PROXY headers, TLS or not, HTTP/1 or HTTP/2
//!   http1/   http2/              a connection: strict reading, frames and floods, its end
//!   tunnels/                     connections and streams that have switched protocols: bytes, or WebSocket messages
//!   request/                     one request: context, body, access, files, respond, pages
//!   generation                   one generation: its configuration, and the routes, pools and caches made from it
//!   routing/   workers/   cache/ routes of paths, .htaccess   │   the pool, exchanges, spools   │   stored responses
//!   limits/                      limits on connections
//!   client/                      the state of one connection: phases, timeouts, TLS session, bytes
//!   log/                         access logs, error logs
//!   failures/                    recordings of failed requests, for `cameleer replay`
//!   trace/                       the times of a request's parts, and their way to a collector (`TraceCollector`)
//!   base/                        shared state, addresses, refusals, threads
//! ```
//!
//! Start at `request::answer`: each request of HTTP/1 and HTTP/2 goes through it. `workers::scheduler` decides which
//! worker gets which request; `routing` decides which settings a path has.
//!
//! Each row uses the rows below it, never one above or beside it (`tests/walls/layers.txt`). Access to a higher row is
//! passed down as an argument, or as a trait of the lower row. `client::Pending` is a request as its client sees it.
//! `workers::Promised` is a response as its length check sees it. `request::context::Stream` is HTTP/2 as a request
//! sees it. Only this module has access to everything, as `Front`. The others share `base::shared::Shared` and, from
//! `request/` up, `Services`. A generation is below requests because they use it, and above routes and workers because
//! it owns them.
//!
//! The master handles signals: it starts this process with INT, TERM, HUP and USR1 ignored, and sends messages instead.

#![forbid(unsafe_code)]

mod clock;
mod control;
mod panics;
mod presence;
mod scoreboard;
mod shared_cache;
mod threads;
mod transport;

mod accept;

mod http1;
mod http2;

mod tunnels;

mod request;

mod generation;

mod cache;
mod routing;
mod workers;

mod limits;

mod failures;
mod trace;

mod client;

mod log;

mod base;

#[cfg(test)]
mod tests;

#[doc(hidden)] // for fuzz targets
pub use accept::{proxy_header, proxy_tlv};
pub use base::address::Address;
#[doc(hidden)]
pub use cache::control as cache_control;
#[doc(hidden)]
pub use http1::strict;
pub use panics::abort_on_panic;
#[doc(hidden)]
pub use request::context::forwarded;
#[doc(hidden)]
pub use request::files::range;
pub use request::managed::explain_redirect;
pub use request::rewrite::{ExplainedRequest, explain, with_conditions};
pub use routing::{Route, port_of, route_of};

use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::sync::Notify;
use wire::control::FromFront;

use accept::Acceptor;
use accept::listener::AcceptLoops;
use base::master::Master;
use base::shared::Shared;
use generation::Generations;
use request::services::{Common, Services};
use transport::BroadcastTransport;
use workers::Mailboxes;

use tls::Sessions;

/// Runs the front until the master stops it or ends. `control` is one end of [`wire::channel::pair`]; the process
/// `master` has the other.
pub fn run(control: OwnedFd, master: u32) -> anyhow::Result<()> {
    raise_descriptor_limit();
    sys::keep_some_freed_memory();
    threads::runtime()?.block_on(serve(control, master))
}

/// Serves until all requests are answered after `Stop`, or the master ends the front.
async fn serve(control: OwnedFd, master: u32) -> anyhow::Result<()> {
    let front = Rc::new(Front::new(Master::new(control)?, descriptors())?);
    let first = threads::first(&front);
    let clock = tokio::task::spawn_local(clock::run(front.clone()));
    let scoreboard = tokio::task::spawn_local(scoreboard::run(front.services.clone(), master));
    let presence = tokio::task::spawn_local(presence::run(front.services.clone(), master));
    let served = control::serve(&front).await;
    clock.abort();
    scoreboard.abort();
    presence.abort();
    first.abort();
    front.generations().flush_logs();
    served
}

/// Raises the soft limit on descriptors, often 1024, to the hard limit: a connection needs one, and so does its file.
fn raise_descriptor_limit() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// The process's limit on open files.
fn descriptors() -> u64 {
    getrlimit(Resource::RLIMIT_NOFILE).map_or(1024, |(soft, _)| soft)
}

/// Longest time before the end of GracefulShutdownTimeout in which WebSockets are closed at a stop; also in
/// `Cameleer::Event::Mojo::Server`.
const CLOSING: Duration = Duration::from_secs(2);

/// The front, as its first thread sees it. Lower layers get only the part that they need.
struct Front {
    /// State shared by all threads.
    common: Common,
    /// Services for requests of this thread.
    services: Rc<Services>,
    listeners: AcceptLoops,
    /// Distributes accepted connections; shared by all accept loops.
    acceptor: Rc<Acceptor>,
    /// Keys and sessions for TLS resumption.
    sessions: Sessions,
    /// Addresses of all threads.
    mailboxes: Mailboxes,
    /// Exchanges broadcast messages with other servers.
    transport: BroadcastTransport,
    /// Notified when all requests are answered after `Stop` and the master was informed.
    drained: Notify,
    said_drained: Cell<bool>,
}

impl Front {
    fn new(master: Master, descriptors: u64) -> anyhow::Result<Front> {
        let common = Common::new(Shared::new(master));
        let services = Rc::new(Services::new(&common, 0));
        Ok(Front {
            acceptor: Rc::new(Acceptor::new(services.clone(), descriptors)),
            common,
            services,
            listeners: AcceptLoops::default(),
            sessions: Sessions::new()?,
            mailboxes: Mailboxes::default(),
            transport: BroadcastTransport::default(),
            drained: Notify::new(),
            said_drained: Cell::new(false),
        })
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.common.shared
    }

    fn generations(&self) -> &Generations {
        &self.common.generations
    }

    /// Begins to stop: accepts only connections in the kernel's queues. Idle connections are closed unless a request is
    /// in flight, others after their response.
    fn stop(&self) {
        self.shared().stop();
        self.listeners.close();
        self.shared().broadcasts.end_held();
        self.common.connections.wake_all();
        self.shared().clock.start();
        self.close_websockets_later();
    }

    /// Has event workers close their WebSockets shortly before the end of GracefulShutdownTimeout. Before that, their
    /// requests go on.
    fn close_websockets_later(&self) {
        for generation in self.generations().all() {
            let graceful = generation.config.timeouts.graceful;
            for pool in generation.pools.iter().filter(|pool| pool.is_event() && !graceful.is_zero()) {
                let (pool, wait) = (pool.clone(), graceful - (graceful / 3).min(CLOSING));
                tokio::task::spawn_local(async move {
                    tokio::time::sleep(wait).await;
                    pool.close_websockets();
                });
            }
        }
    }

    /// Whether there are no connections and no requests.
    fn is_quiet(&self) -> bool {
        self.common.connections.count() == 0 && self.acceptor.is_quiet() && self.generations().are_quiet()
    }

    /// Notifies the master once everything is answered. Returns whether it is.
    fn report_drained(&self) -> bool {
        let quiet = self.is_quiet() && self.listeners.are_closed();
        if quiet && !self.said_drained.replace(true) {
            self.generations().flush_logs();
            self.shared().master.send(FromFront::Drained);
            self.drained.notify_one();
        }
        quiet
    }
}
