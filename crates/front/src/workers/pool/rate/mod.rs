//! `SpeedLimit`: how much each client asks for, in requests and in seconds of workers, wherever that is limited.
//!
//! What a client has used drains away at the speed that its limit allows, so that it may use all of it at once and then
//! goes on at that speed. What is refused counts for nothing.

mod account;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Instant;

use config::scheduling::SpeedLimit;

use account::Account;

/// Clients that are remembered; when twice as many were seen, those that did not ask meanwhile are forgotten.
const KEPT: usize = 16_384;
/// Whoever has 64 bits of addresses to himself is one client.
const PREFIX: u128 = !(u64::MAX as u128);

/// The clients of one generation.
#[derive(Debug, Default)]
pub(super) struct Clients {
    recent: HashMap<ClientId, Account>,
    older: HashMap<ClientId, Account>,
}

/// A client of one limit: whom the time that a request takes a worker is added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientId {
    limit: u32,
    network: IpAddr,
}

/// Why a request is refused.
#[derive(Debug)]
pub struct TooFast {
    /// After how many seconds it would not be.
    pub retry_after: u32,
    /// The line for the log, if it is time for one.
    pub line: Option<String>,
}

impl Clients {
    /// Counts a request of `client`, or refuses it.
    pub fn enter(&mut self, limit: &SpeedLimit, client: IpAddr, now: Instant) -> Result<ClientId, TooFast> {
        let id = ClientId { limit: limit.id, network: prefix(client) };
        let account = self.account(id, limit, now);
        let Some(missing) = account.missing(limit, now) else {
            account.count(limit, now);
            return Ok(id);
        };
        let retry_after = (missing.ceil() as u32).max(1);
        let line = account.tell(now).map(|more| {
            let more = if more > 0 { format!(", {more} times more since the last such line") } else { String::new() };
            let network = id.network;
            format!("client {network} asks for more than SpeedLimit {limit}{more}: 429, Retry-After {retry_after}")
        });
        Err(TooFast { retry_after, line })
    }

    /// A worker has a request of this client. Says whether its time is counted: a client that many others came after while
    /// it waited is forgotten.
    pub fn begin(&mut self, id: ClientId, now: Instant) -> bool {
        self.find(id).map(|account| account.begin(now)).is_some()
    }

    /// After [`Clients::begin`], if that counted: a worker has had a request of this client since then, and has it no more.
    pub fn end(&mut self, id: ClientId, since: Instant, now: Instant) {
        self.find(id).into_iter().for_each(|account| account.end(since, now));
    }

    fn find(&mut self, id: ClientId) -> Option<&mut Account> {
        self.recent.get_mut(&id).or_else(|| self.older.get_mut(&id))
    }

    fn account(&mut self, id: ClientId, limit: &SpeedLimit, now: Instant) -> &mut Account {
        if !self.recent.contains_key(&id) && self.recent.len() >= KEPT {
            // Whoever has a request at work is not forgotten: its end is still to be counted.
            let at_work = std::mem::take(&mut self.older).into_iter().filter(|(_, account)| account.at_work() > 0);
            self.older = std::mem::take(&mut self.recent).into_iter().chain(at_work).collect();
        }
        let known = self.older.remove(&id);
        self.recent.entry(id).or_insert_with(|| known.unwrap_or_else(|| Account::new(limit, now)))
    }

    /// How many requests are at work.
    #[cfg(test)]
    pub fn at_work(&self) -> u32 {
        self.recent.values().chain(self.older.values()).map(Account::at_work).sum()
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.recent.len() + self.older.len()
    }
}

fn prefix(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & PREFIX).into(),
        v4 => v4,
    }
}
