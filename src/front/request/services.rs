//! What requests use beside their site: it is there for all of them, whatever connection they come on and whichever
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
use crate::front::site::{Site, Sites};

/// How many idle clients a status names; their number is told in any case.
const SHOWN_CLIENTS: usize = 100;

pub struct Services {
    /// What all parts of the front share.
    pub shared: Rc<Shared>,
    /// Who is connected.
    pub connections: Connections,
    /// The generations.
    pub sites: Sites,
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
    pub site: Rc<Site>,
    pub services: Rc<Services>,
}

impl Services {
    /// Nobody is connected, and no generation is known.
    pub fn new(shared: Rc<Shared>) -> Services {
        Services {
            shared,
            connections: Connections::default(),
            sites: Sites::default(),
            passwords: Passwords::default(),
            names: ReverseDns::new(Arc::new(System)),
        }
    }

    /// For `cameleer status`.
    pub fn status(&self) -> FrontStatus {
        let (counters, sites) = (&self.shared.counters, self.sites.all());
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
            overloaded: sites.iter().any(|site| site.pool.is_overloaded()),
            shares: self.sites.serving().map(|site| site.pool.shares()).unwrap_or_default(),
            queued: sites.iter().map(|site| site.pool.queued()).sum(),
            workers: sites.iter().flat_map(|site| site.pool.status()).collect(),
        }
    }
}
