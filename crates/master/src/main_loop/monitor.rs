//! The monitor: started, sent the status once a second, killed where it does not read.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use wire::control::{FrontStatus, ToFront};

use super::Master;
use crate::children::start_monitor;
use crate::monitor::MonitorAction;
use base::log;
use status::monitor::ToMonitor;
use sys::privileges;

impl Master {
    /// Carries out the monitor actions that are due.
    pub(super) fn run_monitor(&mut self, now: Instant) {
        if self.monitor_wakes().is_none() {
            return;
        }
        for action in self.monitor.tick(self.children.front.is_some(), into_second(), now) {
            self.do_monitor(action);
        }
    }

    /// When [`Self::run_monitor`] must be called next.
    pub(super) fn monitor_wakes(&self) -> Option<Instant> {
        // Before the first code serves, too: /readyz says that the server starts.
        self.monitor_files.are_wanted().then(|| self.monitor.wakes())
    }

    fn do_monitor(&mut self, action: MonitorAction) {
        match action {
            MonitorAction::Start => self.start_monitor(),
            MonitorAction::AskFront => self.send_to_front(ToFront::Status, vec![]),
            MonitorAction::SendWithoutFront => self.send_to_monitor(None),
            MonitorAction::Kill => self.end_monitor("does not read its messages"),
        }
    }

    fn start_monitor(&mut self) {
        let now = Instant::now();
        match self.try_start_monitor() {
            Ok(()) => self.monitor.started(into_second(), now),
            Err(error) => {
                self.monitor.not_started(now);
                log::error("master", format_args!("monitor cannot be started: {error:#}"));
            }
        }
    }

    fn try_start_monitor(&mut self) -> anyhow::Result<()> {
        let opened = self.logs.in_use().or_else(|| self.next.attempt().map(|attempt| &attempt.opened));
        let error_log = opened.map(|opened| opened.error.clone()).context("no error log is open yet")?;
        if self.monitor_files.make_board()? {
            self.send_board();
        }
        let config = &self.checked.config;
        let account = privileges::account(config.user.as_deref(), config.group.as_deref())?;
        let (settings, descriptors) = self.monitor_files.settings(account);
        let mut monitor = start_monitor(&error_log)?;
        log::info("master", format_args!("monitor pid={} started", monitor.pid));
        monitor.peer.send(ToMonitor::Configure(settings), descriptors);
        self.children.monitor = Some(monitor);
        Ok(())
    }

    /// The front has reported its status: the monitor may wait for it.
    pub(super) fn pass_to_monitor(&mut self, front: &FrontStatus) {
        if self.monitor.take_request() {
            self.send_to_monitor(Some(front.clone()));
        }
    }

    fn send_to_monitor(&mut self, front: Option<FrontStatus>) {
        let Some(monitor) = &mut self.children.monitor else { return };
        monitor.peer.flush();
        let has_unsent = monitor.peer.has_unsent();
        match self.monitor.send(has_unsent, Instant::now()) {
            Ok(()) => {
                let status = self.status(front);
                if let Some(monitor) = &mut self.children.monitor {
                    monitor.peer.send(ToMonitor::Status(Box::new(status)), vec![]);
                }
            }
            Err(action) => action.into_iter().for_each(|action| self.do_monitor(action)),
        }
    }

    /// The monitor sends no messages; its end is noticed when its process is reaped.
    pub(super) fn read_monitor(&mut self) {
        let Some(monitor) = &mut self.children.monitor else { return };
        monitor.peer.flush();
        if let Err(error) = monitor.peer.receive() {
            self.end_monitor(&format!("sent an invalid control message ({error})"));
        }
    }

    fn end_monitor(&self, why: &str) {
        if let Some(monitor) = &self.children.monitor {
            log::error("master", format_args!("monitor pid={} {why}, and is killed", monitor.pid));
            monitor.kill();
        }
    }

    pub(super) fn monitor_ended(&mut self) {
        self.children.monitor = None;
        let wait = self.monitor.ended(Instant::now()).as_secs_f32();
        if !self.stop.is_under_way() {
            log::error("master", format_args!("monitor ended; the next one starts in {wait} s"));
        }
    }
}

/// Time since the last full second of the clock.
fn into_second() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Duration::from_millis(u64::from(since.subsec_millis()))
}
