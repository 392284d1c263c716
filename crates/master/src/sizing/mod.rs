//! How many workers each pool is to have.
//!
//! ```text
//!   directives, TTIN and TTOU ─┐
//!   MaxClients auto ───────────┼─▶ targets() ─▶ Target ─▶ Pace: Fork, Retire, or Rest
//!   load ──────────────────────┤   a pure function       by time
//!   memory budget (Plan) ──────┘
//! ```
//!
//! [`targets`] alone decides the number. [`PoolPace`] decides how fast a pool comes to it. [`Sizing`] remembers what
//! both need from one moment to the next. None of them has a clock or does I/O.

mod auto;
mod following;
mod limits;
mod pace;
mod plan;
mod target;

use std::collections::BTreeMap;
use std::time::Instant;

use wire::control::{Load, PoolId, PoolNumber};

use super::backoff::Backoff;
use config::{Config, PoolSettings, pools};

pub use following::{Following, LoadSample};
pub use limits::{PoolLimits, PoolLoad};
pub use pace::{Move, PoolPace};
pub use plan::MemoryPlan;
pub use target::{LimitRule, PoolState, PoolTarget, Targets, targets};

/// The memory of one pool, over all generations.
#[derive(Debug, Default)]
pub struct PoolMemory {
    /// Growth rate of the pool.
    pub pace: PoolPace,
    /// The load that the front has reported last.
    pub load: Load,
    /// Waits after workers that ended before they were ready.
    pub backoff: Backoff,
}

/// State of the sizing of all pools.
#[derive(Debug, Default)]
pub struct Sizing {
    by_pool: BTreeMap<PoolNumber, PoolMemory>,
    /// TTIN and TTOU since the last reload.
    shift: i32,
    /// The number of workers set by a measurement (`cameleer tune`), until the next reload.
    fixed: Option<u32>,
    /// `MaxClients auto`
    following: Option<Following>,
}

impl Sizing {
    /// Applies a configuration. Only `MaxClients auto` retains its state.
    pub fn configure(&mut self, pool: &PoolSettings, cores: f64) {
        (self.shift, self.fixed) = (0, None);
        self.following = Following::of(pool, cores, self.following.take());
    }

    /// Resets the load for a new generation.
    pub fn begin_generation(&mut self) {
        for memory in self.by_pool.values_mut() {
            (memory.pace, memory.load) = Default::default();
        }
    }

    /// Resets the load until a new front has reported.
    pub fn forget_load(&mut self) {
        self.by_pool.values_mut().for_each(|memory| memory.load = Load::default());
    }

    /// The front has reported a load.
    pub fn note_load(&mut self, load: Load) {
        self.of(load.id.pool).load = load;
    }

    /// The sizing state of a pool.
    pub fn of(&mut self, pool: PoolNumber) -> &mut PoolMemory {
        self.by_pool.entry(pool).or_default()
    }

    /// `by` workers more or fewer until the next reload. Returns the sum of all shifts.
    pub fn shift(&mut self, by: i32) -> i32 {
        self.shift = self.shift.saturating_add(by);
        self.shift
    }

    /// Exactly `workers` workers in the server's own pool until the next reload.
    pub fn fix(&mut self, workers: u32) {
        self.fixed = Some(workers);
    }

    /// The state of `MaxClients auto`, if configured.
    pub fn following(&mut self) -> Option<&mut Following> {
        self.following.as_mut()
    }

    /// Whether `MaxClients` is `auto`.
    pub fn is_auto(&self) -> bool {
        self.following.is_some()
    }

    /// The input of [`targets`] for a pool with `processes` workers, `alive` of which are not leaving.
    pub fn state(&self, id: PoolId, config: &Config, alive: u32, processes: u32) -> PoolState {
        let reported = self.by_pool.get(&id.pool).map(|memory| memory.load).filter(|load| load.id == id);
        let load = reported.unwrap_or_default();
        let rule = match (self.fixed, &self.following) {
            _ if id.pool != pools::DEFAULT => LimitRule::Directives,
            (Some(workers), _) => LimitRule::Exactly(workers),
            (None, Some(following)) => LimitRule::AtMost(following.workers()),
            (None, None) => LimitRule::Directives,
        };
        let limits = PoolLimits::of(config.pool_of(id.pool), self.shift);
        PoolState { id, limits, rule, load: PoolLoad { alive, processes, busy: load.busy, queued: load.queued } }
    }

    /// When the pool must be checked next. `starting`: number of its workers that are not ready yet.
    pub fn wakes(&self, target: &PoolTarget, can_fork: bool, starting: u32) -> Option<Instant> {
        let memory = self.by_pool.get(&target.id.pool)?;
        // Otherwise a pool whose last worker did not become ready would wait for a request before it forks again.
        let lacks = can_fork && target.load.alive < target.limits.min_spare && starting == 0;
        let retry = if lacks { memory.backoff.until() } else { None };
        memory.pace.wakes(target).into_iter().chain(retry).min()
    }
}
