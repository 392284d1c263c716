//! The connection to the store, in a loop: connect, subscribe, send, and begin again after a failure.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use base::drawn::drawn;
use config::{StoreKind, StoreUrl};
use stores::StoreLogin;
use tokio::time::{sleep, sleep_until, timeout};

use crate::envelope;
use crate::postgres_store::{self, PostgresSession};
use crate::received::Received;
use crate::redis_store::{self, RedisSession};
use crate::relay::{BroadcastRelay, LocalChannels, Sending};

/// Time in which a store answers, and in which a connection is made.
const PATIENCE: Duration = Duration::from_secs(5);
/// First pause after a failure. Each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Longest pause after a failure.
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// Least time between reports of counts.
const REPORT: Duration = Duration::from_secs(1);
/// Time after which all counts are reported again. It also finds a store that does not answer any more.
const REPORT_ALL: Duration = Duration::from_secs(10);
/// Maximum number of messages that are sent at once.
const BATCH: usize = 256;
/// Maximum size of such messages in bytes, but for the first.
const BATCH_BYTES: usize = 256 * 1024;

/// Connects this server's channels with those of other servers, until the task is dropped. Runs on a local task set.
/// `read` calls [`StoreLogin::read`] on another thread, because that may block.
pub async fn run(
    store: Arc<StoreUrl>,
    relay: Arc<BroadcastRelay>,
    channels: Arc<dyn LocalChannels>,
    read: impl AsyncFn() -> Result<StoreLogin, String>,
) {
    if let Err(why) = relay.begin(&store) {
        return relay.away(&why);
    }
    let begun = Begun { relay: relay.clone(), channels: channels.clone() };
    let received = Arc::new(Received::new(relay, channels));
    let mut pause = FIRST_PAUSE;
    loop {
        let since = Instant::now();
        // Without a limit, so that a disk that hangs holds one thread and not one for each attempt.
        let session = match read().await {
            Ok(login) => answered(Session::connect(&store, login, received.clone())).await,
            Err(why) => Err(why),
        };
        let why = match session {
            Ok(session) => serve(session, &begun).await.err().unwrap_or_default(),
            Err(why) => why,
        };
        begun.relay.away(&printable(&why));
        // The next session counts all channels; until then the notes would grow with each new name.
        begun.channels.forget();
        if since.elapsed() > MAX_PAUSE {
            pause = FIRST_PAUSE;
        }
        // The store is not overrun by all servers at once when it is there again.
        sleep(pause.mul_f64(drawn(&(50..=100)) as f64 / 100.0)).await;
        pause = (pause * 2).min(MAX_PAUSE);
        begun.relay.expire();
    }
}

/// Ends what [`run`] has begun.
struct Begun {
    relay: Arc<BroadcastRelay>,
    channels: Arc<dyn LocalChannels>,
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.relay.end();
        self.channels.forget();
    }
}

/// Maximum length of a store's error message in the log.
const MAX_WHY: usize = 300;

/// The begin of an error message of a store, as one line.
fn printable(why: &str) -> String {
    base::printable::line(&why.chars().take(MAX_WHY).collect::<String>())
}

/// The answer of a store, within [`PATIENCE`].
async fn answered<T>(answer: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    match timeout(PATIENCE, answer).await {
        Ok(answer) => answer,
        Err(_) => Err(format!("the store has not answered within {} s", PATIENCE.as_secs())),
    }
}

enum Session {
    Redis(RedisSession),
    Postgres(PostgresSession),
}

impl Session {
    async fn connect(store: &StoreUrl, login: StoreLogin, received: Arc<Received>) -> Result<Session, String> {
        match store.kind {
            StoreKind::Redis => redis_store::connect(store, &login, received).await.map(Session::Redis),
            StoreKind::Postgres => postgres_store::connect(store, login, received).await.map(Session::Postgres),
        }
    }

    async fn publish(&mut self, sendings: &[Sending]) -> Result<(), String> {
        match self {
            Session::Redis(session) => answered(session.publish(sendings)).await,
            Session::Postgres(session) => answered(session.publish(sendings)).await,
        }
    }

    async fn follow(&mut self, begin: &[Box<[u8]>], end: &[Box<[u8]>]) -> Result<(), String> {
        match self {
            Session::Redis(session) => answered(session.follow(begin, end)).await,
            Session::Postgres(_) => Ok(()),
        }
    }

    async fn ended(&mut self) -> String {
        match self {
            Session::Redis(session) => session.ended().await,
            Session::Postgres(session) => session.ended().await,
        }
    }
}

/// Serves a connection until it fails.
async fn serve(mut session: Session, begun: &Begun) -> Result<(), String> {
    let Begun { relay, channels } = begun;
    let mut counts = Counts::new(channels.all());
    let all: Vec<_> = counts.all.keys().cloned().collect();
    session.follow(&all, &[]).await?;
    relay.connected();
    loop {
        let (begin, end) = counts.change(channels.changes());
        session.follow(&begin, &end).await?;
        let sendings = relay.take(BATCH, BATCH_BYTES);
        if !sendings.is_empty() {
            let published = session.publish(&sendings).await;
            relay.sent(sendings.len(), published.is_ok());
            published?;
        }
        let due = counts.due(relay.has_new_node.load(Relaxed));
        if due <= Instant::now() {
            let is_new = relay.has_new_node.swap(false, Relaxed);
            for body in counts.report(is_new) {
                session.publish(&[relay.report(&body)]).await?;
            }
            relay.expire();
        }
        if !sendings.is_empty() {
            tokio::task::yield_now().await;
            continue;
        }
        tokio::select! {
            why = session.ended() => return Err(why),
            () = relay.wanted.notified() => {}
            () = sleep_until(due.into()) => {}
        }
    }
}

/// Numbers of subscriptions on this server, and which of them were reported.
struct Counts {
    /// Channels with subscriptions.
    all: HashMap<Box<[u8]>, u64>,
    unreported: HashSet<Box<[u8]>>,
    reported: Option<Instant>,
    /// Time of the last report of all channels.
    all_reported: Option<Instant>,
}

/// Names of channels.
type Names = Vec<Box<[u8]>>;

impl Counts {
    fn new(all: Vec<(Box<[u8]>, u64)>) -> Counts {
        let all = all.into_iter().filter(|(_, count)| *count > 0).collect();
        Counts { all, unreported: HashSet::new(), reported: None, all_reported: None }
    }

    /// Applies changes. Returns channels whose subscriptions begin, and those whose subscriptions end.
    fn change(&mut self, changes: Vec<(Box<[u8]>, u64)>) -> (Names, Names) {
        let (mut begin, mut end) = (Vec::new(), Vec::new());
        for (channel, count) in changes {
            let before = match count {
                0 => self.all.remove(&channel),
                _ => self.all.insert(channel.clone(), count),
            };
            match (before.is_some(), count) {
                (false, 1..) => begin.push(channel.clone()),
                (true, 0) => end.push(channel.clone()),
                _ => {}
            }
            self.unreported.insert(channel);
        }
        (begin, end)
    }

    /// When the next report is due.
    fn due(&self, has_new_node: bool) -> Instant {
        let all = self.all_reported.map_or_else(Instant::now, |at| at + REPORT_ALL);
        match self.reported {
            Some(at) if has_new_node || !self.unreported.is_empty() => all.min(at + REPORT),
            _ => all,
        }
    }

    /// Bodies of a report: of what has changed, or of `all` if they are due.
    fn report(&mut self, all: bool) -> Vec<Vec<u8>> {
        let now = Instant::now();
        self.reported = Some(now);
        let unreported = std::mem::take(&mut self.unreported);
        let changed = unreported.iter().map(|channel| (&**channel, self.all.get(channel).copied().unwrap_or(0)));
        if all || self.all_reported.is_none_or(|at| now >= at + REPORT_ALL) {
            self.all_reported = Some(now);
            let ended = changed.filter(|(_, count)| *count == 0);
            return envelope::reports(ended.chain(self.all.iter().map(|(channel, count)| (&**channel, *count))));
        }
        envelope::reports(changed)
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Notify;
    use tokio::task::LocalSet;

    use super::*;

    /// Channels that notify of each `forget`.
    #[derive(Default)]
    struct Forgetful(Notify);

    impl LocalChannels for Forgetful {
        fn deliver(&self, _: &[u8]) {}

        fn all(&self) -> Vec<(Box<[u8]>, u64)> {
            Vec::new()
        }

        fn changes(&self) -> Vec<(Box<[u8]>, u64)> {
            Vec::new()
        }

        fn forget(&self) {
            self.0.notify_one();
        }
    }

    #[test]
    fn while_the_store_is_away_no_changes_are_noted() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        LocalSet::new().block_on(&runtime, async {
            let store = StoreUrl::parse("unix:///nonexistent/store").expect("a URL");
            let channels = Arc::new(Forgetful::default());
            let read = async || StoreLogin::read(&store);
            let session = run(Arc::new(store.clone()), Arc::default(), channels.clone(), read);
            tokio::select! {
                () = session => panic!("the session begins again"),
                () = channels.0.notified() => {}
            }
        });
    }

    fn change(channel: &[u8], count: u64) -> (Box<[u8]>, u64) {
        (channel.into(), count)
    }

    fn reported(bodies: &[Vec<u8>]) -> Vec<(Vec<u8>, u32)> {
        let counts = bodies.iter().flat_map(|body| envelope::counts(body).expect("well-formed"));
        let mut counts: Vec<_> = counts.map(|(channel, count)| (channel.to_vec(), count)).collect();
        counts.sort();
        counts
    }

    #[test]
    fn channels_are_followed_while_they_have_subscribers_and_changes_are_reported_once() {
        let mut counts = Counts::new(vec![change(b"a", 1), change(b"none", 0)]);
        assert!(counts.due(false) <= Instant::now(), "the first report is due at once");
        assert_eq!(reported(&counts.report(false)), [(b"a".to_vec(), 1)]);
        let (begin, end) = counts.change(vec![change(b"a", 2), change(b"b", 1), change(b"c", 0)]);
        assert_eq!((begin, end), (vec![b"b"[..].into()], vec![]));
        let (begin, end) = counts.change(vec![change(b"a", 0)]);
        assert_eq!((begin, end), (vec![], vec![b"a"[..].into()]));
        let due = counts.due(false);
        assert!(due > Instant::now() && due <= Instant::now() + REPORT);
        assert_eq!(reported(&counts.report(false)), [(b"a".to_vec(), 0), (b"b".to_vec(), 1), (b"c".to_vec(), 0)]);
        assert_eq!(reported(&counts.report(false)), []);
        assert!(counts.due(false) > Instant::now() + REPORT);
        assert!(counts.due(true) <= Instant::now() + REPORT, "another server has appeared");
        assert_eq!(reported(&counts.report(true)), [(b"b".to_vec(), 1)]);
    }

    #[test]
    fn errors_of_a_store_are_one_line_of_limited_length() {
        assert_eq!(printable("a\nb"), "a\\nb");
        assert_eq!(printable(&"x".repeat(10_000)).len(), MAX_WHY);
    }
}
