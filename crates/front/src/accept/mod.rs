//! New connections: the client's address, the permit, and the protocol.

mod accepted;
mod backlog;
mod handover;
mod handshakes;
pub mod listener;
mod negotiate;
pub mod proxy_header;
mod proxy_protocol;
pub mod proxy_tlv;
mod slow_handshake;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use tokio::sync::mpsc::UnboundedSender;

use super::base::address::Address;
use super::client::socket::Socket;
use super::client::timeouts::patiently;
use super::client::{Client, ConnectionTerms};
use super::generation::{Generation, View};
use super::limits::connections::{ConnectionLimit, OtherDescriptors, Permit};
use super::request::services::{Connection, Services};
use super::{http1, http2};
use accepted::Accepted;
use base::log;
use negotiate::{Negotiated, negotiate};

/// Distributes accepted connections to threads; runs on the thread of the accept loops.
pub struct Acceptor {
    server: ConnectionServer,
    threads: RefCell<Vec<Thread>>,
    /// Number of threads that get new connections.
    used: Cell<usize>,
}

/// A thread that serves connections.
struct Thread {
    connections: Arc<AtomicUsize>,
    /// Channel to the thread; `None` for the current thread.
    way: Option<UnboundedSender<Handover>>,
}

/// A connection on its way to the thread that will serve it.
pub struct Handover {
    accepted: Accepted,
    permit: Permit,
    /// Whether the connection begins with a PROXY header.
    stands_for_others: bool,
}

/// Serves connections on its thread.
pub struct ConnectionServer {
    services: Rc<Services>,
    limit: Arc<ConnectionLimit>,
}

impl Acceptor {
    /// Creates an acceptor; `descriptors` is the process's limit on open files.
    pub fn new(services: Rc<Services>, descriptors: u64) -> Acceptor {
        let server = ConnectionServer { services, limit: Arc::new(ConnectionLimit::new(descriptors)) };
        let this = Thread { connections: Arc::default(), way: None };
        Acceptor { server, threads: RefCell::new(vec![this]), used: Cell::new(1) }
    }

    /// The limit on connections, shared with the servers of other threads.
    pub fn limit(&self) -> &Arc<ConnectionLimit> {
        &self.server.limit
    }

    /// Whether no thread has a connection, including those on their way to a thread.
    pub fn is_quiet(&self) -> bool {
        self.threads.borrow().iter().all(|thread| thread.connections.load(SeqCst) == 0)
    }

    /// Number of threads that serve connections.
    pub fn threads(&self) -> usize {
        self.threads.borrow().len()
    }

    pub fn add_thread(&self, way: UnboundedSender<Handover>) {
        self.threads.borrow_mut().push(Thread { connections: Arc::default(), way: Some(way) });
    }

    /// Assigns new connections to the first `count` threads only.
    pub fn use_threads(&self, count: usize) {
        self.used.set(count);
    }

    /// Hands a connection to a thread, or refuses its client when there is no permit.
    fn serve(&self, accepted: Accepted) {
        let server = &self.server;
        let Some(generation) = server.services.generations.serving() else { return };
        let (remote, local) = (&accepted.remote, &accepted.local);
        let stands_for_others = proxy_protocol::is_expected(&generation.config, remote, local);
        let Some(permit) = self.enter(&generation, (!stands_for_others).then_some(remote)) else {
            // Only an HTTP client understands the response that `turn_away` sends.
            let speaks_http = generation.config.host_of_connections(local.socket).is_none();
            let socket = accepted.stream.into_socket().ok().filter(|_| speaks_http);
            return socket.map_or((), |socket| server.limit.turn_away(socket));
        };
        self.hand_over(Handover { accepted, permit, stands_for_others });
    }

    /// Hands the connection to the thread with the fewest connections.
    fn hand_over(&self, mut handover: Handover) {
        let threads = self.threads.borrow();
        let used = threads.iter().take(self.used.get());
        let Some(thread) = used.min_by_key(|thread| thread.connections.load(SeqCst)) else { return };
        handover.permit.is_of(&thread.connections);
        match &thread.way {
            None => self.server.serve(handover),
            // A thread has ended only if the front ends, so a failed send is ignored.
            Some(way) => drop(way.send(handover)),
        }
    }

    /// Takes a permit for a new connection, if there is one.
    fn enter(&self, generation: &Generation, remote: Option<&Address>) -> Option<Permit> {
        let services = &self.server.services;
        let generations = services.generations.all().all();
        let logs = |generation: &Arc<Generation>| generation.config.logs.len() + generation.config.error_logs.len();
        let taken = OtherDescriptors {
            workers: generations
                .iter()
                .map(|generation| generation.pools.iter().map(|pool| pool.count()).sum::<usize>())
                .sum(),
            threads: self.threads(),
            logs: generations.iter().map(logs).sum::<usize>() + generation.config.listen.len(),
        };
        self.server.limit.enter(&generation.config.clients, remote, taken, &services.connections)
    }
}

impl ConnectionServer {
    /// Creates the server of the thread that owns `services`.
    pub fn new(services: Rc<Services>, limit: Arc<ConnectionLimit>) -> ConnectionServer {
        ConnectionServer { services, limit }
    }

    /// Spawns the task of a connection.
    pub fn serve(&self, handover: Handover) {
        let Handover { accepted: Accepted { stream, remote, local }, permit, stands_for_others } = handover;
        let Some(generation) = self.services.generations.serving() else { return };
        let socket = match stream.into_socket() {
            Ok(socket) => socket,
            Err(error) => {
                return log::error("front", format_args!("cannot use the socket of a new connection: {error}"));
            }
        };
        let connection = self.connection(generation, remote, local);
        if stands_for_others {
            tokio::task::spawn_local(proxy_protocol::serve(self.limit.clone(), connection, socket, permit));
        } else {
            tokio::task::spawn_local(serve(connection, socket, permit));
        }
    }

    /// Creates the state of a connection to `generation`.
    fn connection(&self, generation: Rc<View>, remote: Address, local: Address) -> Connection {
        let terms = ConnectionTerms {
            config: generation.config.clone(),
            error_logs: generation.error_logs.clone(),
            shortest_wait: generation.shortest_wait,
        };
        let client = Rc::new(Client::new(self.services.shared.clone(), terms, remote, local));
        Connection { client, generation, services: self.services.clone() }
    }
}

/// Serves a connection from accept to close; dropping the permit then frees it. Rare paths are boxed, because the whole
/// future is copied for each connection.
async fn serve(connection: Connection, socket: Socket, _permit: Permit) {
    let connection = Rc::new(connection);
    let client = &connection.client;
    let _registration = connection.services.connections.enter(client.entry());
    if let Some((generation, host)) = handover::is_for_a_worker(&connection) {
        return Box::pin(handover::serve(&connection, generation, host, socket)).await;
    }
    match patiently(client, negotiate(&connection, socket)).await {
        Some(Ok(Negotiated::Http1(line))) => http1::drive(&connection, line).await,
        Some(Ok(Negotiated::Http2(line))) => Box::pin(http2::drive(&connection, line)).await,
        Some(Err(error)) => {
            let module = if client.security.pace().is_some() { "ssl" } else { "front" };
            log::info(module, format_args!("client={} connection failed: {error}", client.remote));
        }
        None => {}
    }
    client.left();
}
