//! When processes of `FastCgiServer` start. Without I/O and without a clock.

use std::time::{Duration, Instant};

use config::fastcgi_servers::StaticServer;

/// A process that ends by itself within this time, without a response, has failed to start; mod_fastcgi's.
const SHORT_LIFE: Duration = Duration::from_secs(30);
/// Failed starts of each process after which there is a pause; mod_fastcgi's.
const MAX_FAILURES: u32 = 3;
/// The pause; mod_fastcgi's.
pub const PAUSE: Duration = Duration::from_secs(600);

/// The starts of one program.
pub struct StandingStarts {
    wanted: u32,
    restart_delay: Duration,
    start_delay: Duration,
    started: u32,
    /// Failed starts since the last response.
    failures: u32,
    /// When the next process may start.
    not_before: Instant,
}

impl StandingStarts {
    pub fn new(server: &StaticServer, now: Instant) -> StandingStarts {
        let StaticServer { processes, restart_delay, start_delay, .. } = *server;
        StandingStarts { wanted: processes, restart_delay, start_delay, started: 0, failures: 0, not_before: now }
    }

    /// When the next process must start if `running` processes exist; `None`: enough exist.
    pub fn due(&self, running: usize) -> Option<Instant> {
        (running < self.wanted as usize).then_some(self.not_before)
    }

    /// Whether starts are paused after repeated failures.
    pub fn is_paused(&self, now: Instant) -> bool {
        self.failures >= self.most_failures() && now < self.not_before
    }

    /// Notes a start.
    pub fn has_started(&mut self, now: Instant) {
        self.started = self.started.saturating_add(1);
        if self.started < self.wanted {
            self.not_before = now + self.start_delay;
        }
    }

    /// Notes a response, which shows that the program works.
    pub fn has_answered(&mut self) {
        self.failures = 0;
    }

    /// Notes that a process has ended by itself at the age `age` after `answered` responses, or could not be started.
    /// Returns whether a pause begins.
    pub fn has_ended(&mut self, age: Duration, answered: u64, now: Instant) -> bool {
        if answered == 0 && age < SHORT_LIFE {
            self.failures = self.failures.saturating_add(1);
        }
        let begins = self.failures >= self.most_failures();
        let delay = if begins { PAUSE } else { self.restart_delay.saturating_sub(age) };
        self.not_before = self.not_before.max(now + delay);
        begins
    }

    fn most_failures(&self) -> u32 {
        MAX_FAILURES.saturating_mul(self.wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(processes: u32, now: Instant) -> StandingStarts {
        let seconds = Duration::from_secs;
        let (restart_delay, start_delay) = (seconds(5), seconds(1));
        let server = StaticServer { file: "/p".into(), host: 0, processes, restart_delay, start_delay };
        StandingStarts::new(&server, now)
    }

    #[test]
    fn the_first_processes_start_one_after_the_other() {
        let now = Instant::now();
        let mut starts = starts(2, now);
        assert_eq!(starts.due(0), Some(now));
        starts.has_started(now);
        assert_eq!(starts.due(1), Some(now + Duration::from_secs(1)));
        starts.has_started(now + Duration::from_secs(1));
        assert_eq!(starts.due(2), None);
    }

    #[test]
    fn a_process_that_ends_is_replaced_after_the_delay_since_its_start() {
        let now = Instant::now();
        let mut starts = starts(1, now);
        starts.has_started(now);
        assert!(!starts.has_ended(Duration::from_secs(2), 1, now));
        assert_eq!(starts.due(0), Some(now + Duration::from_secs(3)));
        let later = now + Duration::from_secs(100);
        assert!(!starts.has_ended(Duration::from_secs(97), 1, later));
        assert_eq!(starts.due(0), Some(later));
    }

    #[test]
    fn a_program_that_cannot_start_gets_a_pause() {
        let now = Instant::now();
        let mut starts = starts(1, now);
        let second = Duration::from_secs(1);
        assert!(!starts.has_ended(second, 0, now) && !starts.has_ended(second, 0, now));
        starts.has_answered();
        assert!(!starts.has_ended(second, 0, now) && !starts.has_ended(second, 0, now));
        assert!(!starts.has_ended(SHORT_LIFE, 0, now), "it lived long enough");
        assert!(!starts.is_paused(now));
        assert!(starts.has_ended(second, 0, now));
        assert!(starts.is_paused(now));
        assert_eq!(starts.due(0), Some(now + PAUSE));
        assert!(!starts.is_paused(now + PAUSE));
    }
}
