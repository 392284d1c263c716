//! How many workers each pool is to have: the policy of each, within what is configured and what fits into the memory of all.

use std::time::Instant;

use wire::control::{PoolId, ToFront};

use super::Master;
use super::budget::{Claim, Plan};
use super::pool::{Counts, Move, PoolLimits};
use base::log;
use config::pools;

/// The pools of the generation that serves at one moment, and the memory that they share.
pub(super) struct Look {
    pub plan: Option<Plan>,
    pub pools: Vec<(PoolId, Counts, PoolLimits)>,
}

impl Look {
    /// How many workers all pools together may have.
    pub fn most_workers(&self) -> u32 {
        let each = self.pools.iter().map(|(.., limits)| limits.max_clients).fold(0, u32::saturating_add);
        let fit = self.plan.as_ref().map(|plan| plan.most_in_all(&self.claims()));
        fit.map_or(each, |fit| fit.min(each))
    }

    fn claims(&self) -> Vec<Claim> {
        let claim = |(id, counts, limits): &(PoolId, Counts, PoolLimits)| Claim {
            pool: id.pool,
            workers: counts.busy.saturating_add(counts.queued).saturating_add(limits.min_spare).min(limits.max_clients),
        };
        self.pools.iter().map(claim).collect()
    }

    /// No pool may have more than fits.
    fn within_budget(mut self) -> Look {
        if let Some(plan) = &self.plan {
            let most = plan.most_workers(&self.claims());
            self.pools.iter_mut().zip(most).for_each(|((.., limits), most)| *limits = limits.at_most(most));
        }
        self
    }
}

impl Master {
    /// Who is there and what is allowed.
    pub(super) fn look(&self) -> Look {
        let alive = self.workers.alive_by_pool();
        let counts = |id: PoolId| self.counts_with(id, alive.get(&id).copied().unwrap_or(0));
        let pools = self.serving_pools().into_iter().map(|id| (id, counts(id), self.configured_limits(id))).collect();
        Look { plan: self.plan(), pools }.within_budget()
    }

    /// Lets each pool grow or shrink as its policy says.
    pub(super) fn tend(&mut self) {
        if self.front.is_none() {
            return;
        }
        let Look { plan, pools } = self.look();
        pools.into_iter().for_each(|(pool, counts, limits)| self.tend_pool(pool, counts, &limits, plan.as_ref()));
        self.renew_pool();
    }

    fn tend_pool(&mut self, pool: PoolId, counts: Counts, limits: &PoolLimits, plan: Option<&Plan>) {
        let now = Instant::now();
        if self.tended(pool.pool).policy.reached_max(counts, limits) && self.following.is_none() {
            log::error("master", self.reached_max(pool, limits));
        }
        let starting = self.workers.starting(pool);
        let allowed = self.tended(pool.pool).backoff.allows(now, starting);
        let fits = plan.map_or(u32::MAX, |plan| self.may_fork(pool, plan));
        let room = self.workers.room(pool, limits.max_clients).min(fits);
        let can_fork = allowed > 0 && self.mold_pool(pool).is_some_and(|pool| pool.molds.can_fork());
        match self.tended(pool.pool).policy.decide(counts, limits, now) {
            Move::Fork(n) if can_fork => (0..n.min(allowed).min(room)).for_each(|_| self.fork_worker(pool)),
            Move::Retire(count) => self.tell_front(ToFront::Retire { pool: pool.pool, count }, vec![]),
            _ => {}
        }
    }

    /// When [`Self::tend`] has something to do although nothing happens.
    pub(super) fn pool_wakes(&self, now: Instant) -> Option<Instant> {
        self.front.as_ref()?;
        let wakes = |(pool, counts, limits)| self.pool_wakes_at(pool, counts, &limits);
        self.look().pools.into_iter().filter_map(wakes).min().map(|at| at.max(now))
    }

    fn pool_wakes_at(&self, pool: PoolId, counts: Counts, limits: &PoolLimits) -> Option<Instant> {
        let tended = self.tended.get(&pool.pool)?;
        let policy = tended.policy.wakes(counts, limits);
        // Without this a pool whose last worker did not boot would wait for a request to be tried again.
        let loaded = self.mold_pool(pool).is_some_and(|pool| pool.molds.can_fork());
        let lacking = loaded && counts.alive < limits.min_spare && self.workers.starting(pool) == 0;
        let retry = if lacking { tended.backoff.until() } else { None };
        policy.into_iter().chain(retry).min()
    }

    /// Of one pool.
    pub(super) fn counts(&self, pool: PoolId) -> Counts {
        self.counts_with(pool, self.workers.alive(pool))
    }

    fn counts_with(&self, pool: PoolId, alive: u32) -> Counts {
        let told = self.tended.get(&pool.pool).map(|tended| tended.load).filter(|load| load.id == pool);
        let load = told.unwrap_or_default();
        Counts { alive, busy: load.busy, queued: load.queued }
    }

    /// What one pool may have now.
    pub(super) fn limits(&self, pool: PoolId) -> PoolLimits {
        let found = self.look().pools.into_iter().find(|(id, ..)| *id == pool);
        found.map_or_else(|| self.configured_limits(pool), |(.., limits)| limits)
    }

    fn configured_limits(&self, pool: PoolId) -> PoolLimits {
        let configured = PoolLimits::of(self.checked.config.pool_of(pool.pool), self.shift);
        match (self.sized, &self.following) {
            _ if pool.pool != pools::DEFAULT => configured,
            (Some(workers), _) => PoolLimits::fixed(workers),
            (None, Some(following)) => configured.at_most(following.workers()),
            (None, None) => configured,
        }
    }

    /// What the configuration and the memory allow.
    pub(super) fn limits_without_auto(&self) -> PoolLimits {
        let limits = PoolLimits::of(&self.checked.config.pool, self.shift);
        // It is the only pool where it is `auto`.
        let claims = [Claim { pool: pools::DEFAULT, workers: limits.max_clients }];
        let most = self.plan().and_then(|plan| plan.most_workers(&claims).first().copied());
        most.map_or(limits, |most| limits.at_most(most))
    }

    /// TTIN and TTOU.
    pub(super) fn shift_pool(&mut self, by: i32) {
        self.shift = self.shift.saturating_add(by);
        let what = if self.checked.config.pool_count() > 1 { "each pool" } else { "the pool" };
        log::notice("master", format_args!("{what} is {:+} until the next reload", self.shift));
        self.tend();
    }

    /// `Command::Size`
    pub(super) fn size_pool(&mut self, workers: u32, busy: u32) {
        self.sized = Some(workers.clamp(1, self.checked.config.pool.max_clients));
        self.tell_front(ToFront::Admit { pool: pools::DEFAULT, most: busy }, vec![]);
        self.tend();
    }
}
