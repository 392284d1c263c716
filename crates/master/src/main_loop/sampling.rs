//! The sampler: starts it, requests measurements of one process after the other, and reads the results.

use std::time::{Duration, Instant};

use wire::control::Slot;

use super::Master;
use crate::budget::{SamplerAction, need_memory};
use crate::children::start_sampler;
use base::log;
use machine::memory::{MemoryBound, MemorySizes};
use machine::sampler::{Sampled, ToSampler};

impl Master {
    /// Whether memory is measured: for the budget, for limits of workers, or for the monitor.
    fn samples(&self) -> bool {
        self.generations.serving().is_some() && (self.has_memory_limits() || self.monitor_files.are_wanted())
    }

    /// Whether the number of workers, or the life of one, depends on measurements.
    fn has_memory_limits(&self) -> bool {
        self.budget.bytes().is_some() || need_memory(&self.checked.config)
    }

    /// Requests the next measurement when it is due.
    pub(super) fn sample(&mut self, now: Instant) {
        if !self.samples() {
            return;
        }
        self.sampling.begin(self.has_memory_limits(), now);
        let (processes, new) = (self.measurable(), self.not_measured());
        match self.sampling.tick(&processes, new, now) {
            None => {}
            Some(SamplerAction::Start) => self.start_sampler(now),
            Some(SamplerAction::Measure(pid)) => {
                if let Some(sampler) = &mut self.children.sampler {
                    sampler.peer.send(ToSampler::Measure { pid }, vec![]);
                }
            }
            Some(SamplerAction::Kill) => self.end_sampler("does not answer"),
        }
    }

    /// When [`Self::sample`] must be called next.
    pub(super) fn sampling_wakes(&self) -> Option<Instant> {
        self.samples().then(|| self.sampling.wakes())
    }

    fn start_sampler(&mut self, now: Instant) {
        let Some(error_log) = self.logs.in_use().map(|opened| opened.error.clone()) else { return };
        match start_sampler(&error_log) {
            Ok(sampler) => {
                log::info("master", format_args!("sampler pid={} started", sampler.pid));
                self.children.sampler = Some(sampler);
                self.sampling.started();
            }
            Err(error) => {
                self.sampling.failed(now);
                log::error("master", format_args!("sampler cannot be started: {error}"));
            }
        }
    }

    /// A process that was not measured yet: a mold first, since the workers' sizes are useless without it.
    fn not_measured(&self) -> Option<i32> {
        let molds = self.generations.molds().map(|(_, member)| member.pid);
        let mold = molds.into_iter().find(|pid| self.budget.memory_of(*pid).is_none());
        let workers = self.workers.iter().filter(|(_, worker)| worker.sizes.is_none());
        mold.or_else(|| workers.filter_map(|(_, worker)| worker.pid).next())
    }

    /// Pids of all measured processes, in order: molds, front, workers.
    fn measurable(&self) -> Vec<i32> {
        let molds = self.generations.molds().map(|(_, member)| member.pid);
        let front = self.children.front.iter().map(|front| front.pid.as_raw());
        let workers = self.workers.iter().filter_map(|(_, worker)| worker.pid);
        let mut all: Vec<i32> = molds.chain(front).chain(workers).collect();
        all.sort_unstable();
        all
    }

    pub(super) fn read_sampler(&mut self) {
        let Some(sampler) = &mut self.children.sampler else { return };
        match sampler.peer.receive() {
            Ok(Some(sampled)) => self.sampled(sampled),
            Ok(None) => {}
            Err(error) => self.end_sampler(&format!("sent an invalid control message ({error})")),
        }
    }

    fn sampled(&mut self, sampled: Sampled) {
        let (now, processes) = (Instant::now(), self.measurable());
        let took = Duration::from_micros(sampled.took_us);
        self.sampling.answered(took, processes.len(), self.workers.has_unmeasured(), now);
        let in_group = sampled.available.filter(|available| available.bound == MemoryBound::ControlGroup);
        self.budget.note(&processes, in_group.map(|available| available.bytes));
        let Some(sizes) = sampled.sizes else { return };
        match self.workers.slot_of(sampled.pid) {
            Some(slot) => self.worker_measured(slot, sizes),
            None => self.budget.measured(sampled.pid, sizes),
        }
        self.keep_budget();
        self.keep_limits(now);
        self.tend();
    }

    /// While swap is in use, shared pages look private: no worker is asked to leave for a small shared part.
    fn worker_measured(&mut self, slot: Slot, sizes: MemorySizes) {
        let mold = self.workers.get(slot).map(|worker| worker.mold);
        let mold = mold.and_then(|id| self.children.mold(id)).map(|mold| mold.pid.as_raw());
        let mold = mold.and_then(|pid| self.budget.memory_of(pid)).copied().unwrap_or_default();
        if let Some(worker) = self.workers.get_mut(slot) {
            worker.measured(sizes.without_swap(&mold));
        }
    }

    pub(super) fn sampler_ended(&mut self) {
        self.children.sampler = None;
        self.sampling.failed(Instant::now());
        if !self.stop.is_under_way() {
            log::error("master", "the sampler, which measures memory, ended; it is started again when needed");
        }
    }

    fn end_sampler(&mut self, why: &str) {
        if let Some(sampler) = &self.children.sampler {
            log::error("master", format_args!("sampler pid={} {why}, and is killed", sampler.pid));
            sampler.kill();
        }
        self.sampling.killed(Instant::now());
    }
}
