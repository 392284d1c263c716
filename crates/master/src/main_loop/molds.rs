//! Molds: started, read, retired, and started again when they end.

use std::os::fd::OwnedFd;
use std::time::Instant;

use nix::unistd::Pid;
use wire::control::{Exit, FromMold, PoolId, ProgramFacts, ToMold};

use super::Master;
use crate::children::{self, Mold, MoldId};
use crate::configuration::{CheckedConfig, CodeError};
use crate::generation::MoldEnd;
use crate::logs::OpenedLogs;
use base::log;
use config::pools;

impl Master {
    pub(super) fn start_mold(
        &mut self,
        id: PoolId,
        checked: &CheckedConfig,
        opened: &OpenedLogs,
    ) -> anyhow::Result<Mold> {
        let first = [checked.in_memory()?, self.grants.fd()];
        let fds = first.into_iter().chain(opened.hosts.iter().cloned()).collect();
        let mut mold = match self.take_prepared(id, checked, opened) {
            Some(prepared) => prepared,
            None => children::start_mold(&opened.error, &self.origin.facts.env)?,
        };
        let preload = self.late_code_for(id, checked);
        mold.peer.send(ToMold::Configure { pool: id, preload }, fds);
        if checked.config.is_of_programs(id.pool) {
            for (pool, facts) in self.generations.program_facts(id.generation) {
                mold.peer.send(ToMold::ProgramFacts { pool, facts: facts.clone() }, vec![]);
            }
        }
        let label = checked.config.pool_label(id.pool);
        log::info("master", format_args!("mold pid={} gen={}{label} started", mold.pid, id.generation));
        Ok(mold)
    }

    /// Handles up to `most` messages of the mold.
    pub(super) fn read_mold(&mut self, id: MoldId, most: usize) {
        for _ in 0..most {
            let Some(mold) = self.children.mold(id) else { return };
            mold.peer.flush();
            match mold.peer.receive_with_fds() {
                Ok(Some((message, fds))) => self.mold_reports(id, message, fds),
                Ok(None) => return,
                Err(error) => return self.end_mold(id, &format!("sent an invalid control message ({error})")),
            }
        }
    }

    fn mold_reports(&mut self, id: MoldId, message: FromMold, fds: Vec<OwnedFd>) {
        let name = self.name_of(id.pool);
        match message {
            FromMold::Ready { load_ms, software, activity, facts, left_out } => {
                self.note_left_out(id.pool, left_out);
                self.send_program_facts(id.pool, facts);
                fds.into_iter().take(1).for_each(|board| self.children.add_board(id, board.into()));
                self.mold_ready(id, load_ms, software, activity);
            }
            FromMold::Promoted { .. } => {
                log::error("master", format_args!("{name} sent an invalid control message: promoted twice"));
            }
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

    /// A mold with Perl is ready: the mold of CGI programs needs the facts before it forks.
    fn send_program_facts(&mut self, from: PoolId, facts: ProgramFacts) {
        let found = self.generations.get(from.generation);
        let Some(programs) = found.and_then(|found| found.config.config.program_pool_number()) else { return };
        if from.pool == programs {
            return;
        }
        self.generations.note_facts(from, facts.clone());
        let pool = PoolId { pool: programs, ..from };
        if let Some(mold) = self.children.mold(MoldId { pool, refork: 0 }) {
            mold.peer.send(ToMold::ProgramFacts { pool: from.pool, facts }, vec![]);
        }
    }

    fn mold_ready(&mut self, id: MoldId, load_ms: u64, software: String, activity: usize) {
        let pid = self.children.mold(id).map_or(0, |mold| mold.pid.as_raw());
        log::info("master", format_args!("mold pid={pid} {} ready load_ms={load_ms}", self.name_of(id.pool)));
        let software = (id.pool.pool == pools::DEFAULT).then_some(software);
        if let Some(action) = self.generations.mold_ready(id.pool, activity, software, Instant::now()) {
            self.do_generation(action);
        }
        self.tend();
    }

    fn mold_failed(&mut self, id: PoolId, error: String) {
        if self.generations.get(id.generation).is_some_and(|generation| generation.is_young()) {
            return self.give_up(id.generation, CodeError(error).into());
        }
        let name = self.name_of(id);
        log::error("master", format_args!("{name} the site's code does not load any longer: {}", error.trim_end()));
    }

    /// A mold has ended; all its messages were read.
    pub(super) fn mold_ended(&mut self, id: MoldId, exit: Exit) {
        let (name, refork) = (self.name_of(id.pool), id.refork);
        let ended = self.killed_by_kernel(exit).map_or(exit.to_string(), |reason| format!("{exit} ({reason})"));
        self.children.remove_mold(id);
        let end = self.generations.mold_ended(id, exit, Instant::now());
        // Workers that were never seen alive, or that the mold has reaped without reporting it.
        let of_it =
            self.workers.iter().filter(|(slot, worker)| worker.mold == id && !self.children.workers.exists(*slot));
        for slot in of_it.map(|(slot, _)| slot).collect::<Vec<_>>() {
            self.worker_gone(slot);
        }
        match end {
            MoldEnd::FailsGeneration => {
                let error = anyhow::anyhow!("the mold (the process that loads the site's Perl) ended with {ended}");
                self.give_up(id.pool.generation, error);
            }
            MoldEnd::Spare { in_order } => {
                let how = if in_order { "after its last worker" } else { "and another forks in its place" };
                log::info("master", format_args!("mold {name} refork={refork} ended {ended} {how}"));
            }
            MoldEnd::Restarts(wait) => {
                let after = wait.as_secs_f32();
                log::error(
                    "master",
                    format_args!(
                        "mold {name} ended {ended}; its workers continue to serve; the next mold starts in {after} s"
                    ),
                );
            }
            MoldEnd::Nothing => {}
        }
        self.sweep();
    }

    /// Starts a mold of the serving generation again when it has waited long enough.
    pub(super) fn restart_mold(&mut self, now: Instant) {
        let Some(id) = self.generations.restart_due(now) else { return };
        let checked = self.generations.get(id.generation).map(|generation| generation.config.clone());
        let (Some(checked), Some(opened)) = (checked, self.logs.in_use().cloned()) else { return };
        match self.start_mold(id, &checked, &opened) {
            Ok(mold) => {
                self.generations.restarted(id, Ok(mold.pid.as_raw()));
                self.children.add_mold(MoldId { pool: id, refork: 0 }, mold);
            }
            Err(error) => {
                self.generations.restarted(id, Err(now));
                log::error("master", format_args!("mold {} cannot be started: {error:#}", self.name_of(id)));
            }
        }
    }

    /// Kills a mold; a generation that serves gets another.
    pub(super) fn end_mold(&mut self, id: MoldId, why: &str) {
        let name = self.name_of(id.pool);
        let Some(mold) = self.children.mold(id) else { return };
        log::error("master", format_args!("mold pid={} {name} {why}, and is killed", mold.pid));
        mold.kill();
    }

    /// Asks molds to fork no more workers, and to end after their last one.
    pub(super) fn retire_molds(&mut self, molds: &[MoldId]) {
        for id in molds {
            if let Some(mold) = self.children.mold(*id) {
                mold.peer.send(ToMold::Retire, vec![]);
            }
        }
    }

    /// Kills molds that stay stopped: another does their work, and their workers serve on.
    pub(super) fn end_stopped_molds(&mut self, now: Instant) {
        for id in self.generations.take_stopped(now) {
            if self.children.mold(id).is_some_and(|mold| sys::is_stopped(mold.pid.as_raw())) {
                self.end_mold(id, "is stopped");
            }
        }
    }
}
