//! The test bed: a shadow server whose pool is resized between measurements, and the load on it.

use std::time::{Duration, Instant};

use anyhow::bail;

use super::load::TestLoad;
use super::shadow::Shadow;
use super::sweep::{Bed, Slice};
use bench::RunOutcome;
use bench::plan::RunPlan;
use machine::capacity::TimeShare;
use machine::memory::{self, Measured};

/// Approximate number of responses in a slice.
const ANSWERS: f64 = 60.0;
/// Minimum length of a slice in seconds, unless there is little time.
const MIN_SLICE_SECONDS: f64 = 0.5;
/// Maximum length of a slice, as a part of the total time. A request must take at most half of that to be measured.
const MAX_PART: f64 = 1.0 / 20.0;
/// Minimum warm-up in seconds, for connections to open and workers to get load.
const WARM_UP: f64 = 0.1;
/// Length of the measurement with one visitor and one worker.
const ALONE: Duration = Duration::from_millis(1500);
/// Minimum of responses for a 99th percentile.
const ENOUGH: u64 = 300;

/// Measures the shadow server with a given number of workers.
pub struct TestBed<'b, 'i> {
    shadow: &'b mut Shadow<'i>,
    load: &'b TestLoad,
    /// When the search must end.
    until: Instant,
    /// Time for the whole search, in seconds.
    time: f64,
    /// Measurement with one worker and one visitor.
    pub alone: Alone,
    /// Current number of workers.
    have: u32,
    /// Number of failed requests.
    pub failed: u64,
    /// Error of the first failed request.
    pub first_failure: Option<String>,
}

/// Measurement with one worker and one visitor.
#[derive(Debug, Clone, Copy)]
pub struct Alone {
    /// Mean response time to the last byte, in seconds.
    pub latency: f64,
    /// CPU and waiting time of a request.
    pub share: TimeShare,
    /// Memory of one more worker, in bytes.
    pub one_more: u64,
    /// Memory independent of the number of workers, in bytes.
    pub base: u64,
}

/// Performance of a number of workers with all visitors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Served {
    /// Requests per second.
    pub rate: f64,
    /// Median response time, in seconds.
    pub median: f64,
    /// 99th percentile of the response time, in seconds; `None`: too few responses.
    pub p99: Option<f64>,
}

impl<'b, 'i> TestBed<'b, 'i> {
    /// Measures requests with one visitor and one worker. Fails if no request is answered.
    pub fn new(shadow: &'b mut Shadow<'i>, load: &'b TestLoad, time: Duration) -> anyhow::Result<TestBed<'b, 'i>> {
        shadow.size(1, 1)?;
        // Warm-up: the first request includes compilation.
        let mut first = load.plan(shadow.address, 1, Duration::ZERO, ALONE);
        first.cuts = false;
        must_answer(&bench::run(&first)?, shadow)?;
        let before = shadow.work()?;
        let outcome = bench::run(&first)?;
        must_answer(&outcome, shadow)?;
        let work = shadow.work()? - before;
        let share = work.share.per(work.answered);
        let one_more = memory::one_more(&shadow.measured()?).unwrap_or_default();
        let alone = Alone { latency: outcome.tally.latency.mean() / 1e9, share, one_more, base: shadow.base()? };
        let (until, time) = (Instant::now() + time, time.as_secs_f64());
        Ok(TestBed { shadow, load, until, time, alone, have: 1, failed: 0, first_failure: None })
    }

    /// Whether requests take so long that a slice has too few responses.
    pub fn is_too_slow(&self) -> bool {
        self.alone.latency * 2.0 > self.time * MAX_PART
    }

    /// Measures two pool sizes with all visitors, each twice in alternation, long enough for percentiles.
    pub fn serve(&mut self, sizes: [u32; 2], rates: [f64; 2]) -> anyhow::Result<[Served; 2]> {
        let first = [self.long(sizes[0], rates[0])?, self.long(sizes[1], rates[1])?];
        let [one, other] = [self.long(sizes[1], rates[1])?, self.long(sizes[0], rates[0])?];
        let [mut a, mut b] = first;
        a.add(&other);
        b.add(&one);
        Ok([Served::of(&a), Served::of(&b)])
    }

    fn long(&mut self, workers: u32, rate: f64) -> anyhow::Result<RunOutcome> {
        self.admit(workers)?;
        // Time in which each visitor gets one response.
        let round = f64::from(self.load.visitors) / rate.max(0.1);
        let [warm_up, length] =
            [1.2 * round, 4.0 * round].map(|time| time.max(MIN_SLICE_SECONDS).min(self.time / 12.0));
        let [warm_up, length] = [warm_up, length].map(Duration::from_secs_f64);
        let plan = self.load.plan(self.shadow.address, self.load.visitors, warm_up, length);
        self.run(&plan)
    }

    /// Memory of the workers.
    pub fn measured(&mut self) -> anyhow::Result<Vec<Measured>> {
        self.shadow.measured()
    }

    fn length(&self, workers: u32) -> f64 {
        let shortest = MIN_SLICE_SECONDS.min(self.time / 200.0).max(0.1);
        self.at_most((ANSWERS * self.alone.latency / f64::from(workers)).max(shortest))
    }

    /// Limits a length to its part of the total time.
    fn at_most(&self, seconds: f64) -> f64 {
        seconds.min(self.time * MAX_PART)
    }

    fn warm_up(&self) -> f64 {
        WARM_UP + self.alone.latency
    }

    /// Makes `workers` workers active. New workers get load before anything is measured.
    fn admit(&mut self, workers: u32) -> anyhow::Result<()> {
        self.shadow.until_quiet()?;
        let is_new = workers > self.have;
        self.have = self.have.max(workers);
        let there = self.shadow.size(self.have, workers)?;
        if there < workers {
            bail!("only {there} of {workers} workers fit: the shadow's memory is limited");
        }
        if is_new {
            let length = Duration::from_secs_f64(self.at_most(self.alone.latency * 3.0 + WARM_UP));
            let plan = self.load.plan(self.shadow.address, self.load.visitors, Duration::ZERO, length);
            self.run(&plan)?;
            self.shadow.until_quiet()?;
        }
        Ok(())
    }

    fn run(&mut self, plan: &RunPlan) -> anyhow::Result<RunOutcome> {
        let outcome = bench::run(plan)?;
        must_go_on(&outcome)?;
        self.failed += outcome.tally.failed();
        if self.first_failure.is_none() {
            self.first_failure = outcome.tally.failures.values().next().map(|(_, message)| message.clone());
        }
        if outcome.tally.completed == 0 && outcome.tally.failed() > 0 {
            must_answer(&outcome, self.shadow)?;
        }
        Ok(outcome)
    }
}

impl Bed for TestBed<'_, '_> {
    fn slice(&mut self, workers: u32, round: usize) -> anyhow::Result<Slice> {
        self.admit(workers)?;
        let [warm_up, length] = [self.warm_up(), self.length(workers)].map(Duration::from_secs_f64);
        // Each round uses another part of the log, the same for all pool sizes.
        let first = (round as u64).wrapping_mul(self.load.length() / 7 + 1);
        let plan = self.load.plan(self.shadow.address, self.load.visitors, warm_up, length);
        let plan = RunPlan { first, ..plan };
        let before = self.shadow.work()?;
        let outcome = self.run(&plan)?;
        let work = self.shadow.work()? - before;
        let rate = outcome.tally.came as f64 / outcome.elapsed.as_secs_f64().max(1e-9);
        Ok(Slice { rate, answered: work.answered, share: work.share })
    }

    fn has_time_for(&self, workers: &[u32]) -> bool {
        let needed: f64 = workers.iter().map(|workers| self.warm_up() + self.length(*workers)).sum();
        Instant::now() + Duration::from_secs_f64(needed) < self.until
    }
}

impl Served {
    fn of(outcome: &RunOutcome) -> Served {
        let latency = &outcome.tally.latency;
        let quantile = |quantile| latency.value_at_quantile(quantile) as f64 / 1e9;
        let p99 = (latency.len() >= ENOUGH).then(|| quantile(0.99));
        Served { rate: outcome.tally.came as f64 / outcome.elapsed.as_secs_f64(), median: quantile(0.5), p99 }
    }
}

fn must_go_on(outcome: &RunOutcome) -> anyhow::Result<()> {
    if outcome.interrupted {
        bail!("interrupted: nothing was changed");
    }
    Ok(())
}

/// Fails unless at least one response has a status from 200 to 399: error pages are no load.
fn must_answer(outcome: &RunOutcome, shadow: &Shadow<'_>) -> anyhow::Result<()> {
    must_go_on(outcome)?;
    let tally = &outcome.tally;
    if tally.statuses.range(200..400).any(|(_, count)| *count > 0) {
        return Ok(());
    }
    let failures: Vec<String> =
        tally.failures.values().map(|(count, first)| format!("{count} times: {first}")).collect();
    let statuses: Vec<String> = tally.statuses.keys().map(u16::to_string).collect();
    match tally.statuses.range(..500).next() {
        Some(_) => bail!("every request is answered with {}; name other URLs", statuses.join(", ")),
        None => bail!("every request fails, {}; {}", failures.join(", "), shadow.last_errors()),
    }
}
