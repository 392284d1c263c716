//! `MaxClients auto`: finds the number of workers by trying others and comparing the answered requests.
//!
//! ```text
//!   Watching ── requests wait, and all workers are busy ──▶ Trying more ── it answers more ──▶ Watching, with more
//!       ▲                                                        └─ it does not ─▶ back, and for a while no other try
//!       ├──────── more workers than the processors have work for ─▶ fewer, at once
//!       └──────── the tries are over and requests wait ──────────▶ Trying fewer ── it answers less ──▶ back
//! ```
//!
//! The processors are the upper bound: [`TimeShare::workers`]. Below that, a resource behind the workers may be
//! exhausted, such as a database; then each further worker only makes all requests slower. A try is judged by the
//! answered requests while others wait all the time. Without waiting requests nothing can be learnt.

use std::time::{Duration, Instant};

use machine::capacity::TimeShare;

/// Factor on the computed number of workers that the processors can use, because it is computed from means; one worker
/// is added.
const HEADROOM: f64 = 1.25;
/// Factors for the number of workers in a try.
const MORE: f64 = 1.5;
const FEWER: f64 = 0.8;
/// Minimum gain from more workers, as a part of the theoretical gain, to retain them.
const WORTH_IT: f64 = 0.3;
/// Minimum throughput with fewer workers, as a part of the previous throughput, to retain the smaller number.
const NEARLY: f64 = 0.97;
/// Mean share of busy workers above which all of them count as busy.
const ALL: f64 = 0.85;
/// Answers that a judgement needs: `ENOUGH`, or `FEW` after `LONG` seconds.
const ENOUGH: f64 = 20.0;
const FEW: f64 = 4.0;
const LONG: f64 = 20.0;
/// Pause after a failed try; it doubles after each further one, up to `MAX_PAUSE`.
const PAUSE: Duration = Duration::from_secs(15);
const MAX_PAUSE: Duration = Duration::from_secs(240);

/// Activity of a pool since the last sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObservedLoad {
    /// Length of the period in seconds.
    pub seconds: f64,
    /// Requests that workers have answered.
    pub answered: f64,
    /// How the workers spent their time.
    pub share: TimeShare,
    /// Whether requests wait for a worker.
    pub waits: bool,
    /// Number of workers.
    pub alive: u32,
}

impl ObservedLoad {
    /// Combines two consecutive samples.
    fn and(self, later: &ObservedLoad) -> ObservedLoad {
        ObservedLoad {
            seconds: self.seconds + later.seconds,
            answered: self.answered + later.answered,
            share: self.share + later.share,
            waits: self.waits && later.waits,
            alive: self.alive.min(later.alive),
        }
    }
}

/// Bounds of the number of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutoBounds {
    /// Minimum number of workers.
    pub least: u32,
    /// Number of workers that fit into memory.
    pub most: u32,
}

/// The number of workers, and the search for a better one.
#[derive(Debug)]
pub struct AutoSize {
    workers: u32,
    state: AutoState,
    /// Earliest time of the next trial.
    rest: Option<Instant>,
    pause: Duration,
    /// The next try is with fewer workers.
    fewer_next: bool,
    /// Activity that is too little for a judgement.
    gathered: Option<ObservedLoad>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum AutoState {
    Watching,
    Trying {
        /// The number of workers before the trial.
        from: u32,
        /// Answers a second with that number.
        rate: f64,
        /// False until the first sample after the change, which covers both numbers.
        is_settled: bool,
    },
}

impl AutoSize {
    /// Starts with this number of workers.
    pub fn new(workers: u32) -> AutoSize {
        let (workers, state, rest) = (workers.max(1), AutoState::Watching, None);
        AutoSize { workers, state, rest, pause: PAUSE, fewer_next: false, gathered: None }
    }

    /// The number of workers wanted now.
    pub fn workers(&self) -> u32 {
        self.workers
    }

    /// Takes a sample; returns the number if it has changed.
    pub fn look(&mut self, seen: &ObservedLoad, cores: f64, bounds: AutoBounds, now: Instant) -> Option<u32> {
        let before = self.workers;
        let seen = self.gathered.take().map_or(*seen, |gathered| gathered.and(seen));
        match seen.answered >= ENOUGH || (seen.answered >= FEW && seen.seconds >= LONG) {
            true => self.judge(&seen, most_by_law(&seen, cores).min(bounds.most), now),
            false => self.gathered = Some(seen).filter(|seen| seen.waits),
        }
        self.workers = self.workers.clamp(bounds.least.min(bounds.most).max(1), bounds.most.max(1));
        (self.workers != before).then_some(self.workers)
    }

    fn judge(&mut self, seen: &ObservedLoad, most: u32, now: Instant) {
        let rate = seen.answered / seen.seconds.max(1e-9);
        let all_busy = seen.share.busy >= ALL * seen.seconds * f64::from(self.workers.min(seen.alive));
        if self.workers > most.max(1) {
            (self.workers, self.state) = (most.max(1), AutoState::Watching);
        } else if !seen.waits || !all_busy || seen.alive < self.workers {
            // A try is judged while all of its workers exist and are busy.
        } else if let AutoState::Trying { from, rate: before, is_settled } = self.state {
            match is_settled {
                false => self.state = AutoState::Trying { from, rate: before, is_settled: true },
                true => self.end_try(from, rate / before.max(1e-9), now),
            }
        } else if self.rest.is_none_or(|rest| rest <= now) {
            self.try_another(rate, most);
        }
    }

    fn try_another(&mut self, rate: f64, most: u32) {
        let from = self.workers;
        let (more, fewer) = (f64::from(from) * MORE, f64::from(from) * FEWER);
        let fewer_next = std::mem::replace(&mut self.fewer_next, false);
        self.workers = if fewer_next { fewer.floor() as u32 } else { (more.ceil() as u32).min(most) }.max(1);
        if self.workers != from {
            self.state = AutoState::Trying { from, rate, is_settled: false };
        } else {
            self.fewer_next = !fewer_next;
        }
    }

    fn end_try(&mut self, from: u32, gain: f64, now: Instant) {
        self.state = AutoState::Watching;
        let change = f64::from(self.workers) / f64::from(from) - 1.0;
        let helps = if change > 0.0 { gain >= 1.0 + change * WORTH_IT } else { gain >= NEARLY };
        if helps {
            self.pause = PAUSE;
            return;
        }
        self.fewer_next = change > 0.0;
        self.workers = from;
        self.rest = Some(now + self.pause);
        self.pause = (self.pause * 2).min(MAX_PAUSE);
    }
}

fn most_by_law(seen: &ObservedLoad, cores: f64) -> u32 {
    seen.share.workers(cores).map_or(u32::MAX, |workers| (workers * HEADROOM) as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A simulated site: the needs of its requests, and the machine.
    #[derive(Debug, Clone, Copy)]
    struct World {
        cores: f64,
        /// Seconds of a processor for each request.
        cpu: f64,
        /// Seconds that each request uses a second resource, such as a database.
        wait: f64,
        /// Number of requests that can use the second resource at the same time.
        places: f64,
    }

    impl World {
        /// Answers a second of `workers` workers that are never idle.
        fn rate(&self, workers: u32) -> f64 {
            let by_places = if self.wait > 0.0 { self.places / self.wait } else { f64::INFINITY };
            (f64::from(workers) / (self.cpu + self.wait)).min(self.cores / self.cpu).min(by_places)
        }

        fn seen(&self, workers: u32, noise: f64) -> ObservedLoad {
            let answered = self.rate(workers) * (1.0 + noise);
            let busy = f64::from(workers);
            let wanted = answered * (self.cpu + self.wait);
            let calculates =
                self.cores / self.cpu <= if self.wait > 0.0 { self.places / self.wait } else { f64::INFINITY };
            let queued = if calculates { (busy - wanted).max(0.0) } else { 0.0 };
            let share = TimeShare { busy, cpu: answered * self.cpu, queued };
            ObservedLoad { seconds: 1.0, answered, share, waits: true, alive: workers }
        }

        fn best(&self, most: u32) -> f64 {
            (1..=most).map(|workers| self.rate(workers)).fold(0.0, f64::max)
        }
    }

    const BOUNDS: AutoBounds = AutoBounds { least: 1, most: 200 };

    /// The search after `seconds` seconds of a full queue.
    fn play(world: World, start: u32, seconds: u64, noise: impl Fn(u64) -> f64) -> AutoSize {
        let (mut auto, began) = (AutoSize::new(start), Instant::now());
        for second in 0..seconds {
            let seen = world.seen(auto.workers(), noise(second));
            auto.look(&seen, world.cores, BOUNDS, began + Duration::from_secs(second));
        }
        auto
    }

    #[test]
    fn requests_that_calculate_get_few_workers_and_requests_that_wait_get_many() {
        let calculates = World { cores: 2.0, cpu: 0.005, wait: 0.0, places: 1.0 };
        assert!((2..=4).contains(&play(calculates, 64, 5, |_| 0.0).workers()));
        let waits = World { cores: 2.0, cpu: 0.001, wait: 0.05, places: f64::INFINITY };
        assert!((80..=130).contains(&play(waits, 4, 60, |_| 0.0).workers()));
    }

    #[test]
    fn a_pool_whose_workers_wait_for_each_other_shrinks() {
        let database = World { cores: 2.0, cpu: 0.0005, wait: 0.03, places: 8.0 };
        let up = play(database, 2, 120, |_| 0.0).workers();
        let down = play(database, 64, 900, |_| 0.0).workers();
        assert!((8..=12).contains(&up) && (8..=16).contains(&down), "{up} {down}");
    }

    #[test]
    fn the_number_stays_without_waiting_requests() {
        let world = World { cores: 2.0, cpu: 0.001, wait: 0.05, places: 8.0 };
        let mut auto = AutoSize::new(10);
        for second in 0..100 {
            let seen = ObservedLoad { waits: false, ..world.seen(10, 0.0) };
            assert_eq!(auto.look(&seen, 2.0, BOUNDS, Instant::now() + Duration::from_secs(second)), None);
        }
    }

    #[test]
    fn the_number_of_workers_stays_within_its_bounds() {
        let seen = World { cores: 2.0, cpu: 0.001, wait: 0.05, places: f64::INFINITY }.seen(10, 0.0);
        let mut auto = AutoSize::new(10);
        let bounds = AutoBounds { least: 3, most: 4 };
        assert_eq!(auto.look(&seen, 2.0, bounds, Instant::now()), Some(4));
        assert_eq!(auto.look(&ObservedLoad { answered: 0.0, ..seen }, 2.0, bounds, Instant::now()), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever requests need and wherever the search begins: after five minutes of a full queue nearly as many
        /// requests are answered as possible, with not many more workers than that takes.
        #[test]
        fn the_number_settles_near_the_knee(
            cores in 1u32..16, cpu in 0.0005..0.05f64, wait in 0.0..0.2f64, places in 1u32..100, start in 1u32..200, seed: u64,
        ) {
            let world = World { cores: cores.into(), cpu, wait, places: places.into() };
            let noise = |second: u64| {
                let mixed = seed.wrapping_add(second).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                ((mixed >> 40) as f64 / f64::from(1u32 << 24) - 0.5) * 0.04
            };
            prop_assume!(world.best(BOUNDS.most) > 40.0);
            let auto = play(world, start, 300, noise);
            let (rate, best) = (world.rate(auto.workers()), world.best(BOUNDS.most));
            prop_assert!(rate >= best * 0.75, "{} workers answer {rate:.0} of {best:.0}", auto.workers());
            let knee = (1..=BOUNDS.most).find(|workers| world.rate(*workers) >= best * 0.97).unwrap_or(BOUNDS.most);
            prop_assert!(auto.workers() <= knee * 3 + 3 || auto.workers() <= start, "{} for {knee}", auto.workers());
        }
    }
}
