//! Decides when the profiler is started. A state machine without I/O and without a clock.

use std::time::Instant;

use super::backoff::Backoff;

/// Whether the profiler runs, and when the next one may be started.
#[derive(Debug, Default)]
pub struct ProfilerSchedule {
    is_running: bool,
    backoff: Backoff,
    /// Earliest time of the next automatic start.
    next: Option<Instant>,
}

impl ProfilerSchedule {
    pub fn started(&mut self) {
        self.is_running = true;
    }

    /// The profiler has ended, or could not be started.
    pub fn failed(&mut self, now: Instant) {
        self.is_running = false;
        self.next = Some(now + self.backoff.failed(now));
    }

    /// Whether the profiler must be started now. `wanted`: SlowLog is on.
    pub fn is_due(&self, wanted: bool, now: Instant) -> bool {
        wanted && !self.is_running && self.next.is_none_or(|at| at <= now)
    }

    /// When [`Self::is_due`] becomes true.
    pub fn wakes(&self, wanted: bool) -> Option<Instant> {
        self.next.filter(|_| wanted && !self.is_running)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_profiler_that_ended_is_started_again_after_a_wait_if_slowlog_is_on() {
        let (mut schedule, now) = (ProfilerSchedule::default(), Instant::now());
        assert!(schedule.is_due(true, now) && !schedule.is_due(false, now));
        schedule.started();
        assert!(!schedule.is_due(true, now) && schedule.wakes(true).is_none());
        schedule.failed(now);
        let next = schedule.wakes(true).expect("a next one");
        assert!(!schedule.is_due(true, now) && schedule.is_due(true, next) && next > now);
        assert_eq!(schedule.wakes(false), None);
        schedule.failed(next + Duration::from_millis(1));
        assert!(schedule.wakes(true) > Some(next));
    }
}
