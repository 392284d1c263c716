//! `SlowLog`: records the Perl stacks of slow requests. All workers are sampled ten times a second. The stack of a
//! worker whose request exceeds the limit is read each time, and a log line follows when the request is over.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use libperl::PerlActivity;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wire::board;
use wire::control::{GenerationNumber, LongWait, Slot};
use wire::fcgid::phase_name;

use super::profile::StackFrame;
use super::watched::WatchedWorker;
use base::log;
use config::Phase;

/// Interval between two rounds of samples.
const PERIOD: Duration = Duration::from_millis(100);
/// Number of slow requests that are remembered.
const KEPT: usize = 100;
/// Number of different stacks of a request.
const MAX_STACKS: usize = 50;
/// Between two writes for the monitor.
const SHOWS: Duration = Duration::from_secs(1);
/// Bytes of the board that are not requests.
const AROUND: usize = 100;
/// Number of frames in a log line; `cameleer why` shows all.
const FRAMES_IN_LOG: usize = 6;

/// A request that took longer than `SlowLog`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowRecord {
    /// When the front had received the request's head, in µs since 1970.
    pub received_us: u64,
    /// `GET`
    pub method: String,
    /// The requested host.
    pub host: String,
    /// Address of the client.
    #[serde(default)]
    pub client: String,
    /// Path and query.
    pub target: String,
    /// Slot of the worker, counted from 0.
    pub worker: Slot,
    /// Process id of the worker.
    pub pid: i32,
    /// Generation of the code that the worker runs.
    pub generation: GenerationNumber,
    /// Time that the worker had the request, in ms, rounded to 0.1 s; until now while `is_over` is false.
    pub took_ms: u64,
    /// Time that the request waited for a worker, in ms.
    pub queued_ms: u64,
    /// CPU time of the request, in ms.
    pub cpu_ms: u64,
    /// Growth of the worker's memory, in bytes.
    pub grown: i64,
    /// The response is complete, or the worker has ended.
    pub is_over: bool,
    /// The worker ended during the request.
    pub worker_ended: bool,
    /// Number of samples that found it over the limit.
    pub looks: u64,
    /// Time in each phase, rounded to 0.1 s, by the number of samples from its beginning. In the order in which
    /// requests pass them.
    #[serde(default)]
    pub phases: Vec<SlowPhase>,
    /// Stacks of the request, the most frequent first.
    pub stacks: Vec<SlowStack>,
}

/// A stack of a slow request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowStack {
    /// Number of samples.
    pub looks: u64,
    /// Frames, innermost first.
    pub frames: Vec<StackFrame>,
}

/// A phase of a slow request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowPhase {
    /// `PerlHandler`; `FastCGI queue`, `FastCGI program` where a program answers; `other` for time between phases.
    pub phase: String,
    /// Time of the request in this phase.
    pub took_ms: u64,
}

/// A request under way.
#[derive(Debug)]
struct Observed {
    activity: PerlActivity,
    /// CPU time and memory of the worker when the request was first sampled.
    used: Duration,
    memory: u64,
    looks: u64,
    stacks: BTreeMap<String, SlowStack>,
    /// Number of samples in each phase, including those before the request was slow.
    phases: BTreeMap<u16, u64>,
}

impl Observed {
    fn begin(activity: PerlActivity, worker: &WatchedWorker) -> Observed {
        let (used, memory) = (worker.processor_time(), worker.anonymous_memory());
        let phases = BTreeMap::from([(activity.phase, 1)]);
        Observed { activity, used, memory, looks: 0, stacks: BTreeMap::new(), phases }
    }

    /// Time of the request by phase.
    fn phases(&self, took_ms: u64) -> Vec<SlowPhase> {
        let all: u64 = self.phases.values().sum();
        let of_perl = |number| Phase::numbered(number).map_or("other", Phase::name);
        let name = |number| phase_name(number).unwrap_or_else(|| of_perl(number)).to_owned();
        let phase = |(number, looks): (&u16, &u64)| SlowPhase {
            phase: name(*number),
            took_ms: u64::try_from(u128::from(took_ms) * u128::from(*looks) / u128::from(all.max(1)))
                .unwrap_or(u64::MAX),
        };
        self.phases.iter().map(phase).collect()
    }

    fn age(&self, now_us: u64) -> Duration {
        Duration::from_micros(now_us.saturating_sub(self.activity.begun_us))
    }

    fn add(&mut self, frames: Option<Vec<StackFrame>>) {
        self.looks += 1;
        let Some(frames) = frames else { return };
        let key = frames.iter().map(StackFrame::to_string).collect::<Vec<_>>().join("\n");
        if self.stacks.len() < MAX_STACKS || self.stacks.contains_key(&key) {
            self.stacks.entry(key).or_insert(SlowStack { looks: 0, frames }).looks += 1;
        }
    }

    fn record(&self, worker: &WatchedWorker, now_us: u64) -> SlowRecord {
        let PerlActivity { received_us, begun_us, method, host, client, target, .. } = self.activity.clone();
        let mut stacks: Vec<SlowStack> = self.stacks.values().cloned().collect();
        stacks.sort_by_key(|stack| std::cmp::Reverse(stack.looks));
        let took_ms = millis(self.age(now_us));
        let cpu = worker.processor_time().saturating_sub(self.used);
        SlowRecord {
            received_us,
            method,
            host,
            client,
            target,
            worker: worker.slot,
            pid: worker.pid,
            generation: worker.generation,
            took_ms,
            phases: self.phases(took_ms),
            queued_ms: begun_us.saturating_sub(received_us) / 1000,
            cpu_ms: millis(cpu),
            grown: worker.anonymous_memory().cast_signed() - self.memory.cast_signed(),
            is_over: true,
            worker_ended: false,
            looks: self.looks,
            stacks,
        }
    }
}

/// The slow log, and the requests that it remembers.
#[derive(Debug)]
pub struct SlowLog {
    /// The limit of `SlowLog`; `None`: off.
    after: Option<Duration>,
    due: Instant,
    /// Requests under way, by process.
    under_way: HashMap<i32, Observed>,
    last: VecDeque<SlowRecord>,
    /// Slow requests that are not over, as sampled last.
    going_on: Vec<SlowRecord>,
    /// The board that the monitor reads, if there is one.
    board: Option<board::BoardWriter>,
    /// Whether the board is outdated.
    has_news: bool,
    /// Earliest time of the next write to the board.
    shows: Instant,
}

impl SlowLog {
    pub fn new(now: Instant) -> SlowLog {
        SlowLog {
            after: None,
            due: now,
            under_way: HashMap::new(),
            last: VecDeque::new(),
            going_on: Vec::new(),
            board: None,
            has_news: false,
            shows: now,
        }
    }

    /// Sets the limit of `SlowLog`.
    pub fn begins(&mut self, after: Option<Duration>, now: Instant) {
        (self.after, self.due) = (after, now);
        (self.has_news, self.shows) = (true, now);
        self.show(now);
    }

    /// Sets the board that the monitor reads.
    pub fn shows_on(&mut self, board: OwnedFd) {
        self.board = board::BoardWriter::new(board)
            .inspect_err(|error| {
                log::error("profiler", format_args!("cannot pass slow requests to the monitor: {error}"))
            })
            .ok();
    }

    /// Writes the board, if it is outdated and the last write is a second ago.
    fn show(&mut self, now: Instant) {
        let Some(board) = self.board.as_mut().filter(|_| self.has_news && self.shows <= now) else { return };
        (self.has_news, self.shows) = (false, now + SHOWS);
        let shown = shown(self.after, self.going_on.iter().chain(self.last.iter().rev()));
        if let Err(error) = board.write(&shown) {
            log::error("profiler", format_args!("cannot pass slow requests to the monitor: {error}"));
        }
    }

    /// When the next round of samples, or the next write to the board, is due.
    pub fn due(&self) -> Option<Instant> {
        self.after.map(|_| self.due)
    }

    /// Samples all workers, if that is due.
    pub fn look(&mut self, now: Instant, workers: &mut [WatchedWorker]) {
        let Some(after) = self.after.filter(|_| self.due <= now) else { return };
        self.due = now + PERIOD;
        let now_us = since_1970();
        self.has_news |= !self.going_on.is_empty();
        self.going_on.clear();
        for worker in workers {
            self.look_at(worker, after, now_us);
        }
        self.has_news |= !self.going_on.is_empty();
        self.show(now);
    }

    fn look_at(&mut self, worker: &mut WatchedWorker, after: Duration, now_us: u64) {
        let activity = worker.activity();
        if activity.is_none() && worker.has_ended() {
            // The master reports the end of a process, and the record of its request says so.
            return;
        }
        let seen = self.under_way.remove(&worker.pid);
        let is_the_same = |seen: &Observed| activity.as_ref().is_some_and(|now| now.request == seen.activity.request);
        let observed = match (seen, &activity) {
            (Some(mut seen), _) if is_the_same(&seen) => {
                *seen.phases.entry(activity.as_ref().map_or(0, |now| now.phase)).or_default() += 1;
                if seen.age(now_us) >= after {
                    seen.add(worker.stack(&seen.activity));
                }
                Some(seen)
            }
            (seen, next) => {
                let ended = next.as_ref().map_or(now_us, |next| next.begun_us.min(now_us));
                seen.into_iter().for_each(|seen| self.is_over(&seen, worker, ended, false));
                activity.map(|activity| Observed::begin(activity, worker))
            }
        };
        if let Some(observed) = observed {
            if observed.looks > 0 {
                self.going_on.push(SlowRecord { is_over: false, ..observed.record(worker, now_us) });
            }
            self.under_way.insert(worker.pid, observed);
        }
    }

    /// The request of a worker has ended; a slow one is logged.
    fn is_over(&mut self, observed: &Observed, worker: &WatchedWorker, at_us: u64, worker_ended: bool) {
        if observed.looks > 0 {
            self.keep(SlowRecord { worker_ended, ..observed.record(worker, at_us) });
        }
    }

    /// Records a request that waited for the callbacks of its event loop. The samples of one that blocked the loop say
    /// more.
    pub fn note_wait(&mut self, worker: &WatchedWorker, wait: LongWait) {
        let LongWait { received_us, method, host, client, target, queued_ms, took_ms, .. } = wait;
        let since = received_us + queued_ms * 1000;
        let is_known = |slow: &SlowRecord| {
            let begun = slow.received_us + slow.queued_ms * 1000;
            let is_it = (slow.pid, &slow.client, &slow.target) == (worker.pid, &client, &target);
            is_it && begun + 10_000 >= since && begun <= since + took_ms * 1000
        };
        let current = self.under_way.get(&worker.pid).map(|observed| observed.record(worker, since_1970()));
        if self.last.iter().rev().any(is_known) || current.is_some_and(|current| is_known(&current)) {
            return;
        }
        self.keep(SlowRecord {
            received_us,
            method,
            host,
            client,
            target,
            worker: worker.slot,
            pid: worker.pid,
            generation: worker.generation,
            took_ms,
            queued_ms,
            cpu_ms: 0,
            grown: 0,
            is_over: true,
            worker_ended: false,
            looks: 0,
            phases: Vec::new(),
            stacks: Vec::new(),
        });
    }

    /// A worker has ended, and its request with it.
    pub fn ended_with(&mut self, worker: &WatchedWorker) {
        if let Some(observed) = self.under_way.remove(&worker.pid) {
            self.is_over(&observed, worker, since_1970(), true);
        }
    }

    fn keep(&mut self, slow: SlowRecord) {
        log::warn("slow", line(&slow));
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(slow);
        self.has_news = true;
    }

    /// The last slow requests, and current ones, as JSON.
    pub fn recalled(&self) -> serde_json::Result<String> {
        serde_json::to_string(&self.last.iter().chain(&self.going_on).collect::<Vec<_>>())
    }
}

/// As many requests as fit on a board, as JSON: `{"after_ms": 2000, "requests": [...]}`.
fn shown<'a>(after: Option<Duration>, requests: impl Iterator<Item = &'a SlowRecord>) -> String {
    let mut room = board::MAX_BYTES - AROUND;
    let texts = requests.filter_map(|slow| serde_json::to_string(slow).ok());
    let fitting: Vec<String> = texts
        .take_while(|text| {
            let fits = text.len() < room;
            room = room.saturating_sub(text.len() + 1);
            fits
        })
        .collect();
    format!("{{\"after_ms\":{},\"requests\":[{}]}}", json!(after.map(millis)), fitting.join(","))
}

/// The line for the error log.
fn line(slow: &SlowRecord) -> String {
    let SlowRecord { method, host, client, target, worker, pid, generation, queued_ms, cpu_ms, .. } = slow;
    let seconds = |ms: u64| format!("{:.1} s", ms as f64 / 1000.0);
    let waited = slow.took_ms.saturating_sub(*cpu_ms);
    let ended = if slow.worker_ended { ", and its worker ended" } else { "" };
    let mut text = format!(
        "{method} {host}{target} took {}{ended} (in the queue {queued_ms} ms before, CPU {}, waiting {}, memory {:+} kB) \
         client={client} worker={worker} pid={pid} gen={generation}",
        seconds(slow.took_ms),
        seconds(*cpu_ms),
        seconds(waited),
        slow.grown / 1024,
    );
    for SlowStack { looks, frames } in slow.stacks.iter().take(3) {
        let shown: Vec<String> = frames.iter().take(FRAMES_IN_LOG).map(ToString::to_string).collect();
        let more = if frames.len() > FRAMES_IN_LOG { " < …" } else { "" };
        text.push_str(&format!("; {looks} of {} samples: {}{more}", slow.looks, shown.join(" < ")));
    }
    text
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn since_1970() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX)
}
