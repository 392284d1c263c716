//! Limits of single workers, beside their requests: one that has reached one leaves when it has no request, one at a time.

use std::time::{Duration, Instant};

use wire::control::{FrontStatus, PoolId, ToFront, WorkerId, WorkerState};

use super::size;
use crate::Master;
use crate::pool::worker::Worker;
use config::Pool;
use config::budget::{ReforkWhen, WorkerLimits};

/// The front is asked so often what it knows of workers, where limits need that.
const ASKED_FOR_LIMITS: Duration = Duration::from_secs(1);
/// And where only the budget does: a worker that has served tells what the next one will cost.
const ASKED_FOR_BUDGET: Duration = Duration::from_secs(5);

impl Master {
    /// Whether what is measured is compared with anything but the budget.
    pub(super) fn has_memory_limits(&self) -> bool {
        self.all_pools().any(|pool| {
            let WorkerLimits { max_private, min_shared, max_growth, .. } = pool.worker;
            max_private.or(min_shared).or(max_growth).is_some() || pool.refork == ReforkWhen::Auto
        })
    }

    fn all_pools(&self) -> impl Iterator<Item = &Pool> {
        let config = &self.checked.config;
        config.pool_numbers().map(|pool| config.pool_of(pool))
    }

    /// How often the front is asked how many requests workers have answered, and since when they are idle; `None`: never.
    fn asks_front(&self) -> Option<Duration> {
        let asks = |pool: &Pool| {
            let limits = pool.worker.max_growth.is_some() || pool.worker.max_idle.is_some() || pool.auto;
            limits || pool.refork != ReforkWhen::Off
        };
        match self.all_pools().any(asks) {
            true => Some(ASKED_FOR_LIMITS),
            false => self.budget.bytes.map(|_| ASKED_FOR_BUDGET),
        }
    }

    /// What the front knows of the workers.
    pub(crate) fn note_status(&mut self, status: &FrontStatus) {
        let now = Instant::now();
        for told in &status.workers {
            let Some(worker) = self.workers.get_mut(told.slot).filter(|worker| worker.pid() == told.pid.to_string())
            else {
                continue;
            };
            worker.requests = told.requests;
            worker.idle = (told.state == WorkerState::Idle).then(|| Duration::from_millis(told.since_ms));
        }
        self.follow_load(status);
        self.keep_limits(now);
        self.refork_when_due();
    }

    /// Asks the front when that is due.
    pub(crate) fn ask_front(&mut self, now: Instant) {
        if let Some(every) = self.asks_front()
            && self.front.is_some()
            && self.status_due <= now
        {
            self.status_due = now + every;
            self.tell_front(ToFront::Status, vec![]);
        }
    }

    /// When the limits have something to do although nothing is measured.
    pub(crate) fn limits_wake(&self) -> Option<Instant> {
        self.serving().filter(|_| self.stop.is_none() && self.front.is_some())?;
        let asked = self.asks_front().map(|_| self.status_due);
        let oldest = |id: PoolId| {
            let age = self.checked.config.pool_of(id.pool).worker.max_age?;
            Some(self.workers.of(id).map(|(_, worker)| worker.asked).min()? + age)
        };
        let oldest = self.serving_pools().into_iter().filter_map(oldest).min();
        // One that is old and busy is looked at again when somebody else stirs.
        asked.into_iter().chain(oldest.filter(|_| self.workers.dismissed() == 0)).min()
    }

    /// Asks one worker to leave that has reached a limit, unless another is about to.
    pub(crate) fn keep_limits(&mut self, now: Instant) {
        if self.workers.dismissed() > 0 {
            return;
        }
        let checked = self.checked.clone();
        for id in self.serving_pools() {
            self.keep_limits_of(id, &checked.config.pool_of(id.pool).worker, now);
        }
    }

    fn keep_limits_of(&mut self, id: PoolId, limits: &WorkerLimits, now: Instant) {
        if self.workers.dismissed() > 0 {
            return;
        }
        let reached =
            self.workers.of(id).filter(|(_, worker)| worker.state == WorkerState::Idle).find_map(|(slot, worker)| {
                let (directive, why) = reached_by(limits, worker, now)?;
                Some((WorkerId { slot, serial: worker.serial() }, directive, why))
            });
        if let Some((worker, directive, why)) = reached {
            self.retire(worker, directive, &why);
        }
    }
}

/// The directive whose limit a worker has reached, and the figure.
fn reached_by(limits: &WorkerLimits, worker: &Worker, now: Instant) -> Option<(&'static str, String)> {
    let age = now.saturating_duration_since(worker.asked);
    if limits.max_age.is_some_and(|most| age >= most) {
        return Some(("MaxAgePerChild", format!("{} s old", age.as_secs())));
    }
    if let (Some(most), Some(idle)) = (limits.max_idle, worker.idle)
        && idle >= most
    {
        return Some(("MaxIdlePerChild", format!("idle for {} s", idle.as_secs())));
    }
    let sizes = worker.sizes?;
    if limits.max_private.is_some_and(|most| sizes.private > most) {
        return Some(("MaxMemoryPerChild", size(sizes.private)));
    }
    if limits.min_shared.is_some_and(|least| sizes.shared < least) {
        return Some(("MinSharedPerChild", format!("{:.1} MB shared", sizes.shared as f64 / f64::from(1 << 20))));
    }
    let grown = worker.growth_per_thousand()?;
    limits.max_growth.is_some_and(|most| grown > most).then(|| {
        ("MaxGrowthPerChild", format!("+{:.1} MB private in 1,000 requests", grown as f64 / f64::from(1 << 20)))
    })
}
