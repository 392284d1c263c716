//! Slow clients that hold workers although their answers may be stored: the disk is full, or a limit is reached. While requests
//! wait, each such client has to take its answer at a minimum speed, which its own thread measures.

use std::time::{Duration, Instant};

use super::{Action, Pool};

/// For how long a client may be too slow.
const MOST: Duration = Duration::from_secs(1);
/// The same after many clients in a row were too slow: the next ones are most likely of the same kind.
const LEAST: Duration = Duration::from_millis(100);
/// Without a client that was too slow for so long, the next one may be slow for [`MOST`] again.
const FORGIVEN: Duration = Duration::from_secs(10);

/// For how long clients may be too slow, by how many were of late.
#[derive(Debug, Default)]
pub struct Patience {
    /// When the last client was given up, and how many before it.
    last: Option<(Instant, u32)>,
}

impl Patience {
    fn now(&self, now: Instant) -> Duration {
        match self.last {
            Some((at, count)) if now.saturating_duration_since(at) < FORGIVEN => {
                (MOST / (1 << count.min(8))).max(LEAST)
            }
            _ => MOST,
        }
    }

    fn lose(&mut self, now: Instant) {
        let before = self.last.filter(|(at, _)| now.saturating_duration_since(*at) < FORGIVEN).map_or(0, |(_, n)| n);
        self.last = Some((now, before.saturating_add(1)));
    }
}

impl Pool {
    /// Requests wait: has the speed of those clients measured that hold a worker although their answers may be stored.
    pub(super) fn press_slow(&mut self, now: Instant) {
        if self.held == 0 || self.queued == 0 {
            return;
        }
        let patience = self.patience.now(now);
        let stuck = self.workers.values().filter(|worker| worker.held && worker.stuck);
        let pressed: Vec<_> = stuck.filter_map(|worker| worker.current).collect();
        pressed.into_iter().for_each(|request| self.act(Action::Press { request, patience }));
    }

    /// A client was too slow and loses the rest of its answer.
    pub fn gave_up_slow(&mut self, now: Instant) {
        self.patience.lose(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_clients_are_too_slow_the_less_time_has_the_next_one() {
        let (mut patience, mut now) = (Patience::default(), Instant::now());
        let mut all = Vec::new();
        for _ in 0..6 {
            all.push(patience.now(now).as_millis());
            now += patience.now(now);
            patience.lose(now);
        }
        assert_eq!(all, [1000, 500, 250, 125, 100, 100]);
        (0..100).for_each(|_| patience.lose(now));
        assert_eq!(patience.now(now), LEAST);
        assert_eq!(patience.now(now + FORGIVEN), MOST);
    }
}
