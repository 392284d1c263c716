//! Services that requests use independently of connection and generation. Some are shared by all threads, others
//! belong to one thread.

use std::rc::Rc;
use std::sync::Arc;

use super::access::passwords::Passwords;
use super::access::reverse_dns::ReverseDns;
use super::files::homes::Homes;
use crate::base::shared::Shared;
use crate::client::Client;
use crate::client::registry::Connections;
use crate::generation::{Generations, View, Views};
use access::names::System;
use proxy::balancer::Balancers;
use proxy::{Applications, Backends};

/// The services shared by all threads.
#[derive(Clone)]
pub struct Common {
    /// State shared by all parts of the front.
    pub shared: Arc<Shared>,
    pub connections: Arc<Connections>,
    pub generations: Arc<Generations>,
    /// The state of members of balancers.
    pub balancers: Arc<Balancers>,
}

/// The services of one thread.
pub struct Services {
    /// State shared by all parts of the front.
    pub shared: Arc<Shared>,
    pub connections: Arc<Connections>,
    pub generations: Views,
    pub passwords: Passwords,
    /// Reverse DNS of clients.
    pub names: ReverseDns,
    /// Homes of users, for `UserDir`.
    pub homes: Homes,
    /// Connections to backends that this thread uses.
    pub backends: Backends,
    /// Connections to FastCGI applications that this thread uses.
    pub applications: Applications,
    /// The state of members of balancers.
    pub balancers: Arc<Balancers>,
}

pub struct Connection {
    pub client: Rc<Client>,
    /// The generation that served when the connection was made.
    pub generation: Rc<View>,
    pub services: Rc<Services>,
}

impl Common {
    /// Services without connections and generations.
    pub fn new(shared: Shared) -> Common {
        Common {
            shared: Arc::new(shared),
            connections: Arc::default(),
            generations: Arc::default(),
            balancers: Arc::default(),
        }
    }
}

impl Services {
    /// The services of the thread with index `thread`.
    pub fn new(common: &Common, thread: u8) -> Services {
        Services {
            shared: common.shared.clone(),
            connections: common.connections.clone(),
            generations: Views::new(common.generations.clone(), thread),
            passwords: Passwords::default(),
            names: ReverseDns::new(Arc::new(System)),
            homes: Homes::default(),
            backends: Backends::default(),
            applications: Applications::default(),
            balancers: common.balancers.clone(),
        }
    }
}
