//! Memory limits: writes the limit of each worker where the worker reads it, and asks workers above their limit to
//! leave.

use std::time::Instant;

use nix::sys::signal::Signal;
use wire::control::{Exit, FrontStatus, PoolId, Slot, ToFront};

use super::Master;
use crate::budget::{Grant, Reached, first_reached, oldest_leaves};
use crate::children::MoldId;
use crate::sizing::MemoryPlan;
use base::log;
use machine::memory::Machine;
use status::MemoryStatus;

/// Number of processes that the kernel has killed in this control group for lack of memory; 0 if the group has no such
/// counter.
pub(super) fn killed_by_kernel() -> u64 {
    Machine::default().killed_in_groups_of(std::process::id().cast_signed()).unwrap_or(0)
}

fn three_quarters() -> Option<u64> {
    let ours = std::process::id().cast_signed();
    Some(Machine::default().available_to(ours)?.bytes / 4 * 3)
}

impl Master {
    /// Applies the memory budget of the current configuration.
    pub(super) fn configure_budget(&mut self) {
        let bytes = self.budget.configure(&self.checked.config, three_quarters);
        self.grants.set_ceiling(bytes);
    }

    fn write_grant(&mut self, grant: Grant) {
        self.grants.set(grant.slot, grant.measured, grant.newborn);
    }

    /// The current memory plan; `None`: memory is not limited, or no mold was measured yet.
    pub(super) fn plan(&self) -> Option<MemoryPlan> {
        let serving = self.generations.serving_pools();
        let forking = |id: &PoolId| Some((*id, self.generations.forking(*id)?.pid));
        let forking: Vec<(PoolId, i32)> = serving.iter().filter_map(forking).collect();
        self.budget.plan(&forking, &self.workers, Instant::now())
    }

    /// The memory figures for `cameleer status`.
    pub(super) fn memory_status(&self) -> MemoryStatus {
        let workers = self.workers.iter().filter_map(|(_, worker)| Some((worker.pid?, worker.sizes?)));
        let used = self.plan().map(|plan| plan.total());
        let processes = workers.chain(self.budget.others()).collect();
        MemoryStatus { budget: self.budget.bytes(), used, refork_saves: self.refork_would_save(), processes }
    }

    /// Applies new measurements: writes the limit of each worker, and asks the largest one to leave if memory use
    /// exceeds the plan.
    pub(super) fn keep_budget(&mut self) {
        let Some(plan) = self.plan() else { return };
        for grant in self.budget.grants(&plan, &self.workers) {
            self.write_grant(grant);
        }
        let targets = self.targets_within(Some(&plan));
        if let Some(reached) = self.budget.too_large(&plan, &targets, &self.workers) {
            self.retire(&reached);
        }
    }

    /// Writes the first limit of a worker that starts in `slot`, in place of its predecessor's.
    pub(super) fn grant_first(&mut self, slot: Slot, pool: PoolId) {
        let grant = self.budget.first_grant(slot, pool.pool, self.plan().as_ref());
        self.write_grant(grant);
    }

    /// A worker of a pool, forked at `forked`, was too large with its first requests.
    pub(super) fn costs_more(&mut self, pool: PoolId, forked: Instant) {
        let Some(plan) = self.plan() else { return };
        if self.budget.costs_more(pool.pool, forked, &plan, Instant::now()) {
            self.keep_budget();
        }
    }

    /// Asks a worker that has reached a limit to leave; one at a time.
    pub(super) fn keep_limits(&mut self, now: Instant) {
        let serving = self.generations.serving_pools();
        if let Some(reached) = first_reached(&self.workers, &serving, &self.checked.config, now) {
            self.retire(&reached);
        }
    }

    /// Asks a worker to leave when it is idle.
    fn retire(&mut self, reached: &Reached) {
        let Reached { worker, directive, how_far, reason } = reached;
        let Some(known) = self.workers.find(*worker) else { return };
        let (pid, requests, pool) = (known.pid(), known.requests, known.mold.pool);
        let name = self.name_of(pool);
        let slot = worker.slot;
        let line = format!("worker={slot} pid={pid} {name} retired: {how_far}, {requests} requests ({directive})");
        if let Some(before) = self.budget.retired(pool.pool, line, Instant::now()) {
            log::notice("master", before);
        }
        self.dismiss(*worker, *reason);
    }

    /// Notes that a worker of this mold is ready: it replaces a worker of its pool that was asked to leave.
    pub(super) fn note_replaced(&mut self, by: MoldId) {
        let MoldId { pool, refork } = by;
        if let Some((line, after)) = self.budget.replaced(pool.pool, Instant::now()) {
            let name = self.name_of(pool);
            log::notice("master", format_args!("{line}, replaced in {after:.1?} from {name} refork={refork}"));
        }
    }

    /// Notes that the worker of the pool that was asked to leave is not replaced.
    pub(super) fn note_not_replaced(&mut self, pool: PoolId) {
        if let Some(line) = self.budget.not_replaced(pool.pool) {
            log::notice("master", line);
        }
    }

    /// The reason for the log if the kernel killed the process for lack of memory; lowers the `MemoryBudget` then.
    pub(super) fn killed_by_kernel(&mut self, exit: Exit) -> Option<String> {
        if exit != Exit::Signal(Signal::SIGKILL as i32) || !self.budget.was_killed_by_kernel(killed_by_kernel()) {
            return None;
        }
        if let Some(plan) = self.plan()
            && let Some(lowered) = self.budget.lower(&plan, &self.checked.config)
        {
            self.grants.set_ceiling(Some(lowered));
            let mb = lowered >> 20;
            log::warn("master", format_args!("MemoryBudget is {mb} MB until the next reload"));
        }
        Some("by the kernel: the memory of the machine or of a control group was used up".to_owned())
    }

    /// The front has reported on the workers.
    pub(super) fn note_status(&mut self, status: &FrontStatus) {
        self.workers.note(&status.workers);
        self.follow_load(status);
        self.keep_limits(Instant::now());
        self.refork_when_due();
    }

    /// Requests the front's status when limits of workers need it.
    pub(super) fn request_front_status(&mut self, now: Instant) {
        if self.children.front.is_some() && self.budget.takes_question(&self.checked.config, now) {
            self.send_to_front(ToFront::Status, vec![]);
        }
    }

    /// When limits of workers must be checked next.
    pub(super) fn limits_wake(&self, now: Instant) -> Option<Instant> {
        if !self.serves() {
            return None;
        }
        let config = &self.checked.config;
        let question = self.budget.question_due(config, now);
        let oldest = oldest_leaves(&self.workers, &self.generations.serving_pools(), config);
        question.into_iter().chain(oldest).min()
    }
}
