//! The molds of the generations: started, heard, and started again when they end.

use std::time::Instant;

use nix::unistd::Pid;
use wire::control::{Exit, FromMold, GenerationNumber, GenerationState, ToMold};

use super::{Generation, STOPPED};
use crate::master::Master;
use crate::master::children::{self, Mold, MoldId};
use crate::master::configuration::{CheckedConfig, CodeError};
use crate::master::logs::Opened;
use crate::master::pool::PoolLimits;
use crate::{log, sys};

impl Master {
    pub(super) fn start_mold(
        &self,
        number: GenerationNumber,
        checked: &CheckedConfig,
        opened: &Opened,
    ) -> anyhow::Result<Mold> {
        let first = [checked.in_memory()?, self.budget.memory.clone()];
        let fds = first.into_iter().chain(opened.hosts.iter().cloned()).collect();
        let mut mold = children::start_mold(&opened.error, &self.origin.facts.env)?;
        mold.peer.send(ToMold::Configure { generation: number, preload: self.preload.clone() }, fds);
        log::info("master", format_args!("mold pid={} gen={number} started", mold.pid));
        Ok(mold)
    }

    /// What a mold says.
    pub(in crate::master) fn hear_mold(&mut self, id: MoldId, message: FromMold) {
        let number = id.generation;
        match message {
            FromMold::Ready { load_ms, software, activity } => {
                if let Some(generation) = self.generation(number) {
                    generation.activity = activity;
                }
                self.mold_ready(number, load_ms, software)
            }
            FromMold::Promoted { .. } => log::error("master", format_args!("gen={number} a mold is promoted twice")),
            FromMold::Failed { error } => self.mold_failed(number, error),
            FromMold::Forked { slot, pid } => self.worker_forked(id, slot, Pid::from_raw(pid)),
            FromMold::ForkFailed { slot, error } => {
                log::error("master", format_args!("worker={slot} gen={number} cannot be forked: {error}"));
                if self.workers.is_of(slot, id) {
                    self.worker_gone(slot);
                }
            }
            FromMold::Exited { slot, exit, .. } => {
                if self.workers.is_of(slot, id) {
                    self.worker_ended(slot, exit);
                }
            }
        }
    }

    fn mold_ready(&mut self, number: GenerationNumber, load_ms: u64, software: String) {
        let Some(generation) = self.generation(number) else { return };
        let Some(first) = generation.molds.get_mut(0) else { return };
        first.is_loaded = true;
        let pid = first.mold.pid;
        generation.software = software;
        let state = generation.state;
        log::info("master", format_args!("mold pid={pid} gen={number} ready load_ms={load_ms}"));
        if state == GenerationState::Loading {
            self.start_workers(number);
        }
        self.tend();
    }

    fn start_workers(&mut self, number: GenerationNumber) {
        let Some(generation) = self.generation(number) else { return };
        generation.state = GenerationState::Starting;
        generation.deadline = Some(Instant::now() + generation.checked.config.timeouts.start);
        let start = PoolLimits::of(&generation.checked.config.pool, 0).start;
        if let Err(error) = self.configure_front(number) {
            return self.give_up(number, error);
        }
        for _ in 0..start {
            self.fork_worker(number);
        }
    }

    fn mold_failed(&mut self, number: GenerationNumber, error: String) {
        if self.generation(number).is_some_and(|g| g.is_young()) {
            return self.give_up(number, CodeError(error).into());
        }
        log::error("master", format_args!("gen={number} its code does not load any more: {}", error.trim_end()));
    }

    /// A mold has ended; all that it said before was heard.
    pub(in crate::master) fn mold_ended(&mut self, id: MoldId, exit: Exit) {
        let now = Instant::now();
        let number = id.generation;
        let ended = self.was_out_of_memory(exit).map_or(exit.to_string(), |reason| format!("{exit} ({reason})"));
        if let Some(generation) = self.generation(number) {
            generation.molds.remove(id.refork);
        }
        for slot in self.workers.lost(id) {
            self.worker_gone(slot);
        }
        let Some(generation) = self.generation(number) else { return };
        match generation.state {
            GenerationState::Loading | GenerationState::Starting => {
                self.give_up(number, anyhow::anyhow!("the mold, which loads the site's Perl, ended with {ended}"));
            }
            GenerationState::Serving if generation.molds.forking().is_some() => {
                let how =
                    if exit == Exit::Code(0) { "after its last worker" } else { "and another forks in its place" };
                log::info("master", format_args!("mold gen={number} refork={} ended {ended} {how}", id.refork));
            }
            GenerationState::Serving => {
                let wait = generation.backoff.failed(now);
                let after = wait.as_secs_f32();
                log::error(
                    "master",
                    format_args!("mold gen={number} ended {ended}; its workers serve on, the next starts in {after} s"),
                );
            }
            _ => {}
        }
        self.sweep();
    }

    /// Starts the serving generation's mold again when it has waited long enough.
    pub(in crate::master) fn restart_mold(&mut self, now: Instant) {
        let opened = self.opened.clone();
        let due = |g: &&Generation| g.is_without_mold() && g.backoff.ends(now).is_none();
        let Some((number, checked)) = self.generations.iter().find(due).map(|g| (g.number, g.checked.clone())) else {
            return;
        };
        let Some(opened) = opened else { return };
        let started = self.start_mold(number, &checked, &opened);
        let Some(generation) = self.generation(number) else { return };
        match started {
            Ok(mold) => generation.molds.add_first(mold),
            Err(error) => {
                generation.backoff.failed(now);
                log::error("master", format_args!("mold gen={number} cannot be started: {error:#}"));
            }
        }
    }

    /// Ends the mold of a generation; one that serves starts another.
    pub(in crate::master) fn end_mold(&mut self, id: MoldId, why: &str) {
        let Some(mold) = self.mold(id) else { return };
        log::error("master", format_args!("mold pid={} gen={} {why}, and is killed", mold.pid, id.generation));
        mold.kill();
    }

    /// That one, if it has not ended.
    pub(in crate::master) fn mold(&mut self, id: MoldId) -> Option<&mut Mold> {
        Some(&mut self.generation(id.generation)?.molds.get_mut(id.refork)?.mold)
    }

    /// Whose process that is.
    pub(in crate::master) fn mold_of(&self, pid: Pid) -> Option<MoldId> {
        self.generations.iter().find_map(|generation| {
            let member = generation.molds.of(pid)?;
            Some(MoldId { generation: generation.number, refork: member.refork })
        })
    }

    /// All of all generations.
    pub(in crate::master) fn molds(&self) -> impl Iterator<Item = (MoldId, &Mold)> {
        self.generations.iter().flat_map(|generation| {
            let id = |refork| MoldId { generation: generation.number, refork };
            generation.molds.iter().map(move |member| (id(member.refork), &member.mold))
        })
    }

    /// Somebody has stopped a process; a mold neither forks nor reaps then.
    pub(in crate::master) fn child_stopped(&mut self, pid: Pid) {
        let stopped = self.mold_of(pid).and_then(|id| self.generation(id.generation));
        if let Some(generation) = stopped {
            generation.stopped = Some(Instant::now());
        }
    }

    /// Ends molds that stay stopped: another does their work, and their workers serve on.
    pub(in crate::master) fn end_stopped_molds(&mut self, now: Instant) {
        for generation in &mut self.generations {
            let since = generation.stopped.take_if(|since| *since + STOPPED <= now);
            let molds = generation.molds.iter().map(|member| &member.mold).filter(|_| since.is_some());
            for mold in molds.filter(|mold| sys::is_stopped(mold.pid.as_raw())) {
                log::error(
                    "master",
                    format_args!("mold pid={} gen={} is stopped, and is killed", mold.pid, generation.number),
                );
                mold.kill();
            }
        }
    }
}
