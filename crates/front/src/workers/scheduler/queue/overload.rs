//! Overload of a lane: more requests arrive than are answered, for longer than a burst lasts.
//!
//! ```text
//!   Calm ── the oldest has waited for QueueStale, and since then half as many more wait ──▶ Overloaded
//!     ▲                                                                                         │
//!     └────────────────────── for a while hardly any request was shed ◀──────────────────────┘
//! ```
//!
//! A burst only shrinks, and a fixed number of clients that wait for each response keeps the queue at a constant
//! length. Neither is an overload, and all requests are served in order. In an overload, order of arrival would delay
//! every request until its client gives up. So the newest request is served first, and a request is shed once it has
//! waited almost as long as a request takes.

use std::time::{Duration, Instant};

/// Minimum queue length of an overload.
const FEW: usize = 16;
/// Minimum time that a request may wait in an overload.
const MIN_PATIENCE: Duration = Duration::from_millis(5);
/// Weight of the moving average: about this many requests.
const MEMORY: u32 = 32;
/// Factor on `QueueStale` while the pool may still start workers.
const GROWING: u32 = 10;
/// An overload ends when at most one of this many requests was shed.
const HARDLY: u32 = 20;

/// Load of a lane, as measured.
#[derive(Debug)]
pub struct Overload {
    /// `QueueStale`; zero disables overload detection.
    stale: Duration,
    state: LoadState,
    /// Moving average of a request's time in a worker; `None` before the first end.
    typical: Option<Duration>,
    /// Counts since `window_began`.
    window: Window,
    window_began: Instant,
    /// The last window with queued requests at its begin and end, and its length.
    last: Option<(Window, Duration)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoadState {
    /// The lane is not overloaded. The number is the queue length when the oldest request became stale.
    Calm(Option<usize>),
    Overloaded {
        since: Instant,
        shed: u64,
    },
}

#[derive(Debug, Clone, Copy, Default)]
struct Window {
    /// Whether requests were queued at the window's begin.
    waits: bool,
    arrived: u32,
    ended: u32,
    shed: u32,
}

/// A lane's queue at one moment.
#[derive(Debug, Clone, Copy)]
pub struct LaneQueue {
    /// Waiting time of the oldest request.
    pub oldest: Option<Duration>,
    pub waiting: usize,
    /// Whether the pool may still start workers for this lane.
    pub may_grow: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Begins,
    Ends {
        /// Requests that were shed.
        shed: u64,
        /// Length of the overload.
        after: Duration,
    },
}

impl Overload {
    /// Creates the state of a lane without measurements.
    pub fn new(stale: Duration, now: Instant) -> Overload {
        Overload {
            stale,
            state: LoadState::Calm(None),
            typical: None,
            window: Window::default(),
            window_began: now,
            last: None,
        }
    }

    /// Whether the lane is overloaded.
    pub fn is_on(&self) -> bool {
        matches!(self.state, LoadState::Overloaded { .. })
    }

    /// Counts an arrival.
    pub fn arrives(&mut self) {
        self.window.arrived += 1;
    }

    /// Counts the end of a request that took a worker this long.
    pub fn ended(&mut self, took: Duration) {
        self.window.ended += 1;
        self.typical = Some(self.typical.map_or(took, |typical| (typical * (MEMORY - 1) + took) / MEMORY));
    }

    /// Counts a shed request.
    pub fn shed(&mut self) {
        self.window.shed += 1;
        if let LoadState::Overloaded { shed, .. } = &mut self.state {
            *shed += 1;
        }
    }

    /// How long a request may wait now; `None`: for its own `QueueTimeout`.
    pub fn patience(&self) -> Option<Duration> {
        let typical = self.typical.unwrap_or(self.stale);
        // With its own time in a worker, a request then takes less than twice the typical time.
        self.is_on().then(|| (typical * 3 / 4).max(MIN_PATIENCE))
    }

    /// Retry-After: the time to answer all queued requests and those shed in the last window, if all of them come
    /// again.
    pub fn retry_after(&self, waiting: usize) -> Option<Duration> {
        let (window, length) = self.last?;
        let backlog = waiting + window.shed as usize + 1;
        Some(length.mul_f64(backlog as f64 / f64::from(window.ended.max(1))))
    }

    /// Updates the state at `now`; returns a change.
    pub fn watch(&mut self, line: LaneQueue, now: Instant) -> Option<Change> {
        let window = self.roll(line.waiting > 0, now);
        match self.state {
            LoadState::Calm(stale_at) => {
                let stale = if line.may_grow { self.stale * GROWING } else { self.stale };
                let is_stale = !stale.is_zero() && line.oldest.is_some_and(|age| age >= stale);
                let waiting = line.waiting;
                let began = is_stale.then(|| stale_at.unwrap_or(waiting));
                let begins = began.is_some_and(|began| waiting >= (began + began / 2).max(FEW));
                self.state = match begins {
                    true => LoadState::Overloaded { since: now, shed: 0 },
                    false => LoadState::Calm(began),
                };
                begins.then_some(Change::Begins)
            }
            LoadState::Overloaded { since, shed } => {
                let window = window?;
                let over = window.shed * HARDLY <= window.arrived;
                self.state = if over { LoadState::Calm(None) } else { self.state };
                over.then(|| Change::Ends { shed, after: now.duration_since(since) })
            }
        }
    }

    /// Begins another window when the current one is long enough, and returns the finished one.
    fn roll(&mut self, waits: bool, now: Instant) -> Option<Window> {
        let length = now.duration_since(self.window_began);
        let enough = self.stale.max(MIN_PATIENCE).max(self.typical.unwrap_or_default() * HARDLY);
        if length < enough {
            return None;
        }
        self.window_began = now;
        let window = std::mem::replace(&mut self.window, Window { waits, ..Window::default() });
        // Without queued requests the window measures demand, not capacity.
        if window.waits && waits {
            self.last = Some((window, length));
        }
        Some(window)
    }
}
