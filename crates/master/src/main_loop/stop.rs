//! The stop: carries out what [`ServerStop`](crate::stop::ServerStop) decides.

use std::time::Instant;

use wire::control::{ExitReason, Slot, ToFront};

use super::Master;
use super::next::NextConfig;
use crate::inspections::ReportAsker;
use crate::sockets::control_socket::StopMode;
use crate::stop::StopAction;
use base::log;
use config::LogTarget;

impl Master {
    /// Stops the server after a signal or a command: with `ShutdownDelay`, gracefully only after a drain.
    pub(super) fn request_stop(&mut self, how: StopMode) {
        if how == StopMode::Graceful && self.drains_first() {
            return;
        }
        self.stop_now(how);
    }

    /// Begins the stop, or makes it harder.
    pub(super) fn stop_now(&mut self, how: StopMode) {
        if self.inspections.take(ReportAsker::Stop).is_some() {
            // The second request: the first one waits no longer.
            self.begin_to_stop(StopMode::Graceful);
        } else if how == StopMode::Graceful && self.surveys_before_stop() {
            return;
        }
        self.begin_to_stop(how);
    }

    pub(super) fn begin_to_stop(&mut self, how: StopMode) {
        let actions = self.stop.request(how, self.checked.config.timeouts.graceful, Instant::now());
        match actions.last() {
            Some(StopAction::Drain) => log::notice("master", "stopping gracefully"),
            Some(StopAction::Hurry) => log::notice("master", "stopping"),
            _ => {}
        }
        self.do_stop(actions);
    }

    /// Stops the server with an error, because it cannot serve.
    pub(super) fn fail(&mut self, error: anyhow::Error) {
        if self.stop.is_under_way() {
            return;
        }
        if self.checked.config.error_log != LogTarget::Standard {
            log::crit("master", format_args!("{error:#}"));
        }
        let actions = self.stop.fail(error, Instant::now());
        self.do_stop(actions);
    }

    pub(super) fn do_stop(&mut self, actions: Vec<StopAction>) {
        for action in actions {
            match action {
                StopAction::Begin => self.begin_stop(),
                StopAction::Drain => {
                    self.send_to_front(ToFront::Stop, vec![]);
                    if self.children.front.is_none() {
                        self.drained();
                    }
                }
                StopAction::Hurry => {
                    self.children.resume();
                    self.send_to_front(ToFront::Exit, vec![]);
                    self.drained();
                }
                StopAction::Kill(reason) => self.kill_all(reason),
            }
        }
    }

    fn begin_stop(&mut self) {
        self.drain.end_with_stop();
        self.announcer.notify().stopping();
        let next = std::mem::take(&mut self.next);
        if let Some(expansion) = next.expansion() {
            expansion.child.kill();
        }
        self.end_reload(Err("the server is stopping".to_string()));
        self.end_refork(Err("the server is stopping".to_string()));
        self.children.sampler.iter().for_each(|sampler| sampler.kill());
        self.children.profiler.iter().for_each(|profiler| profiler.kill());
        self.children.monitor.iter().for_each(|monitor| monitor.kill());
        self.children.acme.iter().for_each(|acme| acme.kill());
        self.drop_prepared();
        self.monitor_files.close();
        self.children.resume();
        // The front answers clients that the kernel has let in. While the master holds the sockets too, it would let in
        // more.
        self.listeners.close();
        if let NextConfig::Starting(attempt) = next {
            self.listeners.abandon(attempt.listeners);
        }
        self.generations.stop();
        self.sweep();
    }

    /// Retires all molds after the last request: workers see the end of their front, and molds end after them.
    pub(super) fn drained(&mut self) {
        for slot in self.slots() {
            self.children.workers.let_go(slot);
        }
        let molds = self.generations.retire_all();
        self.retire_molds(&molds);
    }

    /// The exit result of the program, once all processes have ended after a stop.
    pub(crate) fn stopped(&mut self) -> Option<anyhow::Result<()>> {
        let children = &self.children;
        let nobody = children.front.is_none() && children.sampler.is_none() && children.profiler.is_none();
        let nobody = nobody && self.workers.is_empty() && self.generations.is_empty();
        if nobody { self.stop.take_result() } else { None }
    }

    fn kill_all(&mut self, reason: &str) {
        self.children.front.iter().for_each(|front| front.kill());
        self.children.molds().for_each(|(_, mold)| mold.kill());
        for slot in self.slots() {
            self.kill_worker(slot, reason, ExitReason::Stop);
        }
    }

    fn slots(&self) -> Vec<Slot> {
        self.workers.iter().map(|(slot, _)| slot).collect()
    }
}
