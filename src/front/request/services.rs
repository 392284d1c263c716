//! What requests use beside their generation: it is there for all of them, whatever connection they come on and whichever
//! generation answers.

use std::rc::Rc;
use std::sync::Arc;

use wire::control::FrontStatus;

use super::access::passwords::Passwords;
use super::access::reverse_dns::ReverseDns;
use crate::access::names::System;
use crate::front::base::shared::Shared;
use crate::front::client::Client;
use crate::front::client::registry::Connections;
use crate::front::generation::{Generation, Generations};

/// How many idle clients a status names; their number is told in any case.
const SHOWN_CLIENTS: usize = 100;

pub struct Services {
    /// What all parts of the front share.
    pub shared: Rc<Shared>,
    /// Who is connected.
    pub connections: Connections,
    /// The generations.
    pub generations: Generations,
    /// Who users are.
    pub passwords: Passwords,
    /// Names of clients.
    pub names: ReverseDns,
}

/// The connection that a request comes on.
pub struct Connection {
    /// Its client.
    pub client: Rc<Client>,
    /// The generation that served when it was made.
    pub generation: Rc<Generation>,
    pub services: Rc<Services>,
}

impl Services {
    /// Nobody is connected, and no generation is known.
    pub fn new(shared: Rc<Shared>) -> Services {
        Services {
            shared,
            connections: Connections::default(),
            generations: Generations::default(),
            passwords: Passwords::default(),
            names: ReverseDns::new(Arc::new(System)),
        }
    }

    /// For `cameleer status`.
    pub fn status(&self) -> FrontStatus {
        let (counters, generations) = (&self.shared.counters, self.generations.all());
        let kept = self.connections.kept();
        FrontStatus {
            connections: self.connections.count() as u64,
            kept: kept.len() as u64,
            kept_clients: kept.iter().take(SHOWN_CLIENTS).map(|client| client.status()).collect(),
            requests: counters.requests.get(),
            worker_requests: counters.worker_requests.get(),
            queue_timeouts: counters.queue_timeouts.get(),
            turned_away: counters.turned_away.get(),
            too_fast: counters.too_fast.get(),
            throttled: counters.throttled.get(),
            overloaded: generations.iter().any(|generation| generation.pool.is_overloaded()),
            shares: self.generations.serving().map(|generation| generation.pool.shares()).unwrap_or_default(),
            queued: generations.iter().map(|generation| generation.pool.queued()).sum(),
            workers: generations.iter().flat_map(|generation| generation.pool.status()).collect(),
        }
    }
}
