//! Speed at which a pool approaches its [`PoolTarget`], as in Apache's prefork MPM.
//!
//! Below MinSpareServers the missing workers are forked at once. Above that a pool grows by 1, a second later by 2,
//! then 4, up to 32 at once. One spare worker too many leaves each second.

use std::time::{Duration, Instant};

use super::target::PoolTarget;

const STEP: Duration = Duration::from_secs(1);
const FASTEST: u32 = 32;

/// One step of a pool towards its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    Rest,
    /// Fork this number of workers.
    Fork(u32),
    /// Ask this number of idle workers to leave.
    Retire(u32),
}

#[derive(Debug)]
pub struct PoolPace {
    /// Number of workers that the next step forks.
    rate: u32,
    /// Earliest time of the next growth or shrinking; `None`: immediately.
    next: Option<Instant>,
    /// Whether [`PoolPace::is_exhausted_first`] has reported the exhaustion.
    reported: bool,
}

impl Default for PoolPace {
    fn default() -> PoolPace {
        PoolPace { rate: 1, next: None, reported: false }
    }
}

impl PoolPace {
    /// The step of the pool at `now`.
    pub fn step(&mut self, target: &PoolTarget, now: Instant) -> Move {
        let (alive, floor) = (target.load.alive, target.limits.min_spare);
        if alive < floor {
            // Replacing workers that ended is no growth: a site must not run a second on fewer workers than
            // MinSpareServers.
            return Move::Fork(floor - alive);
        }
        if alive == target.workers {
            self.rate = 1;
            return Move::Rest;
        }
        if self.next.is_some_and(|next| now < next) {
            return Move::Rest;
        }
        self.next = Some(now + STEP);
        if alive < target.workers {
            let n = (target.workers - alive).min(self.rate);
            self.rate = (self.rate * 2).min(FASTEST);
            return Move::Fork(n);
        }
        Move::Retire(alive.saturating_sub(target.limits.max_clients).max(1))
    }

    /// When [`Self::step`] must be called next.
    pub fn wakes(&self, target: &PoolTarget) -> Option<Instant> {
        if target.load.alive == target.workers { None } else { self.next }
    }

    /// Whether to log, once, that the pool is exhausted.
    pub fn is_exhausted_first(&mut self, target: &PoolTarget) -> bool {
        let reached = target.is_exhausted();
        let first = reached && !self.reported;
        self.reported |= reached;
        first
    }
}

#[cfg(test)]
mod tests {
    use wire::control::PoolId;

    use super::*;
    use crate::sizing::{LimitRule, PoolLimits, PoolLoad, PoolState, targets};
    use config::PoolSettings;

    const LIMITS: PoolLimits = PoolLimits { start: 5, min_spare: 5, max_spare: 10, max_clients: 150 };

    fn within(limits: PoolLimits, alive: u32, busy: u32, queued: u32) -> PoolTarget {
        let load = PoolLoad { alive, processes: alive, busy, queued };
        let state = PoolState { id: PoolId { generation: 1, pool: 0 }, limits, rule: LimitRule::Directives, load };
        targets(&[state], None).pools[0]
    }

    fn at(alive: u32, busy: u32, queued: u32) -> PoolTarget {
        within(LIMITS, alive, busy, queued)
    }

    #[test]
    fn a_busy_pool_grows_one_two_four_and_so_on_each_second() {
        let mut pace = PoolPace::default();
        let mut now = Instant::now();
        let mut alive = 5;
        let mut forked = Vec::new();
        for _ in 0..8 {
            let Move::Fork(n) = pace.step(&at(alive, alive, 500), now) else { break };
            assert_eq!(pace.step(&at(alive, alive, 500), now), Move::Rest);
            forked.push(n);
            alive += n;
            now += STEP;
        }
        assert_eq!(forked, [1, 2, 4, 8, 16, 32, 32, 32]);
    }

    #[test]
    fn the_pace_starts_anew_when_there_are_enough() {
        let mut pace = PoolPace::default();
        let now = Instant::now();
        assert_eq!(pace.step(&at(20, 20, 9), now), Move::Fork(1));
        assert_eq!(pace.step(&at(20, 20, 9), now + STEP), Move::Fork(2));
        assert_eq!(pace.step(&at(20, 12, 0), now + STEP), Move::Rest);
        assert_eq!(pace.step(&at(20, 20, 9), now + 2 * STEP), Move::Fork(1));
    }

    #[test]
    fn the_dead_are_replaced_at_once() {
        let mut pace = PoolPace::default();
        let now = Instant::now();
        assert_eq!(pace.step(&at(0, 0, 0), now), Move::Fork(5));
        assert_eq!(pace.step(&at(3, 3, 0), now), Move::Fork(2));
    }

    #[test]
    fn too_many_spare_workers_leave_one_a_second() {
        let mut pace = PoolPace::default();
        let now = Instant::now();
        assert_eq!(pace.step(&at(20, 0, 0), now), Move::Retire(1));
        assert_eq!(pace.step(&at(20, 0, 0), now), Move::Rest);
        assert_eq!(pace.wakes(&at(20, 0, 0)), Some(now + STEP));
        assert_eq!(pace.step(&at(10, 0, 0), now + STEP), Move::Rest);
        assert_eq!(pace.wakes(&at(10, 0, 0)), None);
    }

    #[test]
    fn the_pool_never_exceeds_max_clients_and_logs_it_once() {
        let limits = PoolLimits { start: 2, min_spare: 2, max_spare: 2, max_clients: 2 };
        let at = |busy, queued| within(limits, 2, busy, queued);
        let mut pace = PoolPace::default();
        assert_eq!(pace.step(&at(2, 30), Instant::now()), Move::Rest);
        assert!(pace.is_exhausted_first(&at(2, 30)));
        assert!(!pace.is_exhausted_first(&at(1, 0)));
        assert!(!pace.is_exhausted_first(&at(2, 30)));
    }

    #[test]
    fn a_fixed_pool_shifted_down_retires_one_and_up_forks_one() {
        let pool = PoolSettings {
            start: 4,
            min_spare: 4,
            max_spare: 4,
            max_clients: 4,
            max_requests: 0..=0,
            queue_length: 9,
            ..PoolSettings::default()
        };
        let shifted = |by| PoolPace::default().step(&within(PoolLimits::of(&pool, by), 4, 0, 0), Instant::now());
        assert_eq!((shifted(-1), shifted(1)), (Move::Retire(1), Move::Fork(1)));
        assert_eq!(PoolLimits::of(&pool, -9).max_clients, 1);
    }

    /// Whatever the load does, each pool rests at its target after some seconds of the same load.
    #[test]
    fn a_pool_reaches_its_target_and_stays_at_that_size() {
        let began = Instant::now();
        for (busy, queued) in [(0, 0), (3, 0), (30, 200), (149, 9), (1, 1)] {
            let (mut pace, mut alive) = (PoolPace::default(), 40);
            for second in 0..60 {
                match pace.step(&at(alive, busy, queued), began + STEP * second) {
                    Move::Rest => {}
                    Move::Fork(n) => alive += n,
                    Move::Retire(n) => alive -= n,
                }
            }
            let target = at(alive, busy, queued);
            assert_eq!(alive, target.workers, "busy {busy}, queued {queued}");
        }
    }
}
