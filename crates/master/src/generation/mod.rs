//! Generations: each is one configuration, with the molds of its pools. A state machine without I/O and without a
//! clock.
//!
//! ```text
//!   Loading ──molds ready──▶ Starting ──workers ready──▶ Serving ──a newer one serves──▶ Draining ──▶ Gone
//!      └───────────────────────┴── error, or StartTimeout ──▶ Failed ─────────────────────────────────▶ Gone
//! ```

pub mod molds;
mod queries;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use wire::control::{Exit, GenerationNumber, GenerationState, PoolId, PoolNumber, ProgramFacts};

use molds::{Member, Molds};

use super::backoff::Backoff;
use super::children::{MoldId, ReforkNumber};

/// Maximum time that a mold may be stopped: Ctrl-Z and `fg` stop and continue all processes one after the other.
const STOPPED: Duration = Duration::from_secs(1);

/// All generations. The state machine does not read their configurations, which have the type `C`.
#[derive(Debug)]
pub struct GenerationRegister<C> {
    list: Vec<GenerationEntry<C>>,
    last: GenerationNumber,
}

#[derive(Debug)]
pub struct GenerationEntry<C> {
    /// Number of the generation, counted from 1.
    pub number: GenerationNumber,
    /// The configuration of this generation.
    pub config: C,
    /// State in the diagram above.
    pub state: GenerationState,
    /// The pools, by pool number.
    pub pools: Vec<MoldPool>,
    /// The server's name and version as the mold of the server's own pool reports them.
    pub software: String,
    times: GenerationTimes,
    /// Deadline of `Loading`, `Starting` or `Draining`; `None`: no limit.
    deadline: Option<Instant>,
}

/// Time limits of a generation.
#[derive(Debug, Clone, Copy)]
pub struct GenerationTimes {
    /// `StartTimeout`
    pub start: Duration,
    /// `GracefulShutdownTimeout`; 0 means no limit.
    pub graceful: Duration,
}

#[derive(Debug, Default)]
pub struct MoldPool {
    /// Empty while the first mold is being started again, or when all have ended.
    pub molds: Molds,
    /// Number of workers that became molds.
    pub reforks: ReforkNumber,
    /// Address in the memory of the pool's workers at which each notes its current activity.
    pub activity: usize,
    /// Facts of the loaded code for CGI programs, once that code is loaded.
    pub facts: Option<ProgramFacts>,
    /// Since when a mold is stopped, unless it was continued.
    stopped: Option<Instant>,
    /// Waits between starts of the mold.
    backoff: Backoff,
}

/// An action for the loop.
#[derive(Debug, PartialEq, Eq)]
pub enum GenerationAction {
    /// All pools can fork: the front gets the configuration, and the first workers are forked.
    Start(GenerationNumber),
    /// The generation cannot start, for the given reason: call [`GenerationRegister::fail`].
    GiveUp(GenerationNumber, String),
    /// Kill the workers of this generation: their deadline has passed.
    KillWorkers(GenerationNumber),
}

/// The consequence of a mold's end.
#[derive(Debug, PartialEq, Eq)]
pub enum MoldEnd {
    /// The generation cannot start.
    FailsGeneration,
    /// Another mold of the pool forks.
    Spare {
        /// The mold was retired, and its last worker has ended.
        in_order: bool,
    },
    /// No mold of the pool forks. The next one starts after this time.
    Restarts(Duration),
    /// No action: the generation is draining, or has ended.
    Nothing,
}

impl<C> Default for GenerationRegister<C> {
    fn default() -> Self {
        GenerationRegister { list: Vec::new(), last: 0 }
    }
}

impl<C> GenerationEntry<C> {
    /// The pools that have no mold although the generation serves.
    fn without_mold(&self) -> impl Iterator<Item = (PoolId, &MoldPool)> {
        let serves = self.state == GenerationState::Serving;
        self.pools().filter(move |(_, pool)| serves && pool.molds.forking().is_none())
    }

    pub fn pools(&self) -> impl Iterator<Item = (PoolId, &MoldPool)> {
        (0..).zip(&self.pools).map(|(pool, it)| (PoolId { generation: self.number, pool }, it))
    }

    /// All molds of all pools.
    pub fn molds(&self) -> impl Iterator<Item = (MoldId, &Member)> {
        self.pools()
            .flat_map(|(pool, it)| it.molds.iter().map(move |member| (MoldId { pool, refork: member.refork }, member)))
    }

    /// The mold of a pool that forks now, or will.
    pub fn forking(&self, pool: PoolNumber) -> Option<&Member> {
        self.pools.get(usize::from(pool))?.molds.forking()
    }

    /// Whether the generation can still start to serve.
    pub fn is_young(&self) -> bool {
        matches!(self.state, GenerationState::Loading | GenerationState::Starting)
    }

    fn retire(&mut self) -> Vec<MoldId> {
        let generation = self.number;
        let retire = |(pool, it): (PoolNumber, &mut MoldPool)| {
            let pool = PoolId { generation, pool };
            it.molds.retire().into_iter().map(move |refork| MoldId { pool, refork })
        };
        (0..).zip(&mut self.pools).flat_map(retire).collect()
    }

    fn drain(&mut self, now: Instant) {
        self.state = GenerationState::Draining;
        self.deadline = (!self.times.graceful.is_zero()).then(|| now + self.times.graceful);
    }

    fn is_over(&self) -> bool {
        self.pools.iter().all(|pool| pool.molds.is_empty())
            && matches!(self.state, GenerationState::Draining | GenerationState::Failed)
    }
}

impl<C> GenerationRegister<C> {
    pub fn next_number(&self) -> GenerationNumber {
        self.last + 1
    }

    /// Adds a generation whose molds, one for each pool, are about to load the code.
    pub fn begin(&mut self, config: C, times: GenerationTimes, molds: &[i32], now: Instant) {
        self.last += 1;
        let pool = |pid: &i32| {
            let mut pool = MoldPool::default();
            pool.molds.add_first(*pid);
            pool
        };
        self.list.push(GenerationEntry {
            number: self.last,
            config,
            state: GenerationState::Loading,
            pools: molds.iter().map(pool).collect(),
            software: String::new(),
            times,
            deadline: Some(now + times.start),
        });
    }

    /// Notes that a mold has loaded its code. `software` is the server's software string, if the mold belongs to the
    /// default pool.
    pub fn mold_ready(
        &mut self,
        id: PoolId,
        activity: usize,
        software: Option<String>,
        now: Instant,
    ) -> Option<GenerationAction> {
        let generation = self.get_mut(id.generation)?;
        let pool = generation.pools.get_mut(usize::from(id.pool))?;
        pool.activity = activity;
        pool.molds.loaded()?;
        if let Some(software) = software {
            generation.software = software;
        }
        let is_loaded = generation.pools.iter().all(|pool| pool.molds.can_fork());
        if generation.state != GenerationState::Loading || !is_loaded {
            return None;
        }
        (generation.state, generation.deadline) = (GenerationState::Starting, Some(now + generation.times.start));
        Some(GenerationAction::Start(id.generation))
    }

    /// A mold has reported the facts of its code for CGI programs.
    pub fn note_facts(&mut self, id: PoolId, facts: ProgramFacts) {
        if let Some(pool) = self.pool_mut(id) {
            pool.facts = Some(facts);
        }
    }

    pub fn mold_ended(&mut self, id: MoldId, exit: Exit, now: Instant) -> MoldEnd {
        let state = self.get(id.pool.generation).map(|generation| generation.state);
        let Some(pool) = self.pool_mut(id.pool) else { return MoldEnd::Nothing };
        pool.molds.remove(id.refork);
        match state {
            Some(GenerationState::Loading | GenerationState::Starting) => MoldEnd::FailsGeneration,
            Some(GenerationState::Serving) if pool.molds.forking().is_some() => {
                MoldEnd::Spare { in_order: exit == Exit::Code(0) }
            }
            Some(GenerationState::Serving) => MoldEnd::Restarts(pool.backoff.failed(now)),
            _ => MoldEnd::Nothing,
        }
    }

    /// A worker became the mold of a pool. Returns its name, and the molds that are to be retired.
    pub fn promoted(&mut self, id: PoolId, pid: i32) -> Option<(MoldId, Vec<MoldId>)> {
        let pool = self.pool_mut(id)?;
        pool.reforks += 1;
        let name = |refork| MoldId { pool: id, refork };
        let mold = name(pool.reforks);
        Some((mold, pool.molds.add_promoted(mold.refork, pid).into_iter().map(name).collect()))
    }

    /// A pool whose mold must be started again.
    pub fn restart_due(&self, now: Instant) -> Option<PoolId> {
        let moldless = self.list.iter().flat_map(GenerationEntry::without_mold);
        moldless.filter(|(_, pool)| pool.backoff.ends(now).is_none()).map(|(id, _)| id).next()
    }

    /// The mold of a pool was started again, or could not be.
    pub fn restarted(&mut self, id: PoolId, started: Result<i32, Instant>) {
        let Some(pool) = self.pool_mut(id) else { return };
        match started {
            Ok(pid) => pool.molds.add_first(pid),
            Err(now) => drop(pool.backoff.failed(now)),
        }
    }

    /// A mold was stopped: it neither forks nor reaps.
    pub fn mold_stopped(&mut self, id: PoolId, now: Instant) {
        if let Some(pool) = self.pool_mut(id) {
            pool.stopped = Some(now);
        }
    }

    /// Molds of pools in which a mold was stopped for too long. Those that are still stopped must be killed.
    pub fn take_stopped(&mut self, now: Instant) -> Vec<MoldId> {
        let mut found = Vec::new();
        for generation in &mut self.list {
            for (number, pool) in (0..).zip(&mut generation.pools) {
                if pool.stopped.take_if(|since| *since + STOPPED <= now).is_some() {
                    let id = PoolId { generation: generation.number, pool: number };
                    found.extend(pool.molds.iter().map(|member| MoldId { pool: id, refork: member.refork }));
                }
            }
        }
        found
    }

    /// Activates a generation; the one before drains.
    pub fn serve(&mut self, number: GenerationNumber, now: Instant) {
        for generation in &mut self.list {
            match generation.state {
                _ if generation.number == number => {
                    (generation.state, generation.deadline) = (GenerationState::Serving, None);
                }
                GenerationState::Serving => generation.drain(now),
                _ => {}
            }
        }
    }

    /// Marks a generation as failed. Returns whether it could still have started; then its processes must be killed.
    pub fn fail(&mut self, number: GenerationNumber) -> bool {
        let Some(generation) = self.get_mut(number).filter(|generation| generation.is_young()) else { return false };
        (generation.state, generation.deadline) = (GenerationState::Failed, None);
        true
    }

    /// Actions that fail all generations that do not serve yet, for the given reason.
    pub fn give_up_young(&self, why: &str) -> Vec<GenerationAction> {
        let young = self.list.iter().filter(|generation| generation.is_young());
        young.map(|generation| GenerationAction::GiveUp(generation.number, why.to_owned())).collect()
    }

    /// The front has no request of a draining generation any more. Returns the molds that are to be retired.
    pub fn drained(&mut self, number: GenerationNumber) -> Option<Vec<MoldId>> {
        let generation = self.get_mut(number).filter(|it| it.state == GenerationState::Draining)?;
        Some(generation.retire())
    }

    /// Ends all draining generations, which no front can use any more. Returns the molds that must be retired.
    pub fn lose_front(&mut self) -> Vec<MoldId> {
        let draining = self.list.iter_mut().filter(|it| it.state == GenerationState::Draining);
        draining.flat_map(GenerationEntry::retire).collect()
    }

    /// The server stops: all generations drain.
    pub fn stop(&mut self) {
        self.list.iter_mut().for_each(|generation| generation.state = GenerationState::Draining);
    }

    /// Ends all generations after the last request. Returns the molds that must be retired.
    pub fn retire_all(&mut self) -> Vec<MoldId> {
        self.list.iter_mut().flat_map(GenerationEntry::retire).collect()
    }

    /// Actions for generations whose deadline has passed.
    pub fn overdue(&mut self, now: Instant) -> Vec<GenerationAction> {
        let late = self.list.iter_mut().filter(|generation| generation.deadline.is_some_and(|at| at <= now));
        let overdue = |generation: &mut GenerationEntry<C>| {
            generation.deadline = None;
            let (number, state) = (generation.number, generation.state);
            match state {
                GenerationState::Draining => GenerationAction::KillWorkers(number),
                _ => {
                    let allowed = generation.times.start.as_secs();
                    let why = format!("still {state:?} after {allowed} s; raise StartTimeout");
                    GenerationAction::GiveUp(number, why)
                }
            }
        };
        late.map(overdue).collect()
    }

    /// Removes generations without processes. Returns their numbers.
    pub fn sweep(&mut self, has_workers: impl Fn(GenerationNumber) -> bool) -> Vec<GenerationNumber> {
        let is_gone = |generation: &GenerationEntry<C>| generation.is_over() && !has_workers(generation.number);
        let gone = self.list.iter().filter(|generation| is_gone(generation)).map(|it| it.number).collect();
        self.list.retain(|generation| !is_gone(generation));
        gone
    }

    /// When [`Self::overdue`] must be called next.
    pub fn wakes(&self, now: Instant) -> Option<Instant> {
        let deadlines = self.list.iter().filter_map(|generation| generation.deadline);
        let moldless = self.list.iter().flat_map(GenerationEntry::without_mold);
        let restarts = moldless.map(|(_, pool)| pool.backoff.ends(now).unwrap_or(now));
        let pools = self.list.iter().flat_map(|generation| &generation.pools);
        let stopped = pools.filter_map(|pool| pool.stopped).map(|since| since + STOPPED);
        deadlines.chain(restarts).chain(stopped).min()
    }

    fn get_mut(&mut self, number: GenerationNumber) -> Option<&mut GenerationEntry<C>> {
        self.list.iter_mut().find(|generation| generation.number == number)
    }

    fn pool_mut(&mut self, id: PoolId) -> Option<&mut MoldPool> {
        self.get_mut(id.generation)?.pools.get_mut(usize::from(id.pool))
    }
}
