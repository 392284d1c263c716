//! The client's identity, as far as a request needed it.

use std::rc::Rc;

use wire::control::PoolNumber;

use crate::workers::{ClientId, Turn};
use access::User;

/// Facts about a request's client from the access check and the limits.
#[derive(Default)]
pub struct Visitor {
    /// The client's host name, if it was looked up and exists.
    pub name: Option<Rc<str>>,
    /// The authenticated user.
    pub user: Option<User>,
    /// The request's places in `MaxConcurrentReqs`, held until it is answered and its worker has ended.
    pub turns: Vec<Turn>,
    /// The client for `SpeedLimit` in the last pool, or the seconds after which a client that was too fast may retry.
    pub speed: Option<Result<(PoolNumber, ClientId), u32>>,
}

impl Visitor {
    /// The client to charge with a worker's time in this pool.
    pub fn charged_in(&self, pool: PoolNumber) -> Option<ClientId> {
        self.speed?.ok().filter(|(of, _)| *of == pool).map(|(_, client)| client)
    }
}
