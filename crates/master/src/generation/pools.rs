//! The pools of a generation, each with its molds, and what is remembered of the pools that serve.

use std::time::Instant;

use wire::control::{GenerationNumber, Load, PoolId, PoolNumber, WorkerState};

use super::molds::Molds;
use crate::Master;
use crate::backoff::Backoff;
use crate::children::{Mold, Refork};
use crate::pool::Policy;

/// One pool of a generation.
#[derive(Debug, Default)]
pub struct MoldPool {
    /// None while the first is being started again, or when all have ended.
    pub molds: Molds,
    /// How many workers have become molds.
    pub reforks: Refork,
    /// Where its workers note what they are at: an address in their memory.
    pub activity: usize,
    /// Since when a mold is stopped, unless it went on since.
    pub stopped: Option<Instant>,
    /// Between starts of the mold.
    pub backoff: Backoff,
}

impl MoldPool {
    /// With a mold that is about to load the code.
    pub fn new(mold: Mold) -> MoldPool {
        let mut pool = MoldPool::default();
        pool.molds.add_first(mold);
        pool
    }
}

/// What is remembered of a pool from one moment to the next, whichever generation serves.
#[derive(Debug, Default)]
pub struct Tended {
    /// Its pace of growth.
    pub policy: Policy,
    /// How busy it is, as the front said last.
    pub load: Load,
    /// Of workers that fail to boot.
    pub backoff: Backoff,
}

impl Master {
    /// The pools of the generation that serves.
    pub(crate) fn serving_pools(&self) -> Vec<PoolId> {
        self.serving().map(|generation| self.pools_of(generation)).unwrap_or_default()
    }

    /// The pools of a generation.
    pub(crate) fn pools_of(&self, generation: GenerationNumber) -> Vec<PoolId> {
        let found = self.generations.iter().find(|g| g.number == generation);
        let numbers = (0..).zip(found.map_or(&[][..], |generation| &generation.pools)).map(|(number, _)| number);
        numbers.map(|pool| PoolId { generation, pool }).collect()
    }

    /// The server's own pool of the generation that serves.
    pub(crate) fn serving_pool(&self) -> Option<PoolId> {
        self.serving().map(|generation| PoolId { generation, pool: 0 })
    }

    /// That pool, if its generation has not gone.
    pub(crate) fn mold_pool(&self, id: PoolId) -> Option<&MoldPool> {
        self.generations.iter().find(|g| g.number == id.generation)?.pools.get(usize::from(id.pool))
    }

    /// The same.
    pub(crate) fn mold_pool_mut(&mut self, id: PoolId) -> Option<&mut MoldPool> {
        self.generation(id.generation)?.pools.get_mut(usize::from(id.pool))
    }

    /// What is remembered of a pool.
    pub(crate) fn tended(&mut self, pool: PoolNumber) -> &mut Tended {
        self.tended.entry(pool).or_default()
    }

    /// Whether one of its workers has said that it is ready in each pool.
    pub(crate) fn all_pools_answer(&self, generation: GenerationNumber) -> bool {
        let answers = |pool: PoolId| self.workers.of(pool).any(|(_, worker)| worker.state == WorkerState::Idle);
        self.pools_of(generation).into_iter().all(answers)
    }

    /// `gen=2`, with its name where it is one of several: `gen=2 pool=old`.
    pub(crate) fn name_of(&self, id: PoolId) -> String {
        let found = self.generations.iter().find(|g| g.number == id.generation);
        let label = found.map(|generation| generation.checked.config.pool_label(id.pool)).unwrap_or_default();
        format!("gen={}{label}", id.generation)
    }
}
