//! Workers: forked, ready, leaving, ended. [`WorkerState`] draws their life.

use std::time::Instant;

use nix::unistd::{Pid, getpid};
use wire::control::{
    Exit, ExitReason, GenerationNumber, GenerationState, PoolId, Slot, ToFront, ToMold, WorkerId, WorkerState,
};
use wire::reply::LeaveReason;

use super::Master;
use crate::children::MoldId;
use crate::children::handles::WorkerSocket;
use crate::children::process::NotForked;
use crate::exits::Circumstances;
use crate::pool::worker::WorkerEntry;
use base::log;

impl Master {
    /// Asks a mold for a worker and passes the worker's socket to the front.
    pub(super) fn fork_worker(&mut self, pool: PoolId) {
        let Some(refork) = self.generations.forking(pool).map(|member| member.refork) else { return };
        let mold = MoldId { pool, refork };
        let id = self.workers.add(mold, Instant::now());
        let slot = id.slot;
        self.grant_first(slot, pool);
        let socket = match WorkerSocket::new() {
            Ok(socket) => socket,
            Err(error) => {
                log::error(
                    "master",
                    format_args!("worker={slot} {} not started: cannot create its socket: {error}", self.name_of(pool)),
                );
                return drop(self.worker_gone(slot));
            }
        };
        self.hand_to_front(pool, id, &socket, false);
        if let Some(mold) = self.children.mold(mold) {
            mold.peer.send(ToMold::Spawn { slot }, vec![socket.worker.clone(), socket.memory.clone()]);
        }
        self.children.workers.hold(slot, socket);
    }

    /// Hands a worker to the front; `adopted` if it had another front before.
    pub(super) fn hand_to_front(&mut self, pool: PoolId, worker: WorkerId, socket: &WorkerSocket, adopted: bool) {
        let ends = [&socket.front, &socket.worker, &socket.memory].map(Clone::clone).into();
        self.send_to_front(ToFront::Worker { worker, pool, adopted }, ends);
    }

    /// A mold reports the process of a worker.
    pub(super) fn worker_forked(&mut self, by: MoldId, slot: Slot, pid: Pid) {
        if !self.workers.is_of(slot, by) {
            return;
        }
        let name = self.name_of(by.pool);
        let mold = self.children.mold(by).map(|mold| mold.pid);
        let is_adopted = !self.has_started(pid);
        let is_its_child = |parent| Some(parent) == mold || (parent == getpid() && is_adopted);
        match self.children.workers.forked(slot, pid, is_its_child) {
            Ok(()) => {
                log::info("master", format_args!("worker={slot} pid={pid} {name} started"));
                self.workers.get_mut(slot).into_iter().for_each(|worker| worker.pid = Some(pid.as_raw()));
            }
            Err(NotForked::Ended) => {
                // The mold reports the end with `Exited`.
                log::debug("master", format_args!("worker={slot} pid={pid} {name} has ended already"));
            }
            // A mold runs the site's code: the process may be any of this machine, and the master may be root.
            Err(NotForked::Foreign) => {
                return self.end_mold(by, &format!("reported pid={pid}, which is not its child, as a worker"));
            }
        }
        self.show_to_profiler(slot);
        self.send_to_front(ToFront::Forked { slot, pid: pid.as_raw() }, vec![]);
        if let Some((id, fork_us)) = self.workers.take_early_ready(slot) {
            self.worker_ready(id, fork_us);
        }
    }

    /// The front has received the worker's `Ready`.
    pub(super) fn worker_ready(&mut self, id: WorkerId, fork_us: u32) {
        let Some(worker) = self.workers.find_mut(id).filter(|w| w.state == WorkerState::Starting) else { return };
        if worker.pid.is_none() {
            // The front was faster than the mold's report; see `worker_forked`.
            worker.ready_us = Some(fork_us);
            return;
        }
        worker.state = WorkerState::Idle;
        let (mold, pid) = (worker.mold, worker.pid());
        let name = self.name_of(mold.pool);
        log::info("master", format_args!("worker={} pid={pid} {name} ready fork_us={fork_us}", id.slot));
        self.sizing.of(mold.pool.pool).backoff.succeeded();
        self.note_replaced(mold);
        self.serve_when_ready(mold.pool.generation);
        self.tend();
    }

    /// Notes that a worker takes no more requests. END blocks and PerlChildExitHandlers delay no request: the successor
    /// may start immediately.
    pub(super) fn worker_leaves(&mut self, id: WorkerId, of_its_own: Option<LeaveReason>) {
        let Some((mold, requested_at)) = self.workers.find(id).map(|worker| (worker.mold, worker.fork_requested))
        else {
            return self.explain_exit(id, of_its_own);
        };
        if of_its_own == Some(LeaveReason::MemoryAtOnce) {
            self.costs_more(mold.pool, requested_at);
        }
        let why = self.circumstances(mold.pool.generation).reason_to_leave(of_its_own);
        let allowed = self.checked.config.timeouts.graceful;
        let by = (!allowed.is_zero()).then(|| Instant::now() + allowed);
        self.workers.leaves(id, by, why);
        self.tend();
    }

    /// Asks a worker to leave when it is idle.
    pub(super) fn dismiss(&mut self, worker: WorkerId, why: ExitReason) {
        self.workers.dismiss(worker, why);
        self.send_to_front(ToFront::Leave { worker }, vec![]);
    }

    /// A worker has ended, reaped by its mold or, when that ended before, by the master.
    pub(super) fn worker_ended(&mut self, slot: Slot, exit: Exit) {
        let Some(worker) = self.workers.get(slot) else { return };
        let (pool, pid, starting) = (worker.mold.pool, worker.pid(), worker.state == WorkerState::Starting);
        let killed = worker.killed.clone();
        let was_killed = killed.is_some();
        let who = format!("worker={slot} pid={pid} {}", self.name_of(pool));
        let reason = killed.or_else(|| self.killed_by_kernel(exit));
        let was_out_of_memory = !was_killed && reason.is_some();
        match (exit, reason) {
            (Exit::Signal(_), Some(reason)) => log::warn("master", format_args!("{who} killed {exit} ({reason})")),
            (Exit::Signal(_), None) => log::error("master", format_args!("{who} killed {exit}")),
            (Exit::Code(0), _) if !starting => log::info("master", format_args!("{who} exited {exit}")),
            (Exit::Code(_), _) => log::error("master", format_args!("{who} exited {exit}")),
        }
        if let Some(worker) = self.worker_gone(slot)
            && self.exits.ended(&worker, exit, was_out_of_memory, Instant::now())
        {
            self.send_counts();
        }
    }

    /// Frees a worker's slot; a worker that never was ready counts as a failed start.
    pub(super) fn worker_gone(&mut self, slot: Slot) -> Option<WorkerEntry> {
        let worker = self.workers.remove(slot)?;
        self.children.workers.remove(slot);
        self.send_to_front(ToFront::Gone { slot }, vec![]);
        if let Some(pid) = worker.pid {
            self.hide_from_profiler(pid);
        }
        let pool = worker.mold.pool;
        // A worker may end while its generation still waits for another pool.
        let starts = self.generations.state_of(pool.generation) == Some(GenerationState::Starting);
        if (starts || worker.state == WorkerState::Starting) && !self.stop.is_under_way() {
            self.start_failed(pool);
        }
        self.sweep();
        self.tend();
        if worker.is_dismissed && self.workers.starting(pool) == 0 {
            self.note_not_replaced(pool);
        }
        Some(worker)
    }

    fn start_failed(&mut self, pool: PoolId) {
        let (now, number) = (Instant::now(), pool.generation);
        let backoff = &mut self.sizing.of(pool.pool).backoff;
        let is_news = backoff.ends(now).is_none();
        let wait = backoff.failed(now);
        match self.generations.state_of(number) {
            Some(GenerationState::Starting) if self.workers.alive(pool) == 0 => {
                let found = self.generations.get(number);
                let label = found.map(|found| found.config.config.pool_label(pool.pool)).unwrap_or_default();
                let error = anyhow::anyhow!("no worker became ready{label}; the error log has its messages");
                self.give_up(number, error);
            }
            Some(GenerationState::Serving) if is_news => {
                let (after, name) = (wait.as_secs_f32(), self.name_of(pool));
                log::error(
                    "master",
                    format_args!("{name} a worker ended before it was ready; next try in {after:.1} s"),
                );
            }
            _ => {}
        }
    }

    pub(super) fn kill_worker(&mut self, slot: Slot, reason: &str, exit: ExitReason) {
        if self.children.workers.kill(slot) {
            self.workers.note_killed(slot, reason, exit);
        }
    }

    /// Kills workers that did not end in time.
    pub(super) fn end_late_to_leave(&mut self, now: Instant) {
        let why = "did not end in time; GracefulShutdownTimeout limits END blocks and PerlChildExitHandlers";
        for slot in self.workers.take_late_to_leave(now) {
            self.kill_worker(slot, why, ExitReason::SlowEnd);
        }
    }

    fn circumstances(&self, generation: GenerationNumber) -> Circumstances {
        Circumstances { generation: self.generations.state_of(generation), is_stopping: self.stop.is_under_way() }
    }

    /// Records the reason, reported by the front, of a worker that has already ended.
    fn explain_exit(&mut self, id: WorkerId, of_its_own: Option<LeaveReason>) {
        let (generations, is_stopping) = (&self.generations, self.stop.is_under_way());
        let circumstances = |number| Circumstances { generation: generations.state_of(number), is_stopping };
        if self.exits.explained(id.serial, of_its_own, circumstances) {
            self.send_counts();
        }
    }

    /// Counts ended workers on which the front has not reported.
    pub(super) fn settle_exits(&mut self, now: Instant) {
        let (generations, is_stopping) = (&self.generations, self.stop.is_under_way());
        let circumstances = |number| Circumstances { generation: generations.state_of(number), is_stopping };
        if self.exits.tick(now, circumstances) {
            self.send_counts();
        }
    }
}
