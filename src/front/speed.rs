//! `SpeedLimit`: how much each client asks for, in requests and in seconds of workers, wherever that is limited.
//!
//! What a client has used drains away at the speed that its limit allows, so that it may use all of it at once and then
//! goes on at that speed. What is refused counts for nothing.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::config::admission::{Rate, SpeedLimit};

/// Clients that are remembered; when twice as many were seen, those that did not ask meanwhile are forgotten.
const KEPT: usize = 16_384;
/// A client that is refused has one line of the log in so long.
const QUIET: Duration = Duration::from_secs(60);
/// Whoever has 64 bits of addresses to himself is one client.
const PREFIX: u128 = !(u64::MAX as u128);

/// The clients of one generation.
#[derive(Default)]
pub struct Speeds {
    recent: RefCell<Known>,
    older: RefCell<Known>,
}

type Known = HashMap<(u32, IpAddr), Rc<Account>>;

/// What one client has used of one limit.
pub struct Account {
    requests: Cell<Level>,
    worker_seconds: Cell<Level>,
    /// Requests at work, and when they began, summed up as seconds after `opened`.
    at_work: Cell<(u32, f64)>,
    opened: Instant,
    worker_rate: Option<Rate>,
    /// When a line was last written, and how many were refused since.
    told: Cell<Option<(Instant, u32)>>,
}

/// So much is used, at that time.
#[derive(Debug, Clone, Copy)]
struct Level {
    used: f64,
    at: Instant,
}

/// Why a request is refused.
#[derive(Debug)]
pub struct TooFast {
    /// After how many seconds it would not be.
    pub retry_after: u32,
    /// The line for the log, if it is time for one.
    pub line: Option<String>,
}

/// The time that one request takes a worker, on its way to an account.
pub struct Charge {
    account: Rc<Account>,
    since: Option<Instant>,
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

impl Account {
    fn new(limit: &SpeedLimit, now: Instant) -> Account {
        let level = Cell::new(Level { used: 0.0, at: now });
        Account {
            requests: level.clone(),
            worker_seconds: level,
            at_work: Cell::default(),
            opened: now,
            worker_rate: limit.worker_seconds,
            told: Cell::default(),
        }
    }

    /// For how many seconds there is nothing left, if so.
    fn missing(&self, limit: &SpeedLimit, now: Instant) -> Option<f64> {
        let requests = limit.requests.map(|rate| excess(rate, self.requests.get().at(rate, now).used + 1.0));
        let worker_seconds = limit
            .worker_seconds
            .map(|rate| excess(rate, self.worker_seconds.get().at(rate, now).used + self.unfinished(now)));
        // This request is in the first sum; what it will take a worker is in the second when it has.
        let requests = requests.filter(|missing| *missing > 0.0);
        let worker_seconds = worker_seconds.filter(|missing| *missing >= 0.0);
        requests.into_iter().chain(worker_seconds).reduce(f64::max)
    }

    fn count(&self, limit: &SpeedLimit, now: Instant) {
        if let Some(rate) = limit.requests {
            self.requests.set(self.requests.get().at(rate, now).and(1.0));
        }
    }

    /// What the requests at work have taken so far.
    fn unfinished(&self, now: Instant) -> f64 {
        let (count, began) = self.at_work.get();
        f64::from(count) * now.duration_since(self.opened).as_secs_f64() - began
    }

    /// Whether it is time for a line, with how many were not told of.
    fn told(&self, now: Instant) -> Option<u32> {
        match self.told.get() {
            Some((at, more)) if now.duration_since(at) < QUIET => {
                self.told.set(Some((at, more + 1)));
                None
            }
            told => {
                self.told.set(Some((now, 0)));
                Some(told.map_or(0, |(_, more)| more))
            }
        }
    }
}

/// How many seconds it takes until what is above the limit has drained away.
fn excess(rate: Rate, used: f64) -> f64 {
    (used - f64::from(rate.amount)) / speed(rate)
}

fn speed(rate: Rate) -> f64 {
    f64::from(rate.amount) / rate.period.as_secs_f64()
}

impl Level {
    /// What is left of it at that time.
    fn at(self, rate: Rate, now: Instant) -> Level {
        let drained = now.duration_since(self.at).as_secs_f64() * speed(rate);
        Level { used: (self.used - drained).max(0.0), at: now }
    }

    fn and(self, more: f64) -> Level {
        Level { used: self.used + more, ..self }
    }
}

impl Charge {
    /// For a request that has not begun.
    pub fn new(account: &Rc<Account>) -> Charge {
        Charge { account: account.clone(), since: None }
    }

    /// A worker has it.
    pub fn begin(&mut self, now: Instant) {
        self.end(now);
        let (count, began) = self.account.at_work.get();
        self.account.at_work.set((count + 1, began + now.duration_since(self.account.opened).as_secs_f64()));
        self.since = Some(now);
    }

    /// No worker has it any more.
    pub fn end(&mut self, now: Instant) {
        let (Some(since), account) = (self.since.take(), &self.account) else { return };
        let (count, began) = account.at_work.get();
        account.at_work.set((count - 1, began - since.duration_since(account.opened).as_secs_f64()));
        if let Some(rate) = account.worker_rate {
            let took = now.duration_since(since).as_secs_f64();
            account.worker_seconds.set(account.worker_seconds.get().at(rate, now).and(took));
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.end(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn limit(requests: Option<u32>, worker_seconds: Option<u32>) -> SpeedLimit {
        let rate = |amount| Rate { amount, period: 10 * SECOND };
        SpeedLimit { id: 1, requests: requests.map(rate), worker_seconds: worker_seconds.map(rate) }
    }

    fn client(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_client_may_use_all_at_once_and_then_goes_on_at_the_speed_of_the_limit() {
        let (speeds, limit, now) = (Speeds::default(), limit(Some(5), None), Instant::now());
        let asks = |after: Duration| speeds.enter(&limit, client("192.0.2.1"), now + after).is_ok();
        assert_eq!((0..8).filter(|_| asks(Duration::ZERO)).count(), 5);
        assert!(!asks(SECOND), "one in two seconds");
        assert!(asks(2 * SECOND) && !asks(2 * SECOND), "what was refused does not count");
        assert_eq!((0..8).filter(|_| asks(60 * SECOND)).count(), 5, "not more for having waited longer");
        assert!(speeds.enter(&limit, client("192.0.2.2"), now).is_ok(), "others are not concerned");
    }

    #[test]
    fn the_time_to_come_again_is_told_exactly() {
        let (speeds, limit, now) = (Speeds::default(), limit(Some(1), None), Instant::now());
        let asks = |after: Duration| speeds.enter(&limit, client("192.0.2.1"), now + after);
        assert!(asks(Duration::ZERO).is_ok());
        assert_eq!(asks(SECOND).err().map(|slow| slow.retry_after), Some(9));
        assert!(asks(10 * SECOND).is_ok());
    }

    #[test]
    fn seconds_of_workers_count_while_they_pass() {
        let (speeds, limit, now) = (Speeds::default(), limit(None, Some(2)), Instant::now());
        let asks = |after: Duration| speeds.enter(&limit, client("192.0.2.1"), now + after);
        let account = asks(Duration::ZERO).expect("the first");
        let (mut first, mut second) = (Charge::new(&account), Charge::new(&account));
        first.begin(now);
        second.begin(now);
        assert!(asks(SECOND / 2).is_ok(), "one second is used");
        assert!(asks(2 * SECOND).is_err(), "four are, though nothing has ended");
        first.end(now + 2 * SECOND);
        second.end(now + 2 * SECOND);
        let slow = asks(2 * SECOND).err().expect("they still are");
        assert_eq!(slow.retry_after, 10, "two too many, at a fifth of a second a second");
        assert!(asks(13 * SECOND).is_ok());
    }

    #[test]
    fn a_request_that_never_reached_a_worker_costs_none_of_its_time() {
        let (speeds, limit, now) = (Speeds::default(), limit(None, Some(1)), Instant::now());
        let account = speeds.enter(&limit, client("192.0.2.1"), now).expect("the first");
        drop(Charge::new(&account));
        assert_eq!(account.worker_seconds.get().used, 0.0);
    }

    #[test]
    fn a_network_of_64_bits_is_one_client() {
        let (speeds, limit, now) = (Speeds::default(), limit(Some(1), None), Instant::now());
        let asks = |address: &str| speeds.enter(&limit, client(address), now).is_ok();
        assert!(asks("2001:db8:1:2::1") && !asks("2001:db8:1:2:ffff::9") && asks("2001:db8:1:3::1"));
        assert!(asks("::ffff:192.0.2.1") && !asks("192.0.2.1"));
    }

    #[test]
    fn a_client_has_one_line_a_minute_that_tells_how_often_it_was_refused() {
        let (speeds, limit, now) = (Speeds::default(), limit(Some(1), None), Instant::now());
        let line = |after: u64| {
            speeds
                .enter(&limit, client("192.0.2.1"), now + Duration::from_millis(after))
                .err()
                .and_then(|slow| slow.line)
        };
        assert_eq!(line(0), None, "let in");
        let first = line(1).expect("a line");
        assert!(first.contains("client 192.0.2.1") && first.contains("SpeedLimit requests=1/10s"), "{first}");
        assert_eq!((line(2), line(3)), (None, None));
        assert_eq!(line(60_500), None, "let in again");
        assert!(line(61_500).expect("another").contains("2 times more"), "a minute later");
    }

    #[test]
    fn memory_is_bounded_and_who_asks_often_is_not_forgotten() {
        let (speeds, limit, now) = (Speeds::default(), limit(Some(1), None), Instant::now());
        let busy = client("192.0.2.1");
        assert!(speeds.enter(&limit, busy, now).is_ok());
        for n in 0..5 * KEPT as u32 {
            let _ = speeds.enter(&limit, IpAddr::from(n.to_be_bytes()), now);
            assert!(n % 1000 != 0 || speeds.enter(&limit, busy, now).is_err());
        }
        assert!(speeds.len() <= 2 * KEPT);
    }
}
