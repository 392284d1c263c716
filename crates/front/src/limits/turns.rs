//! `MaxConcurrentReqs` over several servers (`LimitStore`): each server has its number of running requests in the
//! store, under a lease. A server that dies does not renew it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::{sleep, timeout_at};

use crate::base::lock::lock;
use config::SharedStores;
use stores::{StoreAway, StoreCall, StoreClient, StoreScript, token};

/// Time for which the store counts requests that are not reported again.
const LEASE: Duration = Duration::from_secs(10);
/// Interval between reports of running requests.
const RENEWAL: Duration = Duration::from_secs(3);
/// Pause after a report that the store has not taken.
const PAUSE: Duration = Duration::from_millis(100);
/// Version of the keys.
const FORMAT: &str = "turns:1:";

static SCRIPT: LazyLock<StoreScript> = LazyLock::new(|| StoreScript::new(include_str!("turns.lua")));

/// The number of running requests under a line of `MaxConcurrentReqs`, and how many such numbers there were before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnCount {
    pub running: u32,
    pub number: u64,
}

/// The running requests of a generation of this server, as the store has to know them.
pub struct SharedTurns {
    node: String,
    prefix: String,
    lines: Mutex<HashMap<Arc<str>, ReportedTurns>>,
    wanted: Notify,
}

#[derive(Default)]
struct ReportedTurns {
    count: TurnCount,
    /// Whether the store may have another number.
    is_due: bool,
}

impl SharedTurns {
    pub fn new(stores: &SharedStores) -> Option<Arc<SharedTurns>> {
        let store = stores.limits.as_ref()?;
        Some(Arc::new(SharedTurns {
            node: token().ok()?,
            prefix: format!("{}{FORMAT}", store.prefix),
            lines: Mutex::default(),
            wanted: Notify::new(),
        }))
    }

    /// Asks the store whether a request may run that `count` includes. Without the store only this server's limit
    /// holds.
    pub async fn take(&self, client: &StoreClient, line: &Arc<str>, count: TurnCount, most: u32) -> bool {
        let call = self.call(line, count, most);
        let verdict = client.ask(&call, |reply| match reply.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        });
        let verdict = verdict.await;
        // A refused request ends its count at once, which is reported then.
        if verdict != Ok(false) {
            self.note(line, count, verdict.is_err());
        }
        verdict.unwrap_or(true)
    }

    /// Notes a count that has become smaller, to be reported.
    pub fn end(&self, line: &Arc<str>, count: TurnCount) {
        self.note(line, count, true);
    }

    fn note(&self, line: &Arc<str>, count: TurnCount, is_due: bool) {
        let mut lines = lock(&self.lines);
        let known = lines.entry(line.clone()).or_default();
        if count.number >= known.count.number {
            known.count = count;
            known.is_due |= is_due;
        }
        drop(lines);
        if is_due {
            self.wanted.notify_one();
        }
    }

    /// Reports counts, and renews leases, until the task is dropped.
    pub async fn report(&self, client: &StoreClient) {
        let mut renewal = Instant::now() + RENEWAL;
        loop {
            client.until_used().await;
            let _ = timeout_at(renewal.into(), self.wanted.notified()).await;
            // A line that changes all the time must not keep the leases of others from their renewal.
            let is_renewal = Instant::now() >= renewal;
            if is_renewal {
                renewal = Instant::now() + RENEWAL;
            }
            let mut has_failed = false;
            for (line, count) in self.due(is_renewal) {
                match client.ask_patiently(&self.call(&line, count, 0)).await {
                    Ok(_) => self.reported(&line, count),
                    Err(StoreAway) => {
                        has_failed = true;
                        self.note(&line, count, true);
                    }
                }
            }
            if has_failed {
                sleep(PAUSE).await;
            }
        }
    }

    fn due(&self, all: bool) -> Vec<(Arc<str>, TurnCount)> {
        let mut lines = lock(&self.lines);
        let due = lines.iter_mut().filter(|(_, turns)| turns.is_due || all);
        due.map(|(line, turns)| {
            turns.is_due = false;
            (line.clone(), turns.count)
        })
        .collect()
    }

    /// Forgets a line without requests that was reported.
    fn reported(&self, line: &Arc<str>, count: TurnCount) {
        let mut lines = lock(&self.lines);
        if count.running == 0 && lines.get(line).is_some_and(|turns| turns.count == count) {
            lines.remove(line);
        }
    }

    fn call(&self, line: &str, count: TurnCount, most: u32) -> StoreCall<'static> {
        let lease = LEASE.as_micros().to_string();
        let words = [self.node.clone(), count.running.to_string(), count.number.to_string(), lease, most.to_string()];
        StoreCall {
            script: &SCRIPT,
            keys: vec![[self.prefix.as_bytes(), line.as_bytes()].concat()],
            arguments: words.map(String::into_bytes).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_reported_once_in_their_order_and_ended_lines_are_forgotten() {
        let url = config::StoreUrl::parse("redis://db.example").expect("a URL");
        let stores = SharedStores { limits: Some(url), ..SharedStores::default() };
        let (turns, line) = (SharedTurns::new(&stores).expect("a store"), Arc::<str>::from("line"));
        let count = |running, number| TurnCount { running, number };
        turns.note(&line, count(1, 1), false);
        assert_eq!(turns.due(false), []);
        assert_eq!(turns.due(true), [(line.clone(), count(1, 1))], "the lease is renewed");
        turns.end(&line, count(0, 3));
        turns.note(&line, count(2, 2), true);
        assert_eq!(turns.due(false), [(line.clone(), count(0, 3))], "the older one came later");
        turns.reported(&line, count(0, 3));
        assert!(lock(&turns.lines).is_empty());
    }
}
