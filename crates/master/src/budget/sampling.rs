//! The order and the times of memory measurements. A state machine without I/O and without a clock.

use std::time::{Duration, Instant};

use crate::backoff::Backoff;

/// Measuring takes one part in this many of the time.
const SHARE: u32 = 200;
/// The shortest time between two measurements.
const PAUSE: Duration = Duration::from_millis(20);
/// Interval between two measurements of the same process while there are few processes.
const ROUND: Duration = Duration::from_secs(2);
/// Time from the start of a server to its first measurement, unless a limit depends on it.
const CALM: Duration = Duration::from_secs(1);
/// A sampler that does not answer for this long hangs in the kernel.
const PATIENCE: Duration = Duration::from_secs(60);

/// An action for the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplerAction {
    Start,
    /// Have the sampler measure this process.
    Measure(i32),
    /// Kill the sampler: it does not answer.
    Kill,
}

/// State of the sampler and of the request sent to it.
#[derive(Debug)]
pub struct Sampling {
    has_begun: bool,
    is_running: bool,
    backoff: Backoff,
    /// Deadline of the measurement under way.
    answer_due: Option<Instant>,
    next: Instant,
    /// The process that was measured last.
    last: i32,
}

impl Sampling {
    /// The state before the first start of a sampler.
    pub fn new(now: Instant) -> Sampling {
        Sampling {
            has_begun: false,
            is_running: false,
            backoff: Backoff::default(),
            answer_due: None,
            next: now,
            last: 0,
        }
    }

    /// Notes that the server serves. The first measurement waits for [`CALM`], because the first requests need the
    /// processors, unless it `is_urgent`.
    pub fn begin(&mut self, is_urgent: bool, now: Instant) {
        if !std::mem::replace(&mut self.has_begun, true) && !is_urgent {
            self.next = now + CALM;
        }
    }

    /// The action that is due. `processes` are in order; `new` was not measured yet.
    pub fn tick(&mut self, processes: &[i32], new: Option<i32>, now: Instant) -> Option<SamplerAction> {
        if self.answer_due.is_some_and(|by| by <= now) {
            return Some(SamplerAction::Kill);
        }
        if self.answer_due.is_some() || self.next > now {
            return None;
        }
        if !self.is_running {
            return Some(SamplerAction::Start);
        }
        let after = new.or_else(|| processes.iter().copied().find(|pid| *pid > self.last));
        let pid = after.or(processes.first().copied())?;
        (self.last, self.answer_due) = (pid, Some(now + PATIENCE));
        Some(SamplerAction::Measure(pid))
    }

    /// Notes that the sampler was started.
    pub fn started(&mut self) {
        self.is_running = true;
    }

    /// The sampler has ended, or could not be started.
    pub fn failed(&mut self, now: Instant) {
        (self.is_running, self.answer_due) = (false, None);
        self.next = now + self.backoff.failed(now);
    }

    /// The sampler is killed: its end is seen later.
    pub fn killed(&mut self, now: Instant) {
        (self.answer_due, self.next) = (None, now + PATIENCE);
    }

    /// The sampler has answered, after `took`. `has_new`: one of the `count` processes was not measured yet, and comes
    /// first.
    pub fn answered(&mut self, took: Duration, count: usize, has_new: bool, now: Instant) {
        let round = if has_new { PAUSE } else { ROUND / u32::try_from(count).unwrap_or(u32::MAX).max(1) };
        (self.answer_due, self.next) = (None, now + (took * SHARE).max(round));
    }

    /// When [`Self::tick`] must be called next.
    pub fn wakes(&self) -> Instant {
        self.answer_due.unwrap_or(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(now: Instant) -> Sampling {
        let mut sampling = Sampling::new(now);
        assert_eq!(sampling.tick(&[5], None, now), Some(SamplerAction::Start));
        sampling.started();
        sampling
    }

    #[test]
    fn the_first_measurement_waits_unless_it_is_urgent() {
        let now = Instant::now();
        let (mut usual, mut urgent) = (Sampling::new(now), Sampling::new(now));
        usual.begin(false, now);
        urgent.begin(true, now);
        assert_eq!(usual.tick(&[3], None, now), None);
        assert_eq!(urgent.tick(&[3], None, now), Some(SamplerAction::Start));
        assert_eq!(usual.wakes(), now + CALM);
        usual.begin(false, now + CALM);
        assert_eq!(usual.tick(&[3], None, now + CALM), Some(SamplerAction::Start));
    }

    #[test]
    fn processes_are_measured_in_turn_and_new_ones_first() {
        let mut now = Instant::now();
        let mut sampling = running(now);
        let mut next = |new| {
            let action = sampling.tick(&[3, 7, 9], new, now);
            assert_eq!(sampling.tick(&[3, 7, 9], new, now), None, "one at a time");
            sampling.answered(Duration::ZERO, 3, false, now);
            now = sampling.wakes();
            action
        };
        let measured = [next(None), next(None), next(Some(3)), next(None), next(None), next(None)];
        assert_eq!(measured, [3, 7, 3, 7, 9, 3].map(|pid| Some(SamplerAction::Measure(pid))));
    }

    #[test]
    fn measuring_takes_a_small_part_of_the_time() {
        let now = Instant::now();
        let mut sampling = running(now);
        let mut pause = |took, count, has_new| {
            sampling.answered(took, count, has_new, now);
            sampling.wakes() - now
        };
        assert_eq!(pause(Duration::ZERO, 4, false), ROUND / 4);
        assert_eq!(pause(Duration::ZERO, 4, true), PAUSE);
        assert_eq!(pause(Duration::from_millis(50), 4, true), Duration::from_secs(10));
    }

    #[test]
    fn a_sampler_that_hangs_is_killed_and_the_next_one_started() {
        let now = Instant::now();
        let mut sampling = running(now);
        assert_eq!(sampling.tick(&[3], None, now), Some(SamplerAction::Measure(3)));
        let late = sampling.wakes();
        assert_eq!(sampling.tick(&[3], None, late), Some(SamplerAction::Kill));
        sampling.killed(late);
        assert_eq!(sampling.tick(&[3], None, late), None);
        sampling.failed(late);
        assert_eq!(sampling.tick(&[3], None, late), None);
        assert_eq!(sampling.tick(&[3], None, sampling.wakes()), Some(SamplerAction::Start));
    }
}
