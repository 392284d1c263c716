//! A worker's life as the master sees it: asked of the mold, forked, ready, ended. [`WorkerState`] draws it.

use std::time::Instant;

use nix::unistd::{Pid, getpid};
use wire::control::{
    Exit, ExitReason, GenerationNumber, GenerationState, PoolId, Slot, ToFront, ToMold, WorkerId, WorkerState,
};
use wire::reply::LeaveReason;

use super::process::NotForked;
use super::worker::{Socket, Worker};
use crate::Master;
use crate::children::MoldId;
use base::log;

impl Master {
    /// Asks a mold for a worker and tells the front.
    pub(crate) fn fork_worker(&mut self, pool: PoolId) {
        let Some(refork) = self.mold_pool(pool).and_then(|it| it.molds.forking()).map(|member| member.refork) else {
            return;
        };
        let id = self.workers.add(MoldId { pool, refork }, Instant::now());
        let slot = id.slot;
        self.may_grow(slot, pool);
        let socket = match Socket::new() {
            Ok(socket) => socket,
            Err(error) => {
                log::error("master", format_args!("worker={slot} {} has no socket: {error}", self.name_of(pool)));
                return drop(self.worker_gone(slot));
            }
        };
        self.hand_to_front(pool, id, &socket, false);
        if let Some(mold) = self.mold(MoldId { pool, refork }) {
            mold.peer.send(ToMold::Spawn { slot }, vec![socket.worker.clone(), socket.memory.clone()]);
        }
        if let Some(worker) = self.workers.get_mut(slot) {
            worker.socket = Some(socket);
        }
    }

    /// Tells the front of a worker, a new one or one that had another front.
    pub(crate) fn hand_to_front(&mut self, pool: PoolId, worker: WorkerId, socket: &Socket, adopted: bool) {
        let ends = [&socket.front, &socket.worker, &socket.memory].map(Clone::clone).into();
        self.tell_front(ToFront::Worker { worker, pool, adopted }, ends);
    }

    pub(crate) fn worker_forked(&mut self, by: MoldId, slot: Slot, pid: Pid) {
        if !self.workers.is_of(slot, by) {
            return;
        }
        let name = self.name_of(by.pool);
        let mold = self.mold(by).map(|mold| mold.pid);
        let is_adopted = !self.has_started(pid);
        let is_its_child = |parent| Some(parent) == mold || (parent == getpid() && is_adopted);
        match self.workers.forked(slot, pid, is_its_child) {
            Ok(()) => log::info("master", format_args!("worker={slot} pid={pid} {name} started")),
            Err(NotForked::Ended) => {
                // `Exited` follows.
                log::debug("master", format_args!("worker={slot} pid={pid} {name} has ended already"));
            }
            Err(NotForked::Foreign) => return self.mold_lied(by, pid),
        }
        self.show_to_profiler(slot);
        self.tell_front(ToFront::Forked { slot, pid: pid.as_raw() }, vec![]);
        if let Some((id, fork_us)) = self.workers.ready_early(slot) {
            self.worker_ready(id, fork_us);
        }
    }

    /// A mold runs the site's code: a number that it names may be any process of this machine, and we may be root.
    fn mold_lied(&mut self, id: MoldId, pid: Pid) {
        self.end_mold(id, &format!("calls pid={pid} its worker"));
    }

    /// The front heard the worker's `Ready`.
    pub(crate) fn worker_ready(&mut self, id: WorkerId, fork_us: u32) {
        let Some(worker) = self.workers.meant_by(id).filter(|w| w.state == WorkerState::Starting) else { return };
        if worker.process.is_none() {
            // The front was faster than the mold's word that it forked; see `worker_forked`.
            worker.ready_us = Some(fork_us);
            return;
        }
        worker.state = WorkerState::Idle;
        let (mold, pid) = (worker.mold, worker.pid());
        let (number, name) = (mold.pool.generation, self.name_of(mold.pool));
        log::info("master", format_args!("worker={} pid={pid} {name} ready fork_us={fork_us}", id.slot));
        self.tended(mold.pool.pool).backoff.succeeded();
        self.note_replaced(mold);
        let starts = self.generation(number).is_some_and(|g| g.state == GenerationState::Starting);
        if starts && self.all_pools_answer(number) {
            self.activate(number);
        }
        self.tend();
    }

    /// It takes no more requests. What it does before its end, in END blocks and PerlChildExitHandlers, holds nobody up:
    /// its successor may come at once.
    pub(crate) fn worker_leaves(&mut self, id: WorkerId, of_its_own: Option<LeaveReason>) {
        let Some(number) = self.workers.meant_by(id).map(|worker| worker.mold.pool.generation) else {
            return self.explain_exit(id, of_its_own);
        };
        if of_its_own == Some(LeaveReason::MemoryAtOnce) {
            self.cost_too_much(id);
        }
        let why = self.why_leaving(number, of_its_own);
        let allowed = self.checked.config.timeouts.graceful;
        let by = (!allowed.is_zero()).then(|| Instant::now() + allowed);
        self.workers.leaves(id, by, why);
        self.tend();
    }

    /// A worker has ended, reaped by its mold or, when the mold went before it, by us.
    pub(crate) fn worker_ended(&mut self, slot: Slot, exit: Exit) {
        let Some(worker) = self.workers.get_mut(slot) else { return };
        let (pool, pid, booting) = (worker.mold.pool, worker.pid(), worker.state == WorkerState::Starting);
        let (is_ours, killed) = (worker.killed.is_some(), worker.killed.clone());
        let who = format!("worker={slot} pid={pid} {}", self.name_of(pool));
        let reason = killed.or_else(|| self.was_out_of_memory(exit));
        let was_out_of_memory = !is_ours && reason.is_some();
        match (exit, reason) {
            (Exit::Signal(_), Some(reason)) => log::warn("master", format_args!("{who} killed {exit} ({reason})")),
            (Exit::Signal(_), None) => log::error("master", format_args!("{who} killed {exit}")),
            (Exit::Code(0), _) if !booting => log::info("master", format_args!("{who} exited {exit}")),
            (Exit::Code(_), _) => log::error("master", format_args!("{who} exited {exit}")),
        }
        if let Some(worker) = self.worker_gone(slot) {
            self.count_exit(&worker, exit, was_out_of_memory);
        }
    }

    /// Its place is free; a worker that never was ready counts as a failure to boot.
    pub(crate) fn worker_gone(&mut self, slot: Slot) -> Option<Worker> {
        let worker = self.workers.remove(slot)?;
        self.tell_front(ToFront::Gone { slot }, vec![]);
        if let Some(process) = &worker.process {
            self.hide_from_profiler(process.pid.as_raw());
        }
        let pool = worker.mold.pool;
        // One may end while its generation still waits for another pool.
        let begins = self.generation(pool.generation).is_some_and(|g| g.state == GenerationState::Starting);
        if (begins || worker.state == WorkerState::Starting) && self.stop.is_none() {
            self.boot_failed(pool);
        }
        self.sweep();
        self.tend();
        if worker.is_dismissed && self.workers.starting(pool) == 0 {
            self.note_not_replaced(Some(pool));
        }
        Some(worker)
    }

    fn boot_failed(&mut self, pool: PoolId) {
        let (now, number) = (Instant::now(), pool.generation);
        let backoff = &mut self.tended(pool.pool).backoff;
        let is_news = backoff.ends(now).is_none();
        let wait = backoff.failed(now);
        let Some(state) = self.generation(number).map(|g| g.state) else { return };
        match state {
            GenerationState::Starting if self.workers.alive(pool) == 0 => {
                let label = self.generation(number).map(|g| g.checked.config.pool_label(pool.pool)).unwrap_or_default();
                let error = anyhow::anyhow!("no worker became ready{label}; what it said stands in the error log");
                self.give_up(number, error);
            }
            GenerationState::Serving if is_news => {
                let (after, name) = (wait.as_secs_f32(), self.name_of(pool));
                log::error(
                    "master",
                    format_args!("{name} a worker ended before it was ready; next try in {after:.1} s"),
                );
            }
            _ => {}
        }
    }

    /// Those of a generation that has failed, or should have ended.
    pub(crate) fn kill_workers_of(&mut self, number: GenerationNumber, reason: &str) {
        let slots: Vec<Slot> = self.workers.of_generation(number).map(|(slot, _)| slot).collect();
        for slot in slots {
            if let Some(worker) = self.workers.get_mut(slot) {
                worker.kill(reason, ExitReason::Reload);
            }
        }
    }
}
