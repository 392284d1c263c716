//! `SpeedLimit`: how many requests and how many seconds of workers a client uses, wherever that is limited.
//!
//! Usage drains at the configured rate (a leaky bucket): a client may use the whole amount at once, and then continues
//! at that rate. Refused requests count for nothing.

mod account;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Instant;

use config::scheduling::SpeedLimit;

use account::Account;

use crate::limits::pace::{PaceVerdict, UnreportedUsage};

/// Maximum number of accounts in `recent`; a full `recent` becomes `older`, whose accounts are dropped.
const KEPT: usize = 16_384;
/// A /64 network of IPv6 is one client.
const PREFIX: u128 = !(u64::MAX as u128);

/// Accounts of the clients of one generation.
#[derive(Debug, Default)]
pub(super) struct Clients {
    recent: HashMap<ClientId, Account>,
    older: HashMap<ClientId, Account>,
}

/// A client of one limit, charged with the time of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientId {
    limit: u32,
    network: IpAddr,
}

/// A request that the store of `LimitStore` decides about.
#[derive(Debug, Clone, Copy)]
pub struct PaceInquiry {
    client: ClientId,
    /// What the store has not counted yet.
    pub usage: UnreportedUsage,
}

impl PaceInquiry {
    /// The client's address, or its network.
    pub fn network(&self) -> IpAddr {
        self.client.network
    }
}

/// Why a request is refused.
#[derive(Debug)]
pub struct TooFast {
    /// Retry-After, in seconds.
    pub retry_after: u32,
    /// Line for the error log, at most one a minute for each client.
    pub line: Option<String>,
}

impl Clients {
    /// Counts a request of `client`, or refuses it.
    pub fn enter(&mut self, limit: &SpeedLimit, client: IpAddr, now: Instant) -> Result<ClientId, TooFast> {
        let id = ClientId { limit: limit.id, network: prefix(client) };
        let account = self.account(id, limit, now);
        match account.missing(limit, now) {
            Some(missing) => Err(too_fast(account, id, limit, missing, now)),
            None => {
                account.count(limit, now);
                Ok(id)
            }
        }
    }

    /// Begins a request that the store of `LimitStore` decides about. A client that is too fast for this server alone
    /// is refused at once, unless the store has to learn of its usage. [`Clients::settle`] or [`Clients::withdraw`]
    /// must follow.
    pub fn inquire(&mut self, limit: &SpeedLimit, client: IpAddr, now: Instant) -> Result<PaceInquiry, TooFast> {
        let id = ClientId { limit: limit.id, network: prefix(client) };
        let account = self.account(id, limit, now);
        let missing = account.missing(limit, now);
        match missing {
            Some(missing) if !account.has_unreported(limit, now) => Err(too_fast(account, id, limit, missing, now)),
            _ => {
                let usage = account.take_unreported(limit, now);
                Ok(PaceInquiry { client: id, usage: UnreportedUsage { is_report: missing.is_some(), ..usage } })
            }
        }
    }

    /// Counts or refuses a request by the verdict of the store. Without one this server decides alone.
    pub fn settle(
        &mut self,
        limit: &SpeedLimit,
        inquiry: PaceInquiry,
        verdict: PaceVerdict,
        now: Instant,
    ) -> Result<ClientId, TooFast> {
        let PaceInquiry { client: id, usage } = inquiry;
        let account = self.account(id, limit, now);
        let own = account.missing(limit, now);
        let missing = match verdict {
            // A report does not count the request, so it is refused even if its time has come meanwhile.
            PaceVerdict::Admitted if usage.is_report => Some(own.unwrap_or_default()),
            PaceVerdict::Admitted => None,
            PaceVerdict::Wait(wait) => {
                account.refuse(wait, now);
                own.into_iter().chain([wait.as_secs_f64()]).reduce(f64::max)
            }
            PaceVerdict::Undecided => {
                let requests = usage.requests + if own.is_none() { 1.0 } else { 0.0 };
                account.add_unreported(limit, UnreportedUsage { requests, ..usage }, now);
                own
            }
        };
        match missing {
            Some(missing) => Err(too_fast(account, id, limit, missing, now)),
            None => {
                account.count(limit, now);
                Ok(id)
            }
        }
    }

    /// Ends a question whose request has ended before the answer: the store may not know of the usage.
    pub fn withdraw(&mut self, limit: &SpeedLimit, inquiry: PaceInquiry, now: Instant) {
        self.account(inquiry.client, limit, now).add_unreported(limit, inquiry.usage, now);
    }

    /// Begins to charge `id` with the time of a worker. False: the account was dropped while the request was queued, so
    /// nothing is charged.
    pub fn begin(&mut self, id: ClientId, now: Instant) -> bool {
        self.find(id).map(|account| account.begin(now)).is_some()
    }

    /// Ends a charge that [`Clients::begin`] has begun at `since`.
    pub fn end(&mut self, id: ClientId, since: Instant, now: Instant) {
        self.find(id).into_iter().for_each(|account| account.end(since, now));
    }

    fn find(&mut self, id: ClientId) -> Option<&mut Account> {
        self.recent.get_mut(&id).or_else(|| self.older.get_mut(&id))
    }

    fn account(&mut self, id: ClientId, limit: &SpeedLimit, now: Instant) -> &mut Account {
        if !self.recent.contains_key(&id) && self.recent.len() >= KEPT {
            // Accounts with a request at work are not dropped, because its end must be counted.
            let at_work = std::mem::take(&mut self.older).into_iter().filter(|(_, account)| account.at_work() > 0);
            self.older = std::mem::take(&mut self.recent).into_iter().chain(at_work).collect();
        }
        let known = self.older.remove(&id);
        self.recent.entry(id).or_insert_with(|| known.unwrap_or_else(|| Account::new(limit, now)))
    }

    /// Number of requests at work, of all clients.
    #[cfg(test)]
    pub fn at_work(&self) -> u32 {
        self.recent.values().chain(self.older.values()).map(Account::at_work).sum()
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.recent.len() + self.older.len()
    }
}

/// The refusal of a client, `missing` seconds before it may send a request.
fn too_fast(account: &mut Account, id: ClientId, limit: &SpeedLimit, missing: f64, now: Instant) -> TooFast {
    let retry_after = (missing.ceil() as u32).max(1);
    let line = account.take_count(now).map(|more| {
        let more = if more > 0 { format!(", {more} times more since the last such line") } else { String::new() };
        let network = id.network;
        format!("client {network} asks for more than SpeedLimit {limit}{more}: 429, Retry-After {retry_after}")
    });
    TooFast { retry_after, line }
}

fn prefix(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & PREFIX).into(),
        v4 => v4,
    }
}
