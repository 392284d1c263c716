//! Measures how fast a client reads its response while requests wait for its worker.

use std::time::{Duration, Instant};

/// Minimum speed of a client, in bytes per second.
const SPEED: u64 = 64 * 1024;

/// Bytes that a client has read during the current measurement.
#[derive(Debug, Default)]
pub struct Pressure {
    taken: u64,
    since: Option<Instant>,
}

impl Pressure {
    /// Counts `bytes` read by the client.
    pub fn taken(&mut self, bytes: usize) {
        self.taken += bytes as u64;
    }

    /// Whether the client was too slow during `patience`. Starts a measurement if none runs, or if the last look was
    /// too long ago.
    pub fn is_too_much(&mut self, patience: Duration, now: Instant) -> bool {
        let Some(since) = self.since.filter(|since| now.saturating_duration_since(*since) <= 4 * patience) else {
            return self.begin(now);
        };
        let elapsed = now.saturating_duration_since(since);
        if elapsed < patience {
            return false;
        }
        let wanted = u128::from(SPEED) * elapsed.as_millis() / 1000;
        let is_slow = u128::from(self.taken) < wanted;
        self.begin(now);
        is_slow
    }

    fn begin(&mut self, now: Instant) -> bool {
        (self.taken, self.since) = (0, Some(now));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(1);

    #[test]
    fn a_client_is_too_slow_only_after_a_whole_measurement() {
        let (mut client, now) = (Pressure::default(), Instant::now());
        client.taken(1 << 30);
        assert!(!client.is_too_much(PATIENCE, now), "what came before does not count");
        assert!(!client.is_too_much(PATIENCE, now + PATIENCE / 2));
        assert!(client.is_too_much(PATIENCE, now + PATIENCE));
    }

    #[test]
    fn a_client_that_takes_enough_is_measured_anew() {
        let (mut client, now) = (Pressure::default(), Instant::now());
        for second in 0..5 {
            assert!(!client.is_too_much(PATIENCE, now + PATIENCE * second), "{second}");
            client.taken(SPEED as usize);
        }
        assert!(!client.is_too_much(PATIENCE, now + PATIENCE * 5));
        client.taken(SPEED as usize - 1);
        assert!(client.is_too_much(PATIENCE, now + PATIENCE * 6));
    }

    #[test]
    fn time_without_samples_does_not_count() {
        let (mut client, now) = (Pressure::default(), Instant::now());
        assert!(!client.is_too_much(PATIENCE, now));
        assert!(!client.is_too_much(PATIENCE, now + 60 * PATIENCE));
        assert!(client.is_too_much(PATIENCE, now + 61 * PATIENCE));
    }
}
