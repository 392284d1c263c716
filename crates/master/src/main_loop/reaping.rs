//! Reaping of processes: children of the master, and orphans such as workers whose mold has ended.

use std::time::Instant;

use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use wire::control::Exit;

use super::Master;
use super::prepared::PreparedMold;
use super::turn::ALL_LEFT;
use base::log;

impl Master {
    pub(super) fn reap(&mut self) {
        while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED)) {
            match status {
                WaitStatus::Exited(pid, code) => self.ended(pid, Exit::Code(code)),
                WaitStatus::Signaled(pid, signal, _) => self.ended(pid, Exit::Signal(signal as i32)),
                WaitStatus::Stopped(pid, _) => self.child_stopped(pid),
                WaitStatus::StillAlive => return,
                _ => {}
            }
        }
    }

    /// Whether this is a child of the master that is no worker.
    pub(super) fn has_started(&self, pid: Pid) -> bool {
        let expander = self.next.expansion().map(|expansion| expansion.child.pid);
        let prepared = self.prepared.as_ref().map(PreparedMold::pid);
        self.children.pids().chain(expander).chain(prepared).any(|ours| ours == pid) || self.logs.has_started(pid)
    }

    fn ended(&mut self, pid: Pid, exit: Exit) {
        if self.children.front.as_ref().is_some_and(|front| front.pid == pid) {
            self.read_front(ALL_LEFT);
            return self.front_ended(exit);
        }
        if self.next.expansion().is_some_and(|expansion| expansion.child.pid == pid) {
            return self.expander_ended();
        }
        if self.children.sampler.as_ref().is_some_and(|sampler| sampler.pid == pid) {
            return self.sampler_ended();
        }
        if self.children.profiler.as_ref().is_some_and(|profiler| profiler.pid == pid) {
            return self.profiler_ended();
        }
        if self.children.monitor.as_ref().is_some_and(|monitor| monitor.pid == pid) {
            return self.monitor_ended();
        }
        if self.children.acme.as_ref().is_some_and(|acme| acme.pid == pid) {
            return self.acme_ended();
        }
        if self.prepared.take_if(|prepared| prepared.pid() == pid).is_some() {
            return log::warn("master", format_args!("the mold for the next reload ended {exit} (PerlPrepare)"));
        }
        if let Some(mold) = self.children.mold_of(pid) {
            self.read_mold(mold, ALL_LEFT);
            return self.mold_ended(mold, exit);
        }
        if let Some(slot) = self.workers.slot_of(pid.as_raw()) {
            return self.worker_ended(slot, exit);
        }
        if self.logs.reap(pid, Instant::now()) {
            log::error("master", format_args!("piped log pid={pid} ended {exit}; it is started again"));
        }
    }

    /// A process was stopped; a mold neither forks nor reaps then.
    fn child_stopped(&mut self, pid: Pid) {
        if let Some(mold) = self.children.mold_of(pid) {
            self.generations.mold_stopped(mold.pool, Instant::now());
        }
    }
}
