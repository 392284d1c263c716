//! `SpeedLimit` over several servers (`LimitStore`): a script in the store counts the requests of a client, by the
//! clock of the store. Each thread of the front has a connection of its own.

use std::fmt::Write;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::task::{JoinHandle, spawn_local};

use super::turns::SharedTurns;
use crate::base::blocking::{self, NoThread};
use config::scheduling::{Rate, SpeedLimit};
use config::{SharedStores, StoreUrl};
use stores::{MAX_UNREAD, StoreCall, StoreClient, StoreLogin, StoreReply, StoreReport, StoreScript, StoreUse};

/// The directive, for the log.
const USE: StoreUse =
    StoreUse { directive: "LimitStore", meanwhile: "each server counts its own requests only until the store answers" };
/// Version of the format of accounts: another one has other keys.
const FORMAT: &str = "limit:1:";
/// Periods after which the store has drained an account, whatever its client has used.
const MAX_PERIODS: u32 = 17;

static SCRIPT: LazyLock<StoreScript> = LazyLock::new(|| StoreScript::new(include_str!("pace.lua")));

/// Usage of a client that the store has not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UnreportedUsage {
    /// Requests that this server has admitted without the store.
    pub requests: f64,
    /// Worker time of requests that have ended, in seconds.
    pub worker_seconds: f64,
    /// Worker time so far of requests that still run here, in seconds.
    pub unfinished: f64,
    /// Whether this is only a report, because this server refuses the request.
    pub is_report: bool,
}

/// The decision of the store about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaceVerdict {
    /// The request is counted.
    Admitted,
    /// The client may send its next request after this time.
    Wait(Duration),
    /// The store is away or too slow: this server decides alone.
    Undecided,
}

/// The connection of a thread to the store of `LimitStore`; it ends with this.
pub struct SharedPace {
    /// Also asked for [`SharedTurns`].
    pub client: Arc<StoreClient>,
    prefix: String,
    task: JoinHandle<()>,
}

impl Drop for SharedPace {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl SharedPace {
    /// The state of the store, for the connections of all threads.
    pub fn report(stores: &SharedStores) -> Option<Arc<StoreReport>> {
        stores.limits.as_ref().map(|store| Arc::new(StoreReport::new(USE, store.to_string())))
    }

    /// Begins to connect. The first thread reports `turns`.
    pub fn start(
        stores: &SharedStores,
        report: &Arc<StoreReport>,
        turns: Option<Arc<SharedTurns>>,
    ) -> Option<SharedPace> {
        let store = stores.limits.as_ref()?;
        let client = Arc::new(StoreClient::new(store, stores.timeout, MAX_UNREAD, report.clone(), None));
        let task = spawn_local(connect(client.clone(), store.clone(), turns));
        Some(SharedPace { client, prefix: format!("{}{FORMAT}", store.prefix), task })
    }

    /// Counts a request, unless the store refuses it. `place` names the limit on all servers.
    pub async fn ask(&self, limit: &SpeedLimit, place: &str, client: IpAddr, usage: UnreportedUsage) -> PaceVerdict {
        let mut key = String::with_capacity(self.prefix.len() + place.len() + 64);
        let _ = write!(key, "{}{place}:{limit}:{client}", self.prefix);
        let longest = [limit.requests, limit.worker_seconds].into_iter().flatten().map(|rate| rate.period).max();
        let longest = longest.unwrap_or_default().saturating_mul(MAX_PERIODS);
        let call = call(key, limit, usage);
        let verdict = self.client.ask(&call, |reply| verdict(reply, longest));
        verdict.await.unwrap_or(PaceVerdict::Undecided)
    }
}

/// The verdict of an answer. A client alone must not be able to end the use of the store, so a time that is too long
/// is no error.
fn verdict(reply: StoreReply, longest: Duration) -> Option<PaceVerdict> {
    match u64::try_from(reply.number()?) {
        Ok(0) => Some(PaceVerdict::Admitted),
        Ok(wait) => Some(PaceVerdict::Wait(Duration::from_micros(wait).min(longest))),
        Err(_) => None,
    }
}

fn call(key: String, limit: &SpeedLimit, usage: UnreportedUsage) -> StoreCall<'static> {
    let rate = |rate: Option<Rate>| rate.map_or((0, 0), |rate| (rate.amount, rate.period.as_micros()));
    let ((requests, period), (seconds, time)) = (rate(limit.requests), rate(limit.worker_seconds));
    let numbers = [
        requests.to_string(),
        period.to_string(),
        usage.requests.to_string(),
        seconds.to_string(),
        time.to_string(),
        usage.worker_seconds.to_string(),
        usage.unfinished.to_string(),
        u8::from(!usage.is_report).to_string(),
    ];
    StoreCall {
        script: &SCRIPT,
        keys: vec![key.into_bytes()],
        arguments: numbers.into_iter().map(String::into_bytes).collect(),
    }
}

async fn connect(client: Arc<StoreClient>, store: StoreUrl, turns: Option<Arc<SharedTurns>>) {
    // A limit that admits each probe, so that the store writes.
    let arguments = ["1000000", "1000000", "0", "0", "0", "0", "0", "1"].map(|word| word.as_bytes().to_vec());
    let key = format!("{}{FORMAT}probe", store.prefix);
    let probe = StoreCall { script: &SCRIPT, keys: vec![key.into_bytes()], arguments: arguments.into() };
    let run = client.run(&probe, async || read_login(&store, "LimitStore").await);
    match turns {
        Some(turns) => {
            tokio::join!(run, turns.report(&client));
        }
        None => run.await,
    }
}

/// Reads the login of a store on another thread.
pub async fn read_login(store: &StoreUrl, directive: &str) -> Result<StoreLogin, String> {
    let store = store.clone();
    let what = format!("cannot read the login of {directive}");
    let login = blocking::run(&what, move || StoreLogin::read(&store)).await;
    login.unwrap_or_else(|NoThread| Err(format!("{what}: no thread can be started")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_is_too_long_is_shortened_and_ends_no_use_of_the_store() {
        let longest = Duration::from_micros(100);
        let verdict = |number| verdict(StoreReply::Number(number), longest);
        assert_eq!(verdict(0), Some(PaceVerdict::Admitted));
        assert_eq!(verdict(99), Some(PaceVerdict::Wait(Duration::from_micros(99))));
        assert_eq!(verdict(i64::MAX), Some(PaceVerdict::Wait(longest)));
        assert_eq!(verdict(-1), None);
    }
}
