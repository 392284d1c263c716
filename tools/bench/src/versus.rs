//! Compares two servers in alternating rounds, so that changes on the machine affect both.

use std::time::Duration;

use super::plan::{RunLimits, RunPlan};
use super::run::RunOutcome;
use super::threads::run;

/// Number of rounds with each server.
const ROUNDS: u32 = 10;
/// Student's t for a 95 % confidence interval of that many differences.
const T: f64 = 2.262;
/// Shortest warm-up of a round, which opens its connections anew.
const MIN_WARM_UP: Duration = Duration::from_millis(100);

/// The results of a comparison.
#[derive(Debug)]
pub struct Versus {
    /// All rounds with the first server.
    pub a: RunOutcome,
    /// All rounds with the second server.
    pub b: RunOutcome,
    /// Pairs of rounds; fewer than ROUNDS if the run was interrupted.
    pub rounds: Vec<[Round; 2]>,
}

/// The compared numbers of a round.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// Requests per second.
    pub rate: f64,
    /// The median latency, in seconds.
    pub median: f64,
    /// 99th percentile of the latency, in seconds.
    pub p99: f64,
}

/// A ratio with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The geometric mean over the rounds.
    pub ratio: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Runs both plans in rounds: A B B A A B B A …, so that neither is always second.
pub fn versus(a: &RunPlan, b: &RunPlan) -> anyhow::Result<Versus> {
    let [a, b] = [a, b].map(part);
    let mut versus = one(&a, &b, 0)?;
    for number in 1..ROUNDS {
        if versus.a.interrupted || versus.b.interrupted {
            break;
        }
        let next = one(&a, &b, number)?;
        versus.a.add(&next.a);
        versus.b.add(&next.b);
        versus.rounds.extend(next.rounds);
    }
    Ok(versus)
}

/// Runs one round of each server.
fn one(a: &RunPlan, b: &RunPlan, number: u32) -> anyhow::Result<Versus> {
    let (a, b) = if number.is_multiple_of(2) {
        let first = run(a)?;
        (first, run(b)?)
    } else {
        let first = run(b)?;
        (run(a)?, first)
    };
    let is_whole = !a.interrupted && !b.interrupted;
    let rounds = is_whole.then(|| [Round::of(&a), Round::of(&b)]).into_iter().collect();
    Ok(Versus { a, b, rounds })
}

/// The plan of one round.
fn part(plan: &RunPlan) -> RunPlan {
    let end = RunLimits {
        requests: plan.end.requests.map(|requests| requests.div_ceil(u64::from(ROUNDS))),
        after: plan.end.after.map(|after| after / ROUNDS),
    };
    RunPlan { end, warm_up: (plan.warm_up / ROUNDS).max(MIN_WARM_UP), ..plan.clone() }
}

impl Round {
    fn of(outcome: &RunOutcome) -> Round {
        let quantile = |q| outcome.tally.latency.value_at_quantile(q) as f64 / 1e9;
        let rate = outcome.tally.in_time as f64 / outcome.elapsed.as_secs_f64();
        Round { rate, median: quantile(0.5), p99: quantile(0.99) }
    }
}

impl Ratio {
    /// The ratio of the second to the first, by Student's t over the logarithms of the rounds' ratios: rounds are few,
    /// and ratios are symmetric only as logarithms. `None`: a round lacks the number.
    pub fn of(rounds: &[[Round; 2]], what: impl Fn(&Round) -> f64) -> Option<Ratio> {
        let logs: Vec<f64> = rounds.iter().map(|[a, b]| (what(b) / what(a)).ln()).collect();
        if logs.len() < ROUNDS as usize || logs.iter().any(|log| !log.is_finite()) {
            return None;
        }
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let margin = T * (variance / count).sqrt();
        Some(Ratio { ratio: mean.exp(), low: (mean - margin).exp(), high: (mean + margin).exp() })
    }

    /// Whether the interval excludes 1.
    pub fn shows_a_difference(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn rounds(factor: f64, noise: f64, random: &mut Random) -> Vec<[Round; 2]> {
        let mut round = |rate: f64| {
            // The sum of twelve uniform numbers is nearly normal.
            let normal = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            Round { rate: rate * (normal * noise).exp(), median: 1.0, p99: 0.0 }
        };
        (0..ROUNDS).map(|_| [round(1000.0), round(1000.0 * factor)]).collect()
    }

    #[test]
    fn a_95_percent_interval_contains_the_true_ratio_in_95_percent_of_runs() {
        let mut random = Random::seeded(7);
        let ratios = (0..2000).filter_map(|_| Ratio::of(&rounds(1.2, 0.1, &mut random), |round| round.rate));
        let held = ratios.filter(|ratio| ratio.low <= 1.2 && ratio.high >= 1.2).count();
        assert!((1860..1940).contains(&held), "{held} of 2000");
    }

    #[test]
    fn a_difference_is_shown_where_there_is_one() {
        let mut random = Random::seeded(7);
        let ratio = |rounds: &[[Round; 2]]| Ratio::of(rounds, |round| round.rate).expect("numbers");
        assert!(ratio(&rounds(1.2, 0.02, &mut random)).shows_a_difference());
        let same = (0..1000).filter(|_| ratio(&rounds(1.0, 0.05, &mut random)).shows_a_difference()).count();
        assert!(same < 80, "{same} of 1000");
        assert_eq!(Ratio::of(&rounds(1.0, 0.1, &mut random), |round| round.p99), None);
        assert_eq!(Ratio::of(&rounds(1.0, 0.1, &mut random)[1..], |round| round.rate), None);
    }
}
