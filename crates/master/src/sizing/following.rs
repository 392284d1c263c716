//! `MaxClients auto`: computes the number of workers about once a second from the activity of the workers and their
//! processor time, see [`AutoSize`]. The number limits the pool's processes and the requests that run in it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::auto::{AutoBounds, AutoSize, ObservedLoad};
use config::PoolSettings;
use machine::capacity::{CpuTimes, TimeShare};

/// Shorter samples are joined with the next one.
const MIN_SAMPLE: Duration = Duration::from_millis(800);

/// Number of workers, and the last sample.
#[derive(Debug)]
pub struct Following {
    size: AutoSize,
    last: Option<LoadSample>,
}

/// Counters at one moment.
#[derive(Debug)]
pub struct LoadSample {
    /// The moment of the sample.
    pub at: Instant,
    /// Requests that workers have answered.
    pub answered: u64,
    /// Total time that workers have had requests, in µs.
    pub worked_us: u64,
    /// CPU times of each process.
    pub cpu: BTreeMap<i32, CpuTimes>,
    /// Whether requests wait for a worker now.
    pub waits: bool,
    /// Current number of workers.
    pub alive: u32,
}

impl Following {
    /// The state for a pool with `MaxClients auto`. `before`: the previous state, which is continued.
    pub fn of(pool: &PoolSettings, cores: f64, before: Option<Following>) -> Option<Following> {
        let start = pool.start.max(2 * cores as u32).min(pool.max_clients);
        pool.auto.then(|| before.unwrap_or(Following { size: AutoSize::new(start), last: None }))
    }

    /// The number of workers wanted now.
    pub fn workers(&self) -> u32 {
        self.size.workers()
    }

    /// The front has reported. `most` workers fit, and the machine has `cores` processors. Returns whether the sample
    /// was long enough, and then the number before it.
    pub fn note(&mut self, sample: LoadSample, cores: f64, most: u32) -> Option<u32> {
        let (now, before) = (sample.at, self.workers());
        let seen = self.since_last(sample)?;
        self.size.look(&seen, cores, AutoBounds { least: 1, most }, now);
        Some(before)
    }

    /// The activity since the last sample, if that is long enough ago.
    fn since_last(&mut self, sample: LoadSample) -> Option<ObservedLoad> {
        let is_new = |last: &LoadSample| sample.answered < last.answered || sample.worked_us < last.worked_us;
        let Some(last) = self.last.take_if(|last| is_new(last) || sample.at - last.at >= MIN_SAMPLE) else {
            if self.last.is_none() {
                self.last = Some(sample);
            }
            return None;
        };
        let times = sample.cpu.iter().filter_map(|(pid, times)| Some(*times - *last.cpu.get(pid)?));
        let times = times.fold(CpuTimes::default(), |sum, times| sum + times);
        let seen = ObservedLoad {
            seconds: (sample.at - last.at).as_secs_f64(),
            answered: sample.answered.saturating_sub(last.answered) as f64,
            share: TimeShare {
                busy: sample.worked_us.saturating_sub(last.worked_us) as f64 / 1e6,
                cpu: times.cpu,
                queued: times.queued,
            },
            waits: sample.waits,
            alive: sample.alive,
        };
        self.last = Some(sample);
        Some(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: Instant, answered: u64) -> LoadSample {
        LoadSample { at, answered, worked_us: answered * 1000, cpu: BTreeMap::new(), waits: false, alive: 4 }
    }

    #[test]
    fn a_sample_counts_when_it_is_long_enough_and_of_the_same_front() {
        let pool = PoolSettings { auto: true, start: 4, max_clients: 20, ..PoolSettings::default() };
        let mut following = Following::of(&pool, 1.0, None).expect("auto");
        let began = Instant::now();
        assert_eq!(following.note(sample(began, 100), 1.0, 20), None, "the first");
        assert_eq!(following.note(sample(began + MIN_SAMPLE / 2, 150), 1.0, 20), None, "too short");
        assert_eq!(following.note(sample(began + MIN_SAMPLE, 200), 1.0, 20), Some(4));
        assert_eq!(
            following.note(sample(began + MIN_SAMPLE * 3 / 2, 3), 1.0, 20),
            Some(4),
            "another front counts from 0"
        );
    }

    #[test]
    fn the_number_is_retained_over_a_reload() {
        let pool = PoolSettings { auto: true, start: 4, max_clients: 20, ..PoolSettings::default() };
        let before = Following { size: AutoSize::new(9), last: None };
        assert_eq!(Following::of(&pool, 1.0, Some(before)).expect("auto").workers(), 9);
        assert!(Following::of(&PoolSettings { auto: false, ..pool }, 1.0, None).is_none());
    }
}
