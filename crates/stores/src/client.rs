//! Commands to a store, bounded in time: a request waits for at most `StoreTimeout`, and while the store is known to be
//! away or slow, not at all.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::drawn::drawn;
use config::StoreUrl;
use redis::aio::MultiplexedConnection;
use redis::{PushInfo, PushKind, Value};
use tokio::sync::watch;
use tokio::time::{sleep, timeout, timeout_at};

use crate::connect::UnreadBytes;
use crate::connection::{RedisConnection, reason};
use crate::login::StoreLogin;
use crate::report::StoreReport;
use crate::script::{StoreCall, StoreReply};

/// Time in which a store answers, and in which a connection is made, where no request waits for it.
const PATIENCE: Duration = Duration::from_secs(5);
/// First pause after a failure. Each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Longest pause after a failure.
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// Longest pause between questions to a store that is too slow.
const MAX_PROBE_PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of requests that wait for the store at the same time. Further ones go on without it.
const MAX_WAITING: usize = 1000;

/// The store did not decide: it is away, too slow, or has answered with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreAway;

/// Gets a message on the thread of the connection; must not block.
type PushReceiver = Box<dyn Fn(&[u8]) + Send + Sync>;

/// A channel of the store, and what receives its messages.
pub struct StorePush {
    channel: String,
    receive: PushReceiver,
}

impl StorePush {
    /// `channel` is the whole name. `receive` is called on the thread of the connection, and must not block.
    pub fn new(channel: String, receive: impl Fn(&[u8]) + Send + Sync + 'static) -> StorePush {
        StorePush { channel, receive: Box::new(receive) }
    }
}

/// A connection to a store, for requests of one or several threads.
pub struct StoreClient {
    store: StoreUrl,
    /// `StoreTimeout`
    budget: Duration,
    /// Maximum size of answers that wait to be read.
    max_unread: usize,
    report: Arc<StoreReport>,
    push: Option<Arc<StorePush>>,
    phase: watch::Sender<Phase>,
    /// The connection and its counter of unread bytes.
    connection: Mutex<Option<(MultiplexedConnection, UnreadBytes)>>,
    waiting: AtomicUsize,
    sessions: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The first connection is being made. Requests wait for it.
    Connecting,
    /// The store has answered in time.
    Used,
    /// The last answer was late or an error. Requests go on without the store while it is probed.
    Doubted { by_error: bool },
    /// There is no connection.
    Away,
}

/// A place among the requests that wait for the store.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl StoreClient {
    /// `budget` is `StoreTimeout`; `max_unread` limits what the store may send before it is read.
    pub fn new(
        store: &StoreUrl,
        budget: Duration,
        max_unread: usize,
        report: Arc<StoreReport>,
        push: Option<StorePush>,
    ) -> StoreClient {
        StoreClient {
            store: store.clone(),
            budget,
            max_unread,
            report,
            push: push.map(Arc::new),
            phase: watch::Sender::new(Phase::Connecting),
            connection: Mutex::default(),
            waiting: AtomicUsize::new(0),
            sessions: AtomicU64::new(0),
        }
    }

    /// When a request that asks now has waited for `StoreTimeout`.
    pub fn deadline(&self) -> Instant {
        Instant::now() + self.budget
    }

    /// Asks the store, and waits for at most `StoreTimeout`. `read` returns `None` for an answer that no script gives.
    pub async fn ask<T>(
        &self,
        call: &StoreCall<'_>,
        read: impl FnOnce(StoreReply) -> Option<T>,
    ) -> Result<T, StoreAway> {
        self.ask_until(self.deadline(), call, read).await
    }

    /// Like [`StoreClient::ask`], for one of several questions with one deadline.
    pub async fn ask_until<T>(
        &self,
        deadline: Instant,
        call: &StoreCall<'_>,
        read: impl FnOnce(StoreReply) -> Option<T>,
    ) -> Result<T, StoreAway> {
        let answer = self.ask_in_time(deadline, call, read).await;
        match answer {
            Ok(_) => self.report.answered(),
            Err(StoreAway) => self.report.alone(),
        }
        answer
    }

    async fn ask_in_time<T>(
        &self,
        deadline: Instant,
        call: &StoreCall<'_>,
        read: impl FnOnce(StoreReply) -> Option<T>,
    ) -> Result<T, StoreAway> {
        let phase = *self.phase.borrow();
        if matches!(phase, Phase::Away | Phase::Doubted { .. }) {
            return Err(StoreAway);
        }
        let before = self.waiting.fetch_add(1, Relaxed);
        let _place = Waiting(&self.waiting);
        if before >= MAX_WAITING {
            return Err(StoreAway);
        }
        match timeout_at(deadline.into(), self.answer(call)).await {
            Ok(Ok(reply)) => read(reply).ok_or_else(|| self.doubt(Some("the store has answered with unexpected data"))),
            Ok(Err(why)) => Err(self.doubt(why.as_deref())),
            Err(_) => {
                self.report.late();
                Err(self.doubt(None))
            }
        }
    }

    /// Runs a command for which no request waits. Fails if the store does not answer within 5 seconds.
    pub async fn ask_patiently(&self, call: &StoreCall<'_>) -> Result<StoreReply, StoreAway> {
        match timeout(PATIENCE, self.answer(call)).await {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(why)) => Err(self.doubt(why.as_deref())),
            Err(_) => Err(self.doubt(None)),
        }
    }

    /// The answer of the store. `Err(None)`: there is no connection.
    async fn answer(&self, call: &StoreCall<'_>) -> Result<StoreReply, Option<String>> {
        if *self.phase.borrow() == Phase::Connecting {
            let _ = self.phase.subscribe().wait_for(|phase| *phase != Phase::Connecting).await;
        }
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (mut connection, unread) = connection.ok_or(None)?;
        let answer = call.run(&mut connection).await;
        unread.reset();
        answer.map_err(|error| Some(reason(&error)))
    }

    /// Stops the use of the store until it has answered a probe in time.
    fn doubt(&self, why: Option<&str>) -> StoreAway {
        if let Some(why) = why {
            self.report.failed(why);
        }
        self.phase.send_if_modified(|phase| {
            let next = match phase {
                Phase::Connecting => Phase::Away,
                Phase::Used => Phase::Doubted { by_error: why.is_some() },
                Phase::Doubted { .. } | Phase::Away => return false,
            };
            *phase = next;
            true
        });
        StoreAway
    }

    /// Waits until the store is used by another connection than the one with this number. Returns its number, from 1.
    pub async fn until_used_after(&self, session: u64) -> u64 {
        let is_other = |phase: &Phase| *phase == Phase::Used && self.sessions.load(Relaxed) != session;
        let _ = self.phase.subscribe().wait_for(is_other).await;
        self.sessions.load(Relaxed)
    }

    /// Waits until the store is used.
    pub async fn until_used(&self) {
        let _ = self.phase.subscribe().wait_for(|phase| *phase == Phase::Used).await;
    }

    /// Whether the store is used now.
    pub fn is_used(&self) -> bool {
        *self.phase.borrow() == Phase::Used
    }

    /// State and counters.
    pub fn report(&self) -> &StoreReport {
        &self.report
    }

    /// Connects, and again after each failure, until the task is dropped. Runs on a local task set. `probe` is a
    /// command of the kind that requests send; `read` calls [`StoreLogin::read`] on another thread, because that may
    /// block.
    pub async fn run(&self, probe: &StoreCall<'_>, read: impl AsyncFn() -> Result<StoreLogin, String>) {
        let _end = Ending(self);
        let mut pause = FIRST_PAUSE;
        loop {
            let since = Instant::now();
            let why = match read().await {
                Ok(login) => self.session(&login, probe).await.err().unwrap_or_default(),
                Err(why) => why,
            };
            self.set(Phase::Away, None);
            self.report.unused(&why);
            if since.elapsed() > MAX_PAUSE {
                pause = FIRST_PAUSE;
            }
            // The store is not overrun by all servers at once when it is there again.
            sleep(pause.mul_f64(drawn(&(50..=100)) as f64 / 100.0)).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Serves a connection until it fails.
    async fn session(&self, login: &StoreLogin, probe: &StoreCall<'_>) -> Result<(), String> {
        let unread = UnreadBytes::new(self.max_unread);
        let push = self.push.clone();
        let receive = move |info: &PushInfo| {
            if let (Some(push), PushKind::Message, [_, Value::BulkString(message)]) =
                (&push, &info.kind, info.data.as_slice())
            {
                (push.receive)(message);
            }
        };
        let mut connection = answered(RedisConnection::open(&self.store, login, &unread, receive)).await?;
        let mut commands = connection.commands.clone();
        if let Some(push) = &self.push {
            let subscribed = async { commands.subscribe(&push.channel).await.map_err(|error| reason(&error)) };
            answered(subscribed).await?;
        }
        probed(probe, &mut commands).await?;
        unread.reset();
        if self.sessions.fetch_add(1, Relaxed) > 0 {
            self.report.reconnected();
        }
        self.set(Phase::Used, Some((connection.commands.clone(), unread)));
        self.report.used();
        let mut phase = self.phase.subscribe();
        let (mut pause, mut since) = (FIRST_PAUSE, Instant::now());
        loop {
            let by_error = tokio::select! {
                why = connection.ended() => return Err(why),
                doubted = phase.wait_for(|phase| matches!(phase, Phase::Doubted { .. })) =>
                    matches!(doubted.as_deref(), Ok(Phase::Doubted { by_error: true })),
            };
            // The probe may succeed where requests do not.
            if by_error {
                if since.elapsed() > MAX_PAUSE {
                    pause = FIRST_PAUSE;
                }
                sleep(pause).await;
                pause = (pause * 2).min(MAX_PAUSE);
            }
            self.regain(probe, &mut commands).await?;
            since = Instant::now();
        }
    }

    /// Probes a store that was late or has answered with an error until it answers in time. Fails if the connection is
    /// of no use.
    async fn regain(&self, probe: &StoreCall<'_>, commands: &mut MultiplexedConnection) -> Result<(), String> {
        let mut pause = FIRST_PAUSE;
        loop {
            let probing = probed(probe, commands);
            tokio::pin!(probing);
            match timeout(self.budget, &mut probing).await {
                Ok(answer) => {
                    answer?;
                    self.phase.send_replace(Phase::Used);
                    self.report.used();
                    return Ok(());
                }
                Err(_) => {
                    let within = self.budget.as_millis();
                    self.report.unused(&format!("the store does not answer within StoreTimeout {within}ms"));
                    probing.await?;
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(MAX_PROBE_PAUSE);
        }
    }

    fn set(&self, phase: Phase, connection: Option<(MultiplexedConnection, UnreadBytes)>) {
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = connection;
        self.phase.send_replace(phase);
    }
}

/// Ends what [`StoreClient::run`] has begun.
struct Ending<'a>(&'a StoreClient);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.set(Phase::Away, None);
    }
}

async fn probed(probe: &StoreCall<'_>, commands: &mut MultiplexedConnection) -> Result<(), String> {
    answered(async { probe.run(commands).await.map(drop).map_err(|error| reason(&error)) }).await
}

/// The answer of a store, within [`PATIENCE`].
async fn answered<T>(answer: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    match timeout(PATIENCE, answer).await {
        Ok(answer) => answer,
        Err(_) => Err(format!("the store has not answered within {} s", PATIENCE.as_secs())),
    }
}
