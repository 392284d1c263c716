//! New connections: who the client is, whether there is a permit for one more, and which protocol it speaks.

mod accepted;
mod backlog;
pub mod listener;
mod negotiate;
pub mod proxy_header;
mod proxy_protocol;

use std::rc::Rc;

use super::base::address::Address;
use super::client::timeouts::patiently;
use super::client::transport::Socket;
use super::client::{Client, Terms};
use super::generation::Generation;
use super::limits::connections::{ConnectionLimit, Permit, Taken};
use super::request::services::{Connection, Services};
use super::{http1, http2};
use crate::log;
use accepted::Accepted;
use negotiate::{Negotiated, negotiate};

/// Serves what the accept loops accept.
pub struct Acceptor {
    services: Rc<Services>,
    limit: ConnectionLimit,
}

impl Acceptor {
    /// `descriptors`: how many open files the process may have.
    pub fn new(services: Rc<Services>, descriptors: u64) -> Acceptor {
        Acceptor { services, limit: ConnectionLimit::new(descriptors) }
    }

    /// Gives a connection a task of its own, or tells its client to come back when there is no permit.
    fn serve(self: &Rc<Self>, accepted: Accepted) {
        let Accepted { socket, remote, local } = accepted;
        let Some(generation) = self.services.generations.serving() else { return };
        let stands_for_others = proxy_protocol::is_expected(&generation.config, &remote, &local);
        let Some(permit) = self.enter(&generation, (!stands_for_others).then_some(&remote)) else {
            return self.limit.turn_away(socket);
        };
        let connection = self.connection(generation, remote, local);
        if stands_for_others {
            tokio::task::spawn_local(proxy_protocol::serve(self.clone(), connection, socket, permit));
        } else {
            tokio::task::spawn_local(serve(connection, socket, permit));
        }
    }

    /// A permit for a new connection, if there is one.
    fn enter(&self, generation: &Generation, remote: Option<&Address>) -> Option<Permit> {
        let generations = self.services.generations.all();
        let logs: usize = generations
            .iter()
            .map(|generation| generation.config.logs.len() + generation.config.error_logs.len())
            .sum();
        let taken = Taken {
            workers: generations.iter().map(|generation| generation.pool.count()).sum(),
            logs: logs + generation.config.listen.len(),
        };
        self.limit.enter(&generation.config.clients, remote, taken, &self.services.connections)
    }

    /// A client that has just connected to `generation`.
    fn connection(&self, generation: Rc<Generation>, remote: Address, local: Address) -> Connection {
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
    let _registration = connection.services.connections.enter(client);
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
