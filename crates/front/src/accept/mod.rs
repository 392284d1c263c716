//! New connections: who the client is, whether there is a permit for one more, and which protocol it speaks.

mod accepted;
mod backlog;
mod handover;
pub mod listener;
mod negotiate;
pub mod proxy_header;
mod proxy_protocol;
mod slow_handshake;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use tokio::sync::mpsc::UnboundedSender;

use super::base::address::Address;
use super::client::socket::Socket;
use super::client::timeouts::patiently;
use super::client::{Client, Terms};
use super::generation::{Generation, View};
use super::limits::connections::{ConnectionLimit, Permit, Taken};
use super::request::services::{Connection, Services};
use super::{http1, http2};
use accepted::Accepted;
use base::log;
use negotiate::{Negotiated, negotiate};

/// Takes what the accept loops accept, on the thread that runs them.
pub struct Acceptor {
    server: ConnectionServer,
    threads: RefCell<Vec<Thread>>,
    /// New connections go to so many of the threads.
    used: Cell<usize>,
}

/// A thread that serves connections.
struct Thread {
    /// How many it has.
    connections: Arc<AtomicUsize>,
    /// The way to it; `None` is this one.
    way: Option<UnboundedSender<Handover>>,
}

/// A connection that another thread is to serve.
pub struct Handover {
    accepted: Accepted,
    permit: Permit,
    /// It begins with a PROXY header.
    stands_for_others: bool,
}

/// Serves connections on its thread.
pub struct ConnectionServer {
    services: Rc<Services>,
    limit: Arc<ConnectionLimit>,
}

impl Acceptor {
    /// `descriptors`: how many open files the process may have.
    pub fn new(services: Rc<Services>, descriptors: u64) -> Acceptor {
        let server = ConnectionServer { services, limit: Arc::new(ConnectionLimit::new(descriptors)) };
        let this = Thread { connections: Arc::default(), way: None };
        Acceptor { server, threads: RefCell::new(vec![this]), used: Cell::new(1) }
    }

    /// What limits connections, for the server of another thread.
    pub fn limit(&self) -> &Arc<ConnectionLimit> {
        &self.server.limit
    }

    /// Whether no thread has a connection, or will get one.
    pub fn is_quiet(&self) -> bool {
        self.threads.borrow().iter().all(|thread| thread.connections.load(SeqCst) == 0)
    }

    /// How many threads serve connections.
    pub fn threads(&self) -> usize {
        self.threads.borrow().len()
    }

    /// Another thread serves connections, too.
    pub fn add_thread(&self, way: UnboundedSender<Handover>) {
        self.threads.borrow_mut().push(Thread { connections: Arc::default(), way: Some(way) });
    }

    /// New connections go to the first `count` threads.
    pub fn use_threads(&self, count: usize) {
        self.used.set(count);
    }

    /// Has a connection served, or tells its client to come back when there is no permit.
    fn serve(&self, accepted: Accepted) {
        let server = &self.server;
        let Some(generation) = server.services.generations.serving() else { return };
        let (remote, local) = (&accepted.remote, &accepted.local);
        let stands_for_others = proxy_protocol::is_expected(&generation.config, remote, local);
        let Some(permit) = self.enter(&generation, (!stands_for_others).then_some(remote)) else {
            // Only who speaks HTTP understands why.
            let speaks_http = generation.config.host_of_connections(local.socket).is_none();
            let socket = accepted.stream.into_socket().ok().filter(|_| speaks_http);
            return socket.map_or((), |socket| server.limit.turn_away(socket));
        };
        self.hand_over(Handover { accepted, permit, stands_for_others });
    }

    /// Gives it to the thread that has the fewest connections.
    fn hand_over(&self, mut handover: Handover) {
        let threads = self.threads.borrow();
        let used = threads.iter().take(self.used.get());
        let Some(thread) = used.min_by_key(|thread| thread.connections.load(SeqCst)) else { return };
        handover.permit.is_of(&thread.connections);
        match &thread.way {
            None => self.server.serve(handover),
            // A thread that is no more has ended with the front.
            Some(way) => drop(way.send(handover)),
        }
    }

    /// A permit for a new connection, if there is one.
    fn enter(&self, generation: &Generation, remote: Option<&Address>) -> Option<Permit> {
        let services = &self.server.services;
        let generations = services.generations.all().all();
        let logs = |generation: &Arc<Generation>| generation.config.logs.len() + generation.config.error_logs.len();
        let taken = Taken {
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
    /// Serves on the thread that has these services.
    pub fn new(services: Rc<Services>, limit: Arc<ConnectionLimit>) -> ConnectionServer {
        ConnectionServer { services, limit }
    }

    /// Gives a connection a task of its own.
    pub fn serve(&self, handover: Handover) {
        let Handover { accepted: Accepted { stream, remote, local }, permit, stands_for_others } = handover;
        let Some(generation) = self.services.generations.serving() else { return };
        let socket = match stream.into_socket() {
            Ok(socket) => socket,
            Err(error) => return log::error("front", format_args!("a connection cannot be served: {error}")),
        };
        let connection = self.connection(generation, remote, local);
        if stands_for_others {
            tokio::task::spawn_local(proxy_protocol::serve(self.limit.clone(), connection, socket, permit));
        } else {
            tokio::task::spawn_local(serve(connection, socket, permit));
        }
    }

    /// A client that has just connected to `generation`.
    fn connection(&self, generation: Rc<View>, remote: Address, local: Address) -> Connection {
        let terms = Terms {
            config: generation.config.clone(),
            error_logs: generation.error_logs.clone(),
            shortest_keep_alive: generation.shortest_keep_alive,
        };
        let client = Rc::new(Client::new(self.services.shared.clone(), terms, remote, local));
        Connection { client, generation, services: self.services.clone() }
    }
}

/// Serves a connection from accept to close; then its permit is free. What most connections never come to is boxed, here and
/// below: the whole is copied whenever one is accepted.
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
            log::info(module, format_args!("client={} no connection: {error}", client.remote));
        }
        None => {}
    }
    client.left();
}
