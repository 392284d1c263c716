//! The node behind a load balancer: drained, maintained, its state sent to the front.

mod checks;

use std::time::{Duration, Instant};

use wire::control::{NodeStatus, ToFront};

use super::Master;
use crate::drain::USUAL;
use crate::sockets::control_socket::{ControlClient, ControlReply, StopMode};
use crate::stop::FAST;
use base::log;

pub(super) use self::checks::RunningCheck;

/// Time for the kills at the end of a stop, before systemd kills.
const SLACK: Duration = Duration::from_secs(5);

impl Master {
    /// `cameleer drain`: the server is not ready from now on, and stops after `wait`. The client gets another answer if
    /// the drain is cancelled.
    pub(super) fn request_drain(&mut self, client: ControlClient, wait: Option<Duration>) {
        if !self.serves() {
            let why = "the server starts or stops, and cannot drain";
            return self.answer(Some(client), &ControlReply::failed(why));
        }
        let delay = self.checked.config.node.shutdown_delay;
        let wait = wait.unwrap_or(if delay.is_zero() { USUAL } else { delay });
        self.drain.begin(wait, client, Instant::now());
        self.report_drain();
        self.answer(Some(client), &ControlReply::ok());
    }

    /// `cameleer drain --cancel`: the server is ready again.
    pub(super) fn cancel_drain(&mut self, client: ControlClient) {
        match self.drain.cancel(Instant::now()) {
            Ok(waiting) => {
                log::notice("master", "the drain was cancelled");
                let summary = self.summary();
                self.announcer.notify_mut().drain_cancelled(&summary);
                self.node_changed();
                let cancelled = ControlReply::failed("the drain was cancelled, and the server serves on");
                waiting.into_iter().for_each(|waiting| self.answer(Some(waiting), &cancelled));
                self.answer(Some(client), &ControlReply::ok());
            }
            Err(why) => self.answer(Some(client), &ControlReply::failed(why)),
        }
    }

    /// `cameleer maint on|off`
    pub(super) fn maintain(&mut self, client: ControlClient, on: bool) {
        match self.drain.maintain(on, Instant::now()) {
            Ok(()) => {
                log::notice("master", format_args!("maintenance {}", if on { "on" } else { "off" }));
                self.node_changed();
                self.answer(Some(client), &ControlReply::ok());
            }
            Err(why) => self.answer(Some(client), &ControlReply::failed(why)),
        }
    }

    /// Whether a graceful stop waits for `ShutdownDelay`; if so, the server drains.
    pub(super) fn drains_first(&mut self) -> bool {
        let delay = self.checked.config.node.shutdown_delay;
        let waits = self.serves() && self.drain.delays_stop(delay, Instant::now());
        if waits {
            self.report_drain();
        }
        waits
    }

    fn report_drain(&mut self) {
        let now = Instant::now();
        let wait = self.drain.wakes().map(|until| until.saturating_duration_since(now)).unwrap_or_default();
        log::notice("master", format_args!("draining for {} s before the stop", wait.as_secs_f32().ceil()));
        let graceful = self.checked.config.timeouts.graceful;
        let until_end = (!graceful.is_zero()).then(|| wait + graceful + FAST + SLACK);
        self.announcer.notify_mut().draining(until_end, now);
        self.node_changed();
    }

    /// Stops the server when it has drained.
    pub(super) fn end_drain(&mut self, now: Instant) {
        if self.drain.is_over(now) && !self.stop.is_under_way() {
            self.stop_now(StopMode::Graceful);
        }
    }

    /// Sends the state of the node to the front.
    pub(super) fn node_changed(&mut self) {
        let status = self.node_status();
        self.send_to_front(ToFront::Node(status), vec![]);
    }

    /// The state of the node, for status and front.
    pub(super) fn node_status(&self) -> NodeStatus {
        let now = Instant::now();
        let since =
            |begun: Instant| u64::try_from(now.saturating_duration_since(begun).as_millis()).unwrap_or(u64::MAX);
        let node = &self.checked.config.node;
        NodeStatus {
            state: self.drain.state(),
            state_ms: since(self.drain.since()),
            serving_ms: self.serving_since.map_or(0, since),
            slow_start_ms: u64::try_from(node.slow_start.as_millis()).unwrap_or(u64::MAX),
            checks: self.checks.status(),
        }
    }
}
