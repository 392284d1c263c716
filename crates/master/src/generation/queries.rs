//! The read-only part of [`GenerationRegister`].

use wire::control::{GenerationNumber, GenerationState, PoolId, PoolNumber, ProgramFacts};

use super::molds::Member;
use super::{GenerationEntry, GenerationRegister, MoldPool};
use crate::children::MoldId;

impl<C> GenerationRegister<C> {
    pub fn serving(&self) -> Option<GenerationNumber> {
        self.list.iter().find(|it| it.state == GenerationState::Serving).map(|it| it.number)
    }

    pub fn serving_pools(&self) -> Vec<PoolId> {
        self.serving().map(|number| self.pools_of(number)).unwrap_or_default()
    }

    /// The server's own pool of the generation that serves.
    pub fn serving_pool(&self) -> Option<PoolId> {
        self.serving().map(|generation| PoolId { generation, pool: 0 })
    }

    pub fn pools_of(&self, number: GenerationNumber) -> Vec<PoolId> {
        self.get(number).into_iter().flat_map(GenerationEntry::pools).map(|(id, _)| id).collect()
    }

    /// A generation that still has processes.
    pub fn get(&self, number: GenerationNumber) -> Option<&GenerationEntry<C>> {
        self.list.iter().find(|generation| generation.number == number)
    }

    /// The state of a generation, if it has not gone.
    pub fn state_of(&self, number: GenerationNumber) -> Option<GenerationState> {
        self.get(number).map(|generation| generation.state)
    }

    /// A pool whose generation still has processes.
    pub fn pool(&self, id: PoolId) -> Option<&MoldPool> {
        self.get(id.generation)?.pools.get(usize::from(id.pool))
    }

    /// Facts for CGI programs of each pool that has loaded its code.
    pub fn program_facts(&self, number: GenerationNumber) -> impl Iterator<Item = (PoolNumber, &ProgramFacts)> {
        let pools = self.get(number).into_iter().flat_map(GenerationEntry::pools);
        pools.filter_map(|(id, pool)| Some((id.pool, pool.facts.as_ref()?)))
    }

    /// The mold that forks the workers of a pool, or will once its code is loaded.
    pub fn forking(&self, id: PoolId) -> Option<&Member> {
        self.pool(id)?.molds.forking()
    }

    /// Whether a mold of the pool can fork workers.
    pub fn can_fork(&self, id: PoolId) -> bool {
        self.pool(id).is_some_and(|pool| pool.molds.can_fork())
    }

    /// All generations, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &GenerationEntry<C>> {
        self.list.iter()
    }

    pub fn molds(&self) -> impl Iterator<Item = (MoldId, &Member)> {
        self.list.iter().flat_map(GenerationEntry::molds)
    }

    /// Whether there are no generations.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
