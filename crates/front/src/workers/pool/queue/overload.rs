//! When a lane of the queue is overloaded: more requests come than are answered, for longer than a burst lasts.
//!
//! ```text
//!   Calm ── the oldest has waited for QueueStale, and since then half as many more wait ──▶ Overloaded
//!     ▲                                                                                         │
//!     └────────────────────── for a while hardly any request was shed ◀──────────────────────┘
//! ```
//!
//! A burst only shrinks, and a fixed number of clients that ask again as soon as they are answered keeps the queue at one
//! length: neither is an overload, and all of them are served in order. In an overload the order they came in would let
//! everybody wait until nobody is left to read the answer: so the newest is served first, and who has waited for about as
//! long as a request takes is shed.

use std::time::{Duration, Instant};

/// Fewer that wait are no overload worth speaking of.
const FEW: usize = 16;
/// Who waits for less would not notice.
const LEAST_PATIENCE: Duration = Duration::from_millis(5);
/// A moving average over about this many requests.
const MEMORY: u32 = 32;
/// So many times longer is waited while the pool may still grow.
const GROWING: u32 = 10;
/// An overload is over when, among so many, less than one was shed.
const HARDLY: u32 = 20;

/// What a lane knows of its load.
#[derive(Debug)]
pub struct Overload {
    /// `QueueStale`; zero: never.
    stale: Duration,
    state: LoadState,
    /// A moving average of what a request takes a worker, once one has ended.
    typical: Option<Duration>,
    /// Counted since `window_began`.
    window: Window,
    window_began: Instant,
    /// How long the last window was at whose begin and end requests waited, and what was in it.
    last: Option<(Window, Duration)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoadState {
    /// With how many waited when the oldest had become stale.
    Calm(Option<usize>),
    Overloaded {
        since: Instant,
        shed: u64,
    },
}

#[derive(Debug, Clone, Copy, Default)]
struct Window {
    /// Requests waited when it began.
    waits: bool,
    arrived: u32,
    ended: u32,
    shed: u32,
}

/// Those who wait.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// For how long the oldest has waited.
    pub oldest: Option<Duration>,
    /// How many there are.
    pub waiting: usize,
    /// More workers may be on their way.
    pub may_grow: bool,
}

/// What a look at the clock has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// An overload has begun.
    Begins,
    /// It is over.
    Ends {
        /// Requests that were shed.
        shed: u64,
        /// How long it was.
        after: Duration,
    },
}

impl Overload {
    /// Nothing is known yet.
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

    /// Whether more come than are answered.
    pub fn is_on(&self) -> bool {
        matches!(self.state, LoadState::Overloaded { .. })
    }

    /// A request has come.
    pub fn arrives(&mut self) {
        self.window.arrived += 1;
    }

    /// One has ended that took a worker so long.
    pub fn ended(&mut self, took: Duration) {
        self.window.ended += 1;
        self.typical = Some(self.typical.map_or(took, |typical| (typical * (MEMORY - 1) + took) / MEMORY));
    }

    /// A request was shed.
    pub fn shed(&mut self) {
        self.window.shed += 1;
        if let LoadState::Overloaded { shed, .. } = &mut self.state {
            *shed += 1;
        }
    }

    /// How long a request may wait now; `None`: for its own QueueTimeout.
    pub fn patience(&self) -> Option<Duration> {
        let typical = self.typical.unwrap_or(self.stale);
        // Together with its own time in a worker it stays below twice that time.
        self.is_on().then(|| (typical * 3 / 4).max(LEAST_PATIENCE))
    }

    /// After how long a client may find a place: the time it takes to answer those who wait and those who were turned
    /// away of late, if they all come again.
    pub fn retry_after(&self, waiting: usize) -> Option<Duration> {
        let (window, length) = self.last?;
        let backlog = waiting + window.shed as usize + 1;
        Some(length.mul_f64(backlog as f64 / f64::from(window.ended.max(1))))
    }

    /// Looks at the clock.
    pub fn watch(&mut self, line: Line, now: Instant) -> Option<Change> {
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

    /// Begins another window when this one is long enough to tell something; says what was in it.
    fn roll(&mut self, waits: bool, now: Instant) -> Option<Window> {
        let length = now.duration_since(self.window_began);
        let enough = self.stale.max(LEAST_PATIENCE).max(self.typical.unwrap_or_default() * HARDLY);
        if length < enough {
            return None;
        }
        self.window_began = now;
        let window = std::mem::replace(&mut self.window, Window { waits, ..Window::default() });
        // Otherwise what was answered is what was asked for, not what can be.
        if window.waits && waits {
            self.last = Some((window, length));
        }
        Some(window)
    }
}
