//! The molds of the generations: started, heard, and started again when they end.

use std::time::Instant;

use nix::unistd::Pid;
use wire::control::{Exit, FromMold, GenerationNumber, GenerationState, LateCode, PoolId, ToMold};

use super::{Generation, STOPPED};
use crate::Master;
use crate::children::{self, Mold, MoldId};
use crate::configuration::{CheckedConfig, CodeError};
use crate::logs::Opened;
use crate::pool::PoolLimits;
use base::log;
use config::pools;

impl Master {
    pub(super) fn start_mold(&self, id: PoolId, checked: &CheckedConfig, opened: &Opened) -> anyhow::Result<Mold> {
        let first = [checked.in_memory()?, self.budget.memory.clone()];
        let fds = first.into_iter().chain(opened.hosts.iter().cloned()).collect();
        let mut mold = children::start_mold(&opened.error, &self.origin.facts.env)?;
        // What workers had loaded was asked of the server's own pool.
        let preload = if id.pool == pools::DEFAULT { self.preload.clone() } else { LateCode::default() };
        mold.peer.send(ToMold::Configure { pool: id, preload }, fds);
        let label = checked.config.pool_label(id.pool);
        log::info("master", format_args!("mold pid={} gen={}{label} started", mold.pid, id.generation));
        Ok(mold)
    }

    /// What a mold says.
    pub(crate) fn hear_mold(&mut self, id: MoldId, message: FromMold) {
        let name = self.name_of(id.pool);
        match message {
            FromMold::Ready { load_ms, software, activity } => {
                if let Some(pool) = self.mold_pool_mut(id.pool) {
                    pool.activity = activity;
                }
                self.mold_ready(id.pool, load_ms, software)
            }
            FromMold::Promoted { .. } => log::error("master", format_args!("{name} a mold is promoted twice")),
            FromMold::Failed { error } => self.mold_failed(id.pool, error),
            FromMold::Forked { slot, pid } => self.worker_forked(id, slot, Pid::from_raw(pid)),
            FromMold::ForkFailed { slot, error } => {
                log::error("master", format_args!("worker={slot} {name} cannot be forked: {error}"));
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

    fn mold_ready(&mut self, id: PoolId, load_ms: u64, software: String) {
        let name = self.name_of(id);
        let Some(generation) = self.generation(id.generation) else { return };
        let Some(pool) = generation.pools.get_mut(usize::from(id.pool)) else { return };
        let Some(first) = pool.molds.get_mut(0) else { return };
        first.is_loaded = true;
        log::info("master", format_args!("mold pid={} {name} ready load_ms={load_ms}", first.mold.pid));
        if id.pool == pools::DEFAULT {
            generation.software = software;
        }
        if generation.state == GenerationState::Loading && generation.pools.iter().all(|pool| pool.molds.can_fork()) {
            self.start_workers(id.generation);
        }
        self.tend();
    }

    fn start_workers(&mut self, number: GenerationNumber) {
        let Some(generation) = self.generation(number) else { return };
        generation.state = GenerationState::Starting;
        generation.deadline = Some(Instant::now() + generation.checked.config.timeouts.start);
        let checked = generation.checked.clone();
        if let Err(error) = self.configure_front(number) {
            return self.give_up(number, error);
        }
        for id in self.pools_of(number) {
            let start = PoolLimits::of(checked.config.pool_of(id.pool), 0).start;
            (0..start).for_each(|_| self.fork_worker(id));
        }
    }

    fn mold_failed(&mut self, id: PoolId, error: String) {
        if self.generation(id.generation).is_some_and(|g| g.is_young()) {
            return self.give_up(id.generation, CodeError(error).into());
        }
        let name = self.name_of(id);
        log::error("master", format_args!("{name} its code does not load any more: {}", error.trim_end()));
    }

    /// A mold has ended; all that it said before was heard.
    pub(crate) fn mold_ended(&mut self, id: MoldId, exit: Exit) {
        let now = Instant::now();
        let MoldId { pool: PoolId { generation: number, .. }, refork } = id;
        let name = self.name_of(id.pool);
        let ended = self.was_out_of_memory(exit).map_or(exit.to_string(), |reason| format!("{exit} ({reason})"));
        if let Some(pool) = self.mold_pool_mut(id.pool) {
            pool.molds.remove(refork);
        }
        for slot in self.workers.lost(id) {
            self.worker_gone(slot);
        }
        let Some(state) = self.generation(number).map(|generation| generation.state) else { return };
        let Some(pool) = self.mold_pool_mut(id.pool) else { return };
        match state {
            GenerationState::Loading | GenerationState::Starting => {
                self.give_up(number, anyhow::anyhow!("the mold, which loads the site's Perl, ended with {ended}"));
            }
            GenerationState::Serving if pool.molds.forking().is_some() => {
                let how =
                    if exit == Exit::Code(0) { "after its last worker" } else { "and another forks in its place" };
                log::info("master", format_args!("mold {name} refork={refork} ended {ended} {how}"));
            }
            GenerationState::Serving => {
                let wait = pool.backoff.failed(now);
                let after = wait.as_secs_f32();
                log::error(
                    "master",
                    format_args!("mold {name} ended {ended}; its workers serve on, the next starts in {after} s"),
                );
            }
            _ => {}
        }
        self.sweep();
    }

    /// Starts a mold of the serving generation again when it has waited long enough.
    pub(crate) fn restart_mold(&mut self, now: Instant) {
        let opened = self.opened.clone();
        let due = |generation: &Generation| {
            let mut due = generation.without_mold().filter(|(_, pool)| pool.backoff.ends(now).is_none());
            due.next().map(|(id, _)| (id, generation.checked.clone()))
        };
        let Some((id, checked)) = self.generations.iter().find_map(due) else { return };
        let Some(opened) = opened else { return };
        let started = self.start_mold(id, &checked, &opened);
        let name = self.name_of(id);
        let Some(pool) = self.mold_pool_mut(id) else { return };
        match started {
            Ok(mold) => pool.molds.add_first(mold),
            Err(error) => {
                pool.backoff.failed(now);
                log::error("master", format_args!("mold {name} cannot be started: {error:#}"));
            }
        }
    }

    /// Ends the mold of a generation; one that serves starts another.
    pub(crate) fn end_mold(&mut self, id: MoldId, why: &str) {
        let name = self.name_of(id.pool);
        let Some(mold) = self.mold(id) else { return };
        log::error("master", format_args!("mold pid={} {name} {why}, and is killed", mold.pid));
        mold.kill();
    }

    /// That one, if it has not ended.
    pub(crate) fn mold(&mut self, id: MoldId) -> Option<&mut Mold> {
        Some(&mut self.mold_pool_mut(id.pool)?.molds.get_mut(id.refork)?.mold)
    }

    /// Whose process that is.
    pub(crate) fn mold_of(&self, pid: Pid) -> Option<MoldId> {
        self.molds().find(|(_, mold)| mold.pid == pid).map(|(id, _)| id)
    }

    /// All of all generations.
    pub(crate) fn molds(&self) -> impl Iterator<Item = (MoldId, &Mold)> {
        self.generations.iter().flat_map(|generation| {
            let id = |pool| PoolId { generation: generation.number, pool };
            generation.molds().map(move |(pool, it)| (MoldId { pool: id(pool), refork: it.refork }, &it.mold))
        })
    }

    /// Somebody has stopped a process; a mold neither forks nor reaps then.
    pub(crate) fn child_stopped(&mut self, pid: Pid) {
        let stopped = self.mold_of(pid).and_then(|id| self.mold_pool_mut(id.pool));
        if let Some(pool) = stopped {
            pool.stopped = Some(Instant::now());
        }
    }

    /// Ends molds that stay stopped: another does their work, and their workers serve on.
    pub(crate) fn end_stopped_molds(&mut self, now: Instant) {
        let all: Vec<PoolId> = self.generations.iter().flat_map(|g| self.pools_of(g.number)).collect();
        for id in all {
            let since = self.mold_pool_mut(id).and_then(|pool| pool.stopped.take_if(|since| *since + STOPPED <= now));
            let molds = self.mold_pool(id).into_iter().flat_map(|pool| pool.molds.iter()).map(|member| &member.mold);
            for mold in molds.filter(|mold| since.is_some() && sys::is_stopped(mold.pid.as_raw())) {
                log::error(
                    "master",
                    format_args!("mold pid={} {} is stopped, and is killed", mold.pid, self.name_of(id)),
                );
                mold.kill();
            }
        }
    }
}
