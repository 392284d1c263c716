//! Who asks, as far as anybody wanted to know.

use std::rc::Rc;

use wire::control::PoolNumber;

use crate::workers::{ClientId, Turn};
use access::User;

/// What was found out about the client of a request.
#[derive(Default)]
pub struct Visitor {
    /// Its name, if it was looked up and it has one.
    pub name: Option<Rc<str>>,
    /// Who it proved to be.
    pub user: Option<User>,
    /// The `MaxConcurrentReqs` that count the request until it was answered and its worker has ended.
    pub turns: Vec<Turn>,
    /// Who `SpeedLimit` takes it for in the pool that it came to last; when it was too fast, after how many seconds it may come again.
    pub speed: Option<Result<(PoolNumber, ClientId), u32>>,
}

impl Visitor {
    /// Whom the time that a worker of that pool works for it is added to.
    pub fn charged_in(&self, pool: PoolNumber) -> Option<ClientId> {
        self.speed?.ok().filter(|(of, _)| *of == pool).map(|(_, client)| client)
    }
}
