//! `SpeedLimit`: how much each client asks for, in requests and in seconds of workers, wherever that is limited.
//!
//! What a client has used drains away at the speed that its limit allows, so that it may use all of it at once and then
//! goes on at that speed. What is refused counts for nothing.

mod account;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::rc::Rc;
use std::time::Instant;

use crate::config::admission::SpeedLimit;

pub use account::{Account, Charge};

/// Clients that are remembered; when twice as many were seen, those that did not ask meanwhile are forgotten.
const KEPT: usize = 16_384;
/// Whoever has 64 bits of addresses to himself is one client.
const PREFIX: u128 = !(u64::MAX as u128);

/// The clients of one generation.
#[derive(Default)]
pub struct Speeds {
    recent: RefCell<Known>,
    older: RefCell<Known>,
}

type Known = HashMap<(u32, IpAddr), Rc<Account>>;

/// Why a request is refused.
#[derive(Debug)]
pub struct TooFast {
    /// After how many seconds it would not be.
    pub retry_after: u32,
    /// The line for the log, if it is time for one.
    pub line: Option<String>,
}

impl Speeds {
    /// Counts a request of `client`, or refuses it.
    pub fn enter(&self, limit: &SpeedLimit, client: IpAddr, now: Instant) -> Result<Rc<Account>, TooFast> {
        let client = prefix(client);
        let account = self.account(limit, client, now);
        match account.missing(limit, now) {
            None => {
                account.count(limit, now);
                Ok(account)
            }
            Some(missing) => {
                let retry_after = (missing.ceil() as u32).max(1);
                let more = account.told(now);
                let line = more.map(|more| {
                    let more =
                        if more > 0 { format!(", {more} times more since the last such line") } else { String::new() };
                    format!(
                        "client {client} asks for more than SpeedLimit {limit}{more}: 429, Retry-After {retry_after}"
                    )
                });
                Err(TooFast { retry_after, line })
            }
        }
    }

    fn account(&self, limit: &SpeedLimit, client: IpAddr, now: Instant) -> Rc<Account> {
        let key = (limit.id, client);
        let mut recent = self.recent.borrow_mut();
        if let Some(account) = recent.get(&key) {
            return account.clone();
        }
        let known = self.older.borrow_mut().remove(&key);
        let account = known.unwrap_or_else(|| Rc::new(Account::new(limit, now)));
        if recent.len() >= KEPT {
            *self.older.borrow_mut() = std::mem::take(&mut *recent);
        }
        recent.insert(key, account.clone());
        account
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.recent.borrow().len() + self.older.borrow().len()
    }
}

fn prefix(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & PREFIX).into(),
        v4 => v4,
    }
}
