//! Decides when the monitor is started, sent the status, and killed. A state machine without I/O and without a clock.

use std::time::{Duration, Instant};

use crate::backoff::Backoff;

/// A monitor that has not read for this long hangs.
const PATIENCE: Duration = Duration::from_secs(10);

/// An action for the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MonitorAction {
    Start,
    /// Request the front's status for the monitor.
    AskFront,
    /// Send the status without the front's part.
    SendWithoutFront,
    /// Kill the monitor: it does not read its messages.
    Kill,
}

/// The monitor's state, once one is wanted.
#[derive(Debug)]
pub struct MonitorSchedule {
    is_running: bool,
    backoff: Backoff,
    /// When the next status must be sent.
    due: Instant,
    /// Whether a status request to the front is unanswered.
    is_status_due: bool,
    /// When the oldest unread message was sent to the monitor.
    behind: Option<Instant>,
}

impl MonitorSchedule {
    /// The state before the first start of a monitor.
    pub fn new(now: Instant) -> MonitorSchedule {
        MonitorSchedule { is_running: false, backoff: Backoff::default(), due: now, is_status_due: false, behind: None }
    }

    /// The monitor was started. `into_second` is how much of this second has passed.
    pub fn started(&mut self, into_second: Duration, now: Instant) {
        (self.is_running, self.is_status_due, self.behind) = (true, false, None);
        self.due = next_second(into_second, now);
    }

    /// The monitor could not be started.
    pub fn not_started(&mut self, now: Instant) {
        self.backoff.failed(now);
    }

    /// The monitor has ended. Returns how long the next one waits.
    pub fn ended(&mut self, now: Instant) -> Duration {
        self.is_running = false;
        self.backoff.failed(now)
    }

    /// The actions that are due. A front that has not answered since the last time hangs: that is worth to be seen,
    /// too.
    pub fn tick(&mut self, has_front: bool, into_second: Duration, now: Instant) -> Vec<MonitorAction> {
        if self.wakes() > now {
            return Vec::new();
        }
        if !self.is_running {
            return vec![MonitorAction::Start];
        }
        let hangs = std::mem::replace(&mut self.is_status_due, has_front);
        self.due = next_second(into_second, now);
        let next = if has_front { MonitorAction::AskFront } else { MonitorAction::SendWithoutFront };
        hangs.then_some(MonitorAction::SendWithoutFront).into_iter().chain([next]).collect()
    }

    /// The front has reported its status. Returns whether the monitor waits for it.
    pub fn take_request(&mut self) -> bool {
        std::mem::take(&mut self.is_status_due)
    }

    /// Decides whether a status may be sent. `has_unsent`: the monitor has not read the previous one. The error is the
    /// action to take instead.
    pub fn send(&mut self, has_unsent: bool, now: Instant) -> Result<(), Option<MonitorAction>> {
        if !has_unsent {
            self.behind = None;
            return Ok(());
        }
        let since = *self.behind.get_or_insert(now);
        Err((now.saturating_duration_since(since) >= PATIENCE).then_some(MonitorAction::Kill))
    }

    /// When [`Self::tick`] must be called next.
    pub fn wakes(&self) -> Instant {
        if self.is_running { self.due } else { self.backoff.until().unwrap_or(self.due) }
    }
}

/// The middle of the next second: a little early or late, it is the same second.
fn next_second(into_second: Duration, now: Instant) -> Instant {
    now + (Duration::from_millis(1500)).saturating_sub(into_second).max(Duration::from_millis(1))
}

#[cfg(test)]
mod tests {
    use super::MonitorAction::{AskFront, Kill, SendWithoutFront, Start};
    use super::*;

    const HALF: Duration = Duration::from_millis(500);
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_front_status_is_requested_in_the_middle_of_each_second() {
        let now = Instant::now();
        let mut schedule = MonitorSchedule::new(now);
        assert_eq!(schedule.tick(true, Duration::from_millis(900), now), [Start]);
        schedule.started(Duration::from_millis(900), now);
        let middle = now + Duration::from_millis(600);
        assert_eq!((schedule.tick(true, HALF, now), schedule.wakes()), (vec![], middle));
        assert_eq!(schedule.tick(true, HALF, middle), [AskFront]);
        assert!(schedule.take_request() && !schedule.take_request());
        assert_eq!(schedule.tick(true, HALF, middle + SECOND), [AskFront]);
        assert_eq!(schedule.tick(true, HALF, middle + SECOND * 2), [SendWithoutFront, AskFront], "the front hangs");
        assert_eq!(schedule.tick(false, HALF, middle + SECOND * 3), [SendWithoutFront, SendWithoutFront]);
        assert_eq!(schedule.tick(false, HALF, middle + SECOND * 4), [SendWithoutFront]);
    }

    #[test]
    fn a_monitor_that_does_not_read_is_killed_after_a_while() {
        let now = Instant::now();
        let mut schedule = MonitorSchedule::new(now);
        schedule.started(HALF, now);
        assert_eq!(schedule.send(true, now), Err(None));
        assert_eq!(schedule.send(true, now + PATIENCE / 2), Err(None));
        assert_eq!(schedule.send(false, now + PATIENCE / 2), Ok(()));
        assert_eq!(schedule.send(true, now + PATIENCE), Err(None), "it has read meanwhile");
        assert_eq!(schedule.send(true, now + PATIENCE * 2), Err(Some(Kill)));
    }

    #[test]
    fn a_monitor_that_ends_or_cannot_be_started_is_tried_later() {
        let now = Instant::now();
        let mut schedule = MonitorSchedule::new(now);
        schedule.not_started(now);
        assert_eq!(schedule.tick(true, HALF, now), []);
        let later = schedule.wakes();
        assert!(later > now);
        assert_eq!(schedule.tick(true, HALF, later), [Start]);
        schedule.started(HALF, later);
        let wait = schedule.ended(later);
        assert_eq!((schedule.wakes(), schedule.tick(true, HALF, later + wait)), (later + wait, vec![Start]));
    }
}
