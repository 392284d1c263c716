//! `MemoryBudget`: the sampler measures one process after the other, and from that follow how many workers there may be, by how
//! much each may grow, and who leaves.
//!
//! ```text
//!   sampler ── Sampled ──▶ Plan ──▶ tend(): how many may be forked, how many fit
//!                            ├────▶ words that workers read: how much each may have
//!                            └────▶ Leave for the one that has grown most
//! ```

mod limits;
mod out_of_memory;
mod plan;
mod sampling;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nix::unistd::Pid;
use wire::control::{ExitReason, PoolId, PoolNumber, Slot, ToFront, WorkerId};
use wire::memory_words;

pub use self::plan::{Claim, Plan};
use self::sampling::Sampling;
use super::Master;
use super::children::MoldId;
use super::children::peer::{Fd, Peer};
use super::pool::PoolLimits;
use super::pool::worker::Worker;
use base::log;
use config::Config;
use config::budget::MemoryBudget;
use machine::memory::{Machine, Measured, Sizes, one_more};
use machine::sampler::{Sampled, ToSampler};
use status::MemoryStatus;
use sys::{Words, new_words};

/// A guess holds so long: by then workers that have served were measured.
const GUESS_HOLDS: Duration = Duration::from_secs(30);

/// What the budget needs to know.
#[derive(Debug)]
pub struct Budget {
    /// In bytes; `None`: nothing is counted.
    bytes: Option<u64>,
    sampling: Sampling,
    /// Of processes that are no workers.
    others: BTreeMap<i32, Sizes>,
    /// How much more the control group of the processes may have, where that has a limit.
    room: Option<u64>,
    /// How many processes the kernel has killed, as far as we have looked.
    killed_by_kernel: u64,
    words: Words,
    /// The same, for molds.
    pub memory: Fd,
    /// Until it is known what there is: by how much each of the first workers may grow.
    first_growth: u64,
    /// What is taken for the cost of a worker of a pool at least.
    guesses: BTreeMap<PoolNumber, Guess>,
    /// Who was asked to leave last, until another has taken the place, or none will.
    retired: Option<Retired>,
}

#[derive(Debug)]
struct Guess {
    cost: u64,
    since: Instant,
}

impl Guess {
    fn holds(&self) -> bool {
        self.since.elapsed() < GUESS_HOLDS
    }
}

#[derive(Debug)]
struct Retired {
    pool: PoolNumber,
    line: String,
    since: Instant,
}

impl Budget {
    /// Of a server that starts.
    pub fn new(now: Instant) -> std::io::Result<Budget> {
        let (words, memory) = new_words(memory_words::COUNT)?;
        Ok(Budget {
            bytes: None,
            sampling: Sampling::new(now),
            others: BTreeMap::new(),
            room: None,
            killed_by_kernel: out_of_memory::killed_by_kernel(),
            words,
            memory: memory.into(),
            first_growth: 0,
            guesses: BTreeMap::new(),
            retired: None,
        })
    }

    /// What measures memory, when it runs.
    pub fn sampler_pid(&self) -> Option<Pid> {
        self.sampling.pid()
    }

    /// On which it answers.
    pub fn sampler_peer(&self) -> Option<&Peer<ToSampler, Sampled>> {
        self.sampling.peer()
    }

    /// The server stops: nothing is measured any more.
    pub fn stop(&self) {
        self.sampling.end();
    }

    /// That of a process that is no worker, as last measured.
    pub fn memory_of(&self, pid: Pid) -> Option<&Sizes> {
        self.others.get(&pid.as_raw())
    }

    /// A configuration is in force from now on.
    pub fn use_config(&mut self, config: &Config) {
        let bytes = match config.pool.budget {
            MemoryBudget::Off => None,
            MemoryBudget::Bytes(bytes) => Some(bytes),
            // What we have already is no longer available.
            MemoryBudget::Auto => self.bytes.or_else(three_quarters),
        };
        self.set(bytes, config);
    }

    fn set(&mut self, bytes: Option<u64>, config: &Config) {
        self.bytes = bytes;
        self.words.write(memory_words::CEILING_WORD, bytes.unwrap_or(0));
        // Half of it is for what the first workers load.
        let pools = config.pool_numbers().map(|pool| config.pool_of(pool));
        let workers = pools.map(|pool| u64::from(pool.start.min(pool.max_clients))).sum::<u64>().max(1);
        self.first_growth = bytes.unwrap_or(0) / 2 / workers;
    }

    fn allow(&mut self, slot: Slot, measured: u64, newborn: u64) {
        self.words.write(memory_words::word_of(slot), measured);
        self.words.write(memory_words::newborn_word_of(slot), newborn);
    }
}

fn three_quarters() -> Option<u64> {
    let ours = std::process::id().cast_signed();
    Some(Machine::default().available_to(ours)?.bytes / 4 * 3)
}

impl Master {
    /// What the budget allows now; `None`: it counts nothing, or knows nothing yet.
    pub(super) fn plan(&self) -> Option<Plan> {
        let budget = self.budget.bytes?;
        let pools = self.serving_pools();
        let forking = |id: &PoolId| Some((*id, self.mold_pool(*id)?.molds.forking()?.mold.pid.as_raw()));
        let forking: Vec<(PoolId, i32)> = pools.iter().filter_map(forking).collect();
        // All that workers share with their mold is counted there, once. One that was not measured yet will be at once.
        let molds: Vec<u64> = forking.iter().filter_map(|(_, pid)| Some(self.budget.others.get(pid)?.rss)).collect();
        if molds.is_empty() {
            return None;
        }
        let others = self.budget.others.iter().filter(|(pid, _)| forking.iter().all(|(_, mold)| mold != *pid));
        let base = molds.into_iter().sum::<u64>() + others.map(|(_, sizes)| sizes.own()).sum::<u64>();
        let costs = forking.iter().filter_map(|(id, mold)| Some((id.pool, self.cost_in(*id, *mold)?))).collect();
        let plan = Plan { budget, base, workers: Vec::new(), costs };
        let own = |worker: &Worker| worker.sizes.map_or(plan.cost_of(worker.mold.pool.pool), |sizes| sizes.own());
        let workers = self.workers.iter().map(|(_, worker)| own(worker)).collect();
        Some(Plan { workers, ..plan }.within(self.budget.room))
    }

    /// What a worker of a pool costs, as far as was measured or must be taken for it.
    fn cost_in(&self, pool: PoolId, mold: i32) -> Option<u64> {
        let guess = self.budget.guesses.get(&pool.pool).filter(|guess| guess.holds()).map(|guess| guess.cost);
        one_more(&self.measured(pool, mold)).into_iter().chain(guess).max()
    }

    /// For `cameleer status`.
    pub(super) fn memory_status(&self) -> MemoryStatus {
        let workers = self.workers.iter().filter_map(|(_, w)| Some((w.process.as_ref()?.pid.as_raw(), w.sizes?)));
        let others = self.budget.others.iter().map(|(pid, sizes)| (*pid, *sizes));
        let used = self.plan().map(|plan| plan.total());
        MemoryStatus { budget: self.budget.bytes, used, processes: workers.chain(others).collect() }
    }

    fn measured(&self, serving: PoolId, mold: i32) -> Vec<Measured> {
        let of = self.workers.of(serving).filter_map(|(_, worker)| Some((worker, worker.sizes?)));
        of.map(|(worker, sizes)| Measured { mold, requests: worker.requests, sizes }).collect()
    }

    /// How many workers may be forked now. One that leaves has its memory until it has gone; where nobody is left to serve, one
    /// of a pool is forked whatever it costs.
    pub(super) fn may_fork(&self, pool: PoolId, plan: &Plan) -> u32 {
        let nobody = self.workers.of(pool).next().is_none();
        plan.may_fork(pool.pool).max(u32::from(nobody))
    }

    /// What to say when there may be no more workers and more are wanted.
    pub(super) fn reached_max(&self, pool: PoolId, limits: &PoolLimits) -> String {
        let config = &self.checked.config;
        let configured = PoolLimits::of(config.pool_of(pool.pool), self.shift).max_clients;
        let who =
            if config.pool_count() > 1 { format!("pool {}", config.pool_name(pool.pool)) } else { "server".to_owned() };
        match limits.max_clients < configured {
            false => format!("{who} reached MaxClients setting, consider raising the MaxClients setting"),
            true => format!(
                "{who}: no more than {} workers fit into the MemoryBudget: raise it, or let them share more (cameleer mem)",
                limits.max_clients
            ),
        }
    }

    /// What was measured is new, or who is there: tells workers how much they may have, and sends away who has too much.
    pub(super) fn keep_budget(&mut self) {
        let Some(plan) = self.plan() else { return };
        self.allow(&plan);
        if !plan.is_crossed() || self.workers.dismissed() > 0 {
            return;
        }
        let pools = self.look().pools;
        // Nobody takes the place of one that is too many.
        let is_surplus =
            |pool| pools.iter().any(|(id, counts, limits)| *id == pool && counts.alive > limits.max_clients);
        let may_go = |worker: &Worker, sizes: Sizes| {
            plan.repays(worker.mold.pool.pool, sizes.own()) || is_surplus(worker.mold.pool)
        };
        if let Some((worker, sizes)) = self.workers.largest(may_go) {
            self.retire(worker, "MemoryBudget", &size(sizes.private));
        }
    }

    /// A worker checks from time to time how large it is, which is much sooner than it is measured from outside.
    fn allow(&mut self, plan: &Plan) {
        let growth = plan.growth();
        for (slot, worker) in self.workers.iter() {
            let newborn = plan.newborn(worker.mold.pool.pool);
            self.budget.allow(slot, worker.sizes.map_or(0, |sizes| sizes.anonymous + growth), newborn);
        }
    }

    /// A worker of that pool begins in that place: what held for the one before does not hold for it.
    pub(super) fn may_grow(&mut self, slot: Slot, pool: PoolId) {
        let newborn = self.plan().map_or(self.budget.first_growth, |plan| plan.newborn(pool.pool));
        self.budget.allow(slot, 0, newborn);
    }

    /// A worker was too large with its first requests: one costs more than was thought. Else as many as before would come, and
    /// leave as soon, faster than they can be measured.
    pub(super) fn cost_too_much(&mut self, id: WorkerId) {
        let Some((pool, asked)) = self.workers.meant_by(id).map(|worker| (worker.mold.pool.pool, worker.asked)) else {
            return;
        };
        // One that was forked before that was known says nothing new.
        let is_known = self.budget.guesses.get(&pool).is_some_and(|guess| asked <= guess.since);
        if let Some(plan) = self.plan().filter(|_| !is_known) {
            let guess = Guess { cost: plan.cost_of(pool).saturating_mul(2), since: Instant::now() };
            self.budget.guesses.insert(pool, guess);
            self.keep_budget();
        }
    }

    /// Asks a worker to leave when it has no request.
    fn retire(&mut self, worker: WorkerId, directive: &str, why: &str) {
        let Some(known) = self.workers.meant_by(worker) else { return };
        let (pid, requests, pool) = (known.pid(), known.requests, known.mold.pool);
        known.is_dismissed = true;
        known.why.get_or_insert(match directive {
            "MaxAgePerChild" => ExitReason::MaxAge,
            "MaxIdlePerChild" => ExitReason::MaxIdle,
            _ => ExitReason::Memory,
        });
        let name = self.name_of(pool);
        let line = format!("worker={} pid={pid} {name} retired: {why}, {requests} requests ({directive})", worker.slot);
        self.note_not_replaced(None);
        self.budget.retired = Some(Retired { pool: pool.pool, line, since: Instant::now() });
        self.tell_front(ToFront::Leave { worker }, vec![]);
    }

    /// A worker of that mold is ready: it takes the place of one of its pool that was asked to leave, if any was.
    pub(super) fn note_replaced(&mut self, by: MoldId) {
        let MoldId { pool, refork } = by;
        if let Some(Retired { line, since, .. }) = self.take_retired(Some(pool)) {
            let after = since.elapsed();
            log::notice(
                "master",
                format_args!("{line}, replaced in {after:.1?} from {} refork={refork}", self.name_of(pool)),
            );
        }
    }

    /// Nobody takes the place of the one that was asked to leave, in that pool or any: there are enough.
    pub(super) fn note_not_replaced(&mut self, pool: Option<PoolId>) {
        if let Some(Retired { line, .. }) = self.take_retired(pool) {
            log::notice("master", line);
        }
    }

    fn take_retired(&mut self, of: Option<PoolId>) -> Option<Retired> {
        self.budget.retired.take_if(|retired| of.is_none_or(|pool| retired.pool == pool.pool))
    }
}

/// `+212.0 MB private since the fork`
fn size(private: u64) -> String {
    format!("+{:.1} MB private since the fork", private as f64 / f64::from(1 << 20))
}
