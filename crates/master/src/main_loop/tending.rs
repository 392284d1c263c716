//! Brings each pool to the number of workers that [`targets`] returns.

use std::time::Instant;

use wire::control::{FrontStatus, PoolId, ToFront};

use super::Master;
use crate::sizing::{LimitRule, LoadSample, MemoryPlan, Move, PoolLoad, PoolState, PoolTarget, Targets, targets};
use base::log;
use config::pools;
use machine::capacity::{CpuTimes, cores};

impl Master {
    /// Number of workers wanted for each pool of the serving generation.
    pub(super) fn targets(&self) -> Targets {
        self.targets_within(self.plan().as_ref())
    }

    /// [`Self::targets`] for a plan that was already computed.
    pub(super) fn targets_within(&self, plan: Option<&MemoryPlan>) -> Targets {
        let states: Vec<PoolState> =
            self.generations.serving_pools().into_iter().map(|id| self.pool_state(id)).collect();
        targets(&states, plan)
    }

    fn pool_state(&self, id: PoolId) -> PoolState {
        let (alive, processes) = self.workers.alive_and_all(id);
        self.sizing.state(id, &self.checked.config, alive, processes)
    }

    pub(super) fn load_of(&self, id: PoolId) -> PoolLoad {
        self.pool_state(id).load
    }

    /// Lets each pool grow or shrink.
    pub(super) fn tend(&mut self) {
        if self.children.front.is_none() {
            return;
        }
        for target in self.targets().pools {
            self.tend_pool(&target);
        }
        let actions = self.refork.renew(&self.workers, Instant::now());
        self.do_refork(actions);
    }

    fn tend_pool(&mut self, target: &PoolTarget) {
        let (now, id) = (Instant::now(), target.id);
        if self.sizing.of(id.pool).pace.is_exhausted_first(target) && !self.sizing.is_auto() {
            let config = &self.checked.config;
            let pool = match config.pool_count() {
                1 => "server".to_owned(),
                _ => format!("pool {}", config.pool_name(id.pool)),
            };
            log::error("master", target.exhaustion(&pool));
        }
        let allowed = self.sizing.of(id.pool).backoff.allows(now, self.workers.starting(id));
        let can_fork = allowed > 0 && self.generations.can_fork(id);
        match self.sizing.of(id.pool).pace.step(target, now) {
            Move::Fork(n) if can_fork => (0..n.min(allowed).min(target.room)).for_each(|_| self.fork_worker(id)),
            Move::Retire(count) => self.send_to_front(ToFront::Retire { pool: id.pool, count }, vec![]),
            _ => {}
        }
    }

    /// When [`Self::tend`] must be called next.
    pub(super) fn pools_wake(&self, now: Instant) -> Option<Instant> {
        self.children.front.as_ref()?;
        let wakes = |target: &PoolTarget| {
            self.sizing.wakes(target, self.generations.can_fork(target.id), self.workers.starting(target.id))
        };
        self.targets().pools.iter().filter_map(wakes).min().map(|at| at.max(now))
    }

    /// Passes the front's report on its workers to `MaxClients auto`, which may change the number of workers.
    pub(super) fn follow_load(&mut self, status: &FrontStatus) {
        let Some(serving) = self.generations.serving_pool() else { return };
        let state = self.pool_state(serving);
        let plan = self.plan();
        // The server's own pool is the only one where MaxClients is auto.
        let without_auto = targets(&[PoolState { rule: LimitRule::Directives, ..state }], plan.as_ref());
        let Some(following) = self.sizing.following() else { return };
        let pids = status.workers.iter().map(|worker| worker.pid).filter(|pid| *pid > 0);
        let sample = LoadSample {
            at: Instant::now(),
            answered: status.worker_requests,
            worked_us: status.worked_us,
            cpu: pids.filter_map(|pid| Some((pid, CpuTimes::of(pid)?))).collect(),
            waits: status.queued > 0,
            alive: state.load.alive,
        };
        let Some(before) = following.note(sample, cores(), without_auto.most_workers) else { return };
        let workers = following.workers();
        if workers != before {
            log::info("master", format_args!("MaxClients auto: {before} workers, from now on {workers}"));
        }
        // Sent each time, because the front or a generation may be new.
        let found = self.targets_within(plan.as_ref()).pools.into_iter().find(|target| target.id == serving);
        if let Some(target) = found {
            self.send_to_front(ToFront::Admit { pool: serving.pool, most: target.limits.max_clients }, vec![]);
        }
        self.tend();
    }

    /// Changes the number of workers by one (TTIN and TTOU).
    pub(super) fn shift_pool(&mut self, by: i32) {
        let shift = self.sizing.shift(by);
        let what = if self.checked.config.pool_count() > 1 { "each pool" } else { "the pool" };
        log::notice("master", format_args!("{what} is {shift:+} until the next reload"));
        self.tend();
    }

    /// Sets the number of workers, and of requests that run at the same time (`Command::Size`).
    pub(super) fn size_pool(&mut self, workers: u32, busy: u32) {
        self.sizing.fix(workers.clamp(1, self.checked.config.pool.max_clients));
        self.send_to_front(ToFront::Admit { pool: pools::DEFAULT, most: busy }, vec![]);
        self.tend();
    }
}
