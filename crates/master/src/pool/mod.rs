//! How many workers there should be: Apache's prefork policy, without a clock or a process of its own.
//!
//! A worker that does not serve is spare. Fewer spare ones than MinSpareServers: fork 1, a second later 2, then 4, up
//! to 32 at once, until there are enough. More than MaxSpareServers: one leaves each second. Never more than MaxClients.

pub mod auto;
mod lives;
mod process;
pub mod worker;
pub mod workers;

pub use process::is_our_child;

use std::time::{Duration, Instant};

use config::Pool;

const STEP: Duration = Duration::from_secs(1);
const FASTEST: u32 = 32;

/// The pool's directives as they are in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolLimits {
    /// `StartServers`
    pub start: u32,
    /// `MinSpareServers`
    pub min_spare: u32,
    /// `MaxSpareServers`
    pub max_spare: u32,
    /// `MaxClients`
    pub max_clients: u32,
}

impl PoolLimits {
    /// The configuration's, `shift` more (TTIN) or fewer (TTOU); one worker stays in any case.
    pub fn of(pool: &Pool, shift: i32) -> PoolLimits {
        let shifted = |n: u32| n.saturating_add_signed(shift).max(1);
        PoolLimits {
            start: shifted(pool.start).min(shifted(pool.max_clients)),
            min_spare: shifted(pool.min_spare).min(shifted(pool.max_clients)),
            max_spare: shifted(pool.max_spare),
            max_clients: shifted(pool.max_clients),
        }
    }

    /// So many, whatever they do.
    pub fn fixed(workers: u32) -> PoolLimits {
        PoolLimits { start: workers, min_spare: workers, max_spare: workers, max_clients: workers }
    }

    /// The same where no more than `most` fit.
    pub fn at_most(self, most: u32) -> PoolLimits {
        let PoolLimits { start, min_spare, max_spare, max_clients } = self;
        PoolLimits {
            start: start.min(most),
            min_spare: min_spare.min(most),
            max_spare,
            max_clients: max_clients.min(most),
        }
    }
}

/// The workers of a pool of the serving generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Starting, idle and busy ones.
    pub alive: u32,
    /// Those that have a request.
    pub busy: u32,
    /// Requests that wait for a worker.
    pub queued: u32,
}

impl Counts {
    fn spare(self) -> u32 {
        self.alive.saturating_sub(self.busy)
    }
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Nothing.
    Rest,
    /// Fork so many.
    Fork(u32),
    /// Ask so many idle ones to leave.
    Retire(u32),
}

/// The policy's memory.
#[derive(Debug)]
pub struct Policy {
    rate: u32,
    /// No growing or shrinking before this; `None`: at once.
    next: Option<Instant>,
    reported: bool,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { rate: 1, next: None, reported: false }
    }
}

impl Policy {
    /// What to do now.
    pub fn decide(&mut self, counts: Counts, limits: &PoolLimits, now: Instant) -> Move {
        let floor = limits.min_spare;
        if counts.alive < floor {
            // Replacing the dead is no growth: a site must not run a second on fewer workers than it was promised.
            return Move::Fork(floor - counts.alive);
        }
        let wanted = want(counts, limits);
        if wanted == Move::Rest {
            self.rate = 1;
            return Move::Rest;
        }
        if self.next.is_some_and(|next| now < next) {
            return Move::Rest;
        }
        self.next = Some(now + STEP);
        match wanted {
            Move::Fork(missing) => {
                let n = missing.min(self.rate);
                self.rate = (self.rate * 2).min(FASTEST);
                Move::Fork(n)
            }
            other => other,
        }
    }

    /// When to ask again although nothing changed.
    pub fn wakes(&self, counts: Counts, limits: &PoolLimits) -> Option<Instant> {
        if want(counts, limits) == Move::Rest { None } else { self.next }
    }

    /// Whether to log, once, that the pool is as large as it may get and too small.
    pub fn reached_max(&mut self, counts: Counts, limits: &PoolLimits) -> bool {
        let reached = counts.alive >= limits.max_clients && counts.spare() == 0;
        let first = reached && !self.reported;
        self.reported |= reached;
        first
    }
}

/// What is missing or too much, whatever the pace.
fn want(counts: Counts, limits: &PoolLimits) -> Move {
    let room = limits.max_clients.saturating_sub(counts.alive);
    let missing = (limits.min_spare + counts.queued).saturating_sub(counts.spare()).min(room);
    if counts.alive > limits.max_clients {
        Move::Retire(counts.alive - limits.max_clients)
    } else if missing > 0 {
        Move::Fork(missing)
    } else if counts.spare() > limits.max_spare.max(limits.min_spare) {
        Move::Retire(1)
    } else {
        Move::Rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: PoolLimits = PoolLimits { start: 5, min_spare: 5, max_spare: 10, max_clients: 150 };

    fn counts(alive: u32, busy: u32, queued: u32) -> Counts {
        Counts { alive, busy, queued }
    }

    #[test]
    fn a_busy_pool_grows_one_two_four_and_so_on_each_second() {
        let mut policy = Policy::default();
        let mut now = Instant::now();
        let mut alive = 5;
        let mut forked = Vec::new();
        for _ in 0..8 {
            let Move::Fork(n) = policy.decide(counts(alive, alive, 500), &LIMITS, now) else { break };
            assert_eq!(policy.decide(counts(alive, alive, 500), &LIMITS, now), Move::Rest);
            forked.push(n);
            alive += n;
            now += STEP;
        }
        assert_eq!(forked, [1, 2, 4, 8, 16, 32, 32, 32]);
    }

    #[test]
    fn the_pace_starts_anew_when_there_are_enough() {
        let mut policy = Policy::default();
        let now = Instant::now();
        assert_eq!(policy.decide(counts(20, 20, 9), &LIMITS, now), Move::Fork(1));
        assert_eq!(policy.decide(counts(20, 20, 9), &LIMITS, now + STEP), Move::Fork(2));
        assert_eq!(policy.decide(counts(20, 12, 0), &LIMITS, now + STEP), Move::Rest);
        assert_eq!(policy.decide(counts(20, 20, 9), &LIMITS, now + 2 * STEP), Move::Fork(1));
    }

    #[test]
    fn the_dead_are_replaced_at_once() {
        let mut policy = Policy::default();
        let now = Instant::now();
        assert_eq!(policy.decide(counts(0, 0, 0), &LIMITS, now), Move::Fork(5));
        assert_eq!(policy.decide(counts(3, 3, 0), &LIMITS, now), Move::Fork(2));
    }

    #[test]
    fn too_many_spare_workers_leave_one_a_second() {
        let mut policy = Policy::default();
        let now = Instant::now();
        assert_eq!(policy.decide(counts(20, 0, 0), &LIMITS, now), Move::Retire(1));
        assert_eq!(policy.decide(counts(20, 0, 0), &LIMITS, now), Move::Rest);
        assert_eq!(policy.wakes(counts(20, 0, 0), &LIMITS), Some(now + STEP));
        assert_eq!(policy.decide(counts(10, 0, 0), &LIMITS, now + STEP), Move::Rest);
        assert_eq!(policy.wakes(counts(10, 0, 0), &LIMITS), None);
    }

    #[test]
    fn the_pool_never_outgrows_max_clients_and_says_so_once() {
        let limits = PoolLimits { start: 2, min_spare: 2, max_spare: 2, max_clients: 2 };
        let mut policy = Policy::default();
        let now = Instant::now();
        assert_eq!(policy.decide(counts(2, 2, 30), &limits, now), Move::Rest);
        assert!(policy.reached_max(counts(2, 2, 30), &limits));
        assert!(!policy.reached_max(counts(2, 1, 0), &limits));
        assert!(!policy.reached_max(counts(2, 2, 30), &limits));
    }

    #[test]
    fn a_fixed_pool_shifted_down_retires_one_and_up_forks_one() {
        let pool = Pool {
            start: 4,
            min_spare: 4,
            max_spare: 4,
            max_clients: 4,
            max_requests: 0..=0,
            queue_length: 9,
            ..Pool::default()
        };
        let now = Instant::now();
        assert_eq!(Policy::default().decide(counts(4, 0, 0), &PoolLimits::of(&pool, -1), now), Move::Retire(1));
        assert_eq!(Policy::default().decide(counts(4, 0, 0), &PoolLimits::of(&pool, 1), now), Move::Fork(1));
        assert_eq!(PoolLimits::of(&pool, -9).max_clients, 1);
    }
}
