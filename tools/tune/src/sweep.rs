//! The search for the best number of workers, independent of a server and of a clock.
//!
//! ```text
//!   double   1, 2, 4, 8 … until four times as many workers answer no more
//!   climb    halve the distance between the best and the next above it: the top may lie between them
//!   refine   halve the distance between the last that is too few and the first that is enough
//!   verify   the numbers near the knee in turns, so that other load of the machine affects all of them
//! ```
//!
//! The knee is the smallest number of workers that answers nearly as many requests as the best. More workers only use
//! memory and compete for processors.

use std::collections::BTreeMap;

use super::statistics::{Estimate, median, ratio};
use machine::capacity::TimeShare;

/// Minimum ratio to the best rate that counts as nearly equal.
const NEARLY: f64 = 0.98;
/// Minimum gain by four times as many workers; below this, the rate is flat.
const FLAT: f64 = 1.05;
/// Minimum and maximum of rounds that measure the pool sizes near the knee.
const ROUNDS: std::ops::RangeInclusive<usize> = 6..=24;
/// Margin of a ratio, as a logarithm, at which the ratio is known well enough.
const KNOWN: f64 = 0.02;

/// A measurement with one number of workers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slice {
    /// Answered requests per second.
    pub rate: f64,
    /// Number of answered requests.
    pub answered: f64,
    /// CPU and waiting time of the workers meanwhile.
    pub share: TimeShare,
}

/// Test bed of the search.
pub trait Bed {
    /// Measures with `workers` active workers.
    fn slice(&mut self, workers: u32, round: usize) -> anyhow::Result<Slice>;

    /// Whether there is time for a slice with each of these numbers.
    fn has_time_for(&self, workers: &[u32]) -> bool;
}

/// Measurements of all numbers of workers.
#[derive(Debug, Default)]
pub struct Sweep {
    points: BTreeMap<u32, Vec<Slice>>,
    /// Rates of the pool sizes measured in turns, one map per round.
    rounds: Vec<BTreeMap<u32, f64>>,
    /// Whether the time ended before the search.
    pub is_cut: bool,
}

/// Result for a number of workers.
#[derive(Debug, Clone, Copy)]
pub struct SweepPoint {
    pub workers: u32,
    /// Requests per second.
    pub rate: Estimate,
    /// Number of slices measured.
    pub slices: usize,
    /// CPU and waiting time of a request.
    pub share: TimeShare,
}

impl Sweep {
    /// Searches up to `most` workers. `also` is measured in alternation with the others at the end.
    pub fn run(bed: &mut impl Bed, most: u32, also: u32) -> anyhow::Result<Sweep> {
        let mut sweep = Sweep::default();
        sweep.double(bed, most)?;
        sweep.climb(bed)?;
        sweep.refine(bed)?;
        // The refined measurements may contain a new best.
        sweep.climb(bed)?;
        sweep.verify(bed, most, also.clamp(1, most))?;
        Ok(sweep)
    }

    fn double(&mut self, bed: &mut impl Bed, most: u32) -> anyhow::Result<()> {
        let mut workers = 1;
        loop {
            if !self.measure(bed, workers, 0)? {
                return Ok(());
            }
            let flat = workers >= 4 && self.rate(workers) < self.rate(workers / 4) * FLAT;
            if flat || workers >= most {
                return Ok(());
            }
            workers = (workers * 2).min(most);
        }
    }

    /// Searches for a maximum between the best number and the next measured one above.
    fn climb(&mut self, bed: &mut impl Bed) -> anyhow::Result<()> {
        loop {
            let best = self.best();
            let above = self.points.range(best + 1..).next().map_or(best, |(workers, _)| *workers);
            if above - best <= (best / 16).max(1) || !self.measure(bed, best + (above - best) / 2, 0)? {
                return Ok(());
            }
        }
    }

    fn refine(&mut self, bed: &mut impl Bed) -> anyhow::Result<()> {
        for round in 1.. {
            let knee = self.knee();
            let below = self.points.range(..knee).next_back().map_or(0, |(workers, _)| *workers);
            if knee - below <= (knee / 16).max(1) {
                break;
            }
            let middle = below + (knee - below) / 2;
            if !self.measure(bed, middle, round)? || !self.measure(bed, knee, round)? {
                break;
            }
        }
        Ok(())
    }

    /// Measures the neighbours of the knee, the best, and the site's present number in turns.
    fn verify(&mut self, bed: &mut impl Bed, most: u32, also: u32) -> anyhow::Result<()> {
        let mut near = self.near(most);
        near.push(also);
        near.sort_unstable();
        near.dedup();
        for round in 0..*ROUNDS.end() {
            if !bed.has_time_for(&near) {
                self.is_cut |= round < *ROUNDS.start();
                break;
            }
            near.rotate_left(usize::from(round > 0));
            let mut rates = BTreeMap::new();
            for workers in &near {
                let slice = bed.slice(*workers, round)?;
                self.points.entry(*workers).or_default().push(slice);
                rates.insert(*workers, slice.rate);
            }
            self.rounds.push(rates);
            if self.rounds.len() >= *ROUNDS.start() && self.is_known() {
                break;
            }
        }
        Ok(())
    }

    fn near(&self, most: u32) -> Vec<u32> {
        let knee = self.knee();
        // Two sizes below the knee: a single one may have been measured too low.
        let below = self.points.range(..knee).rev().take(2).map(|(workers, _)| *workers);
        let above = (knee + (knee / 2).max(1)).min(most);
        below.into_iter().chain([knee, above, self.best()]).collect()
    }

    /// Whether more rounds would not change the result.
    fn is_known(&self) -> bool {
        let best = self.best();
        let known = |workers: u32| {
            self.against(workers, best).is_none_or(|ratio| {
                let far = (ratio.mean - NEARLY.ln()).abs() > ratio.margin;
                far || ratio.margin < KNOWN
            })
        };
        self.in_turns().all(known)
    }

    fn measure(&mut self, bed: &mut impl Bed, workers: u32, round: usize) -> anyhow::Result<bool> {
        if !self.points.is_empty() && !bed.has_time_for(&[workers]) {
            self.is_cut = true;
            return Ok(false);
        }
        let slice = bed.slice(workers, round)?;
        self.points.entry(workers).or_default().push(slice);
        Ok(true)
    }

    /// The smallest number of workers that answers nearly as many requests as the best number. If numbers were measured
    /// in turns, only those count.
    pub fn knee(&self) -> u32 {
        let best = self.best();
        let enough = |workers: &u32| match self.against(*workers, best) {
            Some(ratio) => ratio.mean >= NEARLY.ln(),
            None => self.rate(*workers) >= self.rate(best) * NEARLY,
        };
        let candidates: Vec<u32> = match self.rounds.is_empty() {
            true => self.points.keys().copied().collect(),
            false => self.in_turns().collect(),
        };
        candidates.into_iter().find(enough).unwrap_or(best)
    }

    /// The number of workers with the highest rate.
    pub fn best(&self) -> u32 {
        let candidates: Vec<u32> = match self.rounds.is_empty() {
            true => self.points.keys().copied().collect(),
            false => self.in_turns().collect(),
        };
        let best = candidates.into_iter().max_by(|a, b| self.rate(*a).total_cmp(&self.rate(*b)));
        best.unwrap_or(1)
    }

    fn in_turns(&self) -> impl Iterator<Item = u32> {
        self.rounds.first().into_iter().flat_map(|round| round.keys().copied())
    }

    /// The ratio of two numbers' rates, as a logarithm, from the rounds that have both.
    pub fn against(&self, one: u32, other: u32) -> Option<Estimate> {
        let pair = |round: &BTreeMap<u32, f64>| Some((*round.get(&one)?, *round.get(&other)?));
        ratio(&self.rounds.iter().filter_map(pair).collect::<Vec<_>>())
    }

    /// Median of the requests per second with `workers` workers.
    pub fn rate(&self, workers: u32) -> f64 {
        self.points.get(&workers).map_or(0.0, |slices| median(&rates(slices)))
    }

    /// Results from the fewest workers to the most.
    pub fn points(&self) -> impl Iterator<Item = SweepPoint> {
        self.points.iter().map(|(workers, slices)| {
            let answered: f64 = slices.iter().map(|slice| slice.answered).sum();
            let share = slices.iter().map(|slice| slice.share).fold(TimeShare::default(), |sum, share| sum + share);
            let rate = Estimate { mean: median(&rates(slices)), ..Estimate::of(&rates(slices)) };
            SweepPoint { workers: *workers, rate, slices: slices.len(), share: share.per(answered) }
        })
    }
}

fn rates(slices: &[Slice]) -> Vec<f64> {
    slices.iter().map(|slice| slice.rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A server whose rate is a function of its workers, with noise.
    struct Simulated<F> {
        rate: F,
        noise: f64,
        seed: u64,
        slices: usize,
        time: usize,
    }

    impl<F: Fn(u32) -> f64> Bed for Simulated<F> {
        fn slice(&mut self, workers: u32, _: usize) -> anyhow::Result<Slice> {
            self.slices += 1;
            self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let noise = ((self.seed >> 33) as f64 / f64::from(1u32 << 31) - 0.5) * 2.0 * self.noise;
            let rate = (self.rate)(workers) * (1.0 + noise);
            Ok(Slice { rate, answered: rate, share: TimeShare::default() })
        }

        fn has_time_for(&self, workers: &[u32]) -> bool {
            self.slices + workers.len() <= self.time
        }
    }

    fn run(rate: impl Fn(u32) -> f64, noise: f64, seed: u64, time: usize) -> (Sweep, usize) {
        let mut bed = Simulated { rate, noise, seed, slices: 0, time };
        (Sweep::run(&mut bed, 100, 100).expect("no failure"), bed.slices)
    }

    #[test]
    fn the_knee_of_a_limit_is_the_limit() {
        for limit in [1, 2, 3, 8, 13, 40, 100] {
            let (sweep, _) = run(|workers| f64::from(workers.min(limit)) * 33.0, 0.0, 1, 1000);
            assert!(sweep.knee().abs_diff(limit) <= limit / 16, "{limit}: {}", sweep.knee());
            assert!(!sweep.is_cut);
        }
    }

    #[test]
    fn a_search_without_time_has_a_note() {
        let (sweep, slices) = run(f64::from, 0.0, 1, 3);
        assert!(sweep.is_cut && slices <= 3, "{slices}");
        assert_eq!(sweep.knee(), 4, "the best of what was measured");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// The chosen number answers nearly as much as the best, for any limit and any cost of each worker above it.
        #[test]
        fn the_chosen_number_answers_nearly_as_many_requests_as_the_best(limit in 1u32..100, cost in 0.0..0.002f64, seed: u64) {
            let rate = |workers: u32| {
                f64::from(workers.min(limit)) * 10.0 * (1.0 - cost * f64::from(workers.saturating_sub(limit))).max(0.1)
            };
            let (sweep, slices) = run(rate, 0.04, seed, 400);
            let best = (1..=100).map(rate).fold(0.0, f64::max);
            let chosen = rate(sweep.knee());
            prop_assert!(chosen >= best * 0.92, "{} of {limit}: {chosen} of {best}", sweep.knee());
            prop_assert!(slices < 200, "{slices}");
        }
    }
}
