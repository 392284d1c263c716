//! Supervision of the front: when it is started, pinged and replaced. A state machine without I/O and without a clock.

mod watchdog;

use std::time::{Duration, Instant};

use super::backoff::Backoff;

pub use watchdog::{FrontProcess, Wait};
use watchdog::{Watchdog, WatchdogVerdict};

/// Maximum wait between two starts of the front. No client is served meanwhile, so it is short.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// An action for the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontAction {
    Start,
    /// Send a `Ping` to the front.
    Ask,
    /// Kill the front: it has not answered for FrontTimeout.
    Kill,
}

/// State of the front's supervision.
#[derive(Debug)]
pub struct Supervision {
    backoff: Backoff,
    /// The watchdog of the running front; `None`: no front runs.
    watchdog: Option<Watchdog>,
    /// Why the watchdog had the last front killed.
    verdict: Option<&'static str>,
}

impl Default for Supervision {
    fn default() -> Self {
        Supervision { backoff: Backoff::up_to(MAX_WAIT), watchdog: None, verdict: None }
    }
}

impl Supervision {
    pub fn started(&mut self, now: Instant) {
        (self.watchdog, self.verdict) = (Some(Watchdog::new(now)), None);
    }

    /// A front could not be started.
    pub fn not_started(&mut self, now: Instant) {
        self.backoff.failed(now);
    }

    /// The front has ended. Returns how long the next one waits.
    pub fn ended(&mut self, now: Instant) -> Duration {
        self.verdict = self.watchdog.take().and_then(|watchdog| watchdog.verdict());
        self.backoff.failed(now)
    }

    /// Why the front that ended was killed, if the watchdog decided so.
    pub fn verdict(&self) -> Option<&'static str> {
        self.verdict
    }

    pub fn answered(&mut self) {
        self.watchdog.iter_mut().for_each(Watchdog::answered);
    }

    /// Notes that the front is about to receive a configuration, which may take until `until`. Returns whether to ping
    /// the front first.
    pub fn configures(&mut self, until: Instant, process: FrontProcess) -> Option<FrontAction> {
        let asks = self.watchdog.as_mut().is_some_and(|watchdog| watchdog.configures(until, process));
        asks.then_some(FrontAction::Ask)
    }

    /// The front has built or refused a configuration.
    pub fn has_configured(&mut self) {
        self.watchdog.iter_mut().for_each(Watchdog::has_configured);
    }

    /// Notes that the master has waited and has read all messages that arrived meanwhile. `timeout` is FrontTimeout; 0
    /// turns the watchdog off.
    pub fn waited(&mut self, wait: Wait, timeout: Duration) {
        self.watchdog.iter_mut().for_each(|watchdog| watchdog.waited(wait, timeout));
    }

    /// The action that is due. `wanted` is whether there is to be a front; `process` is called only when its result is
    /// needed.
    pub fn tick(
        &mut self,
        wanted: bool,
        timeout: Duration,
        process: impl Fn() -> FrontProcess,
        now: Instant,
    ) -> Option<FrontAction> {
        match &mut self.watchdog {
            None => (wanted && self.backoff.ends(now).is_none()).then_some(FrontAction::Start),
            Some(watchdog) => match watchdog.turn(now, timeout, process) {
                WatchdogVerdict::Nothing => None,
                WatchdogVerdict::Ask => Some(FrontAction::Ask),
                WatchdogVerdict::Silent => Some(FrontAction::Kill),
            },
        }
    }

    /// When [`Self::tick`] must be called next.
    pub fn wakes(&self, wanted: bool, timeout: Duration, now: Instant) -> Option<Instant> {
        match &self.watchdog {
            None => wanted.then(|| self.backoff.ends(now).unwrap_or(now)),
            Some(watchdog) => watchdog.due(now, timeout),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(8);

    fn tick(front: &mut Supervision, now: Instant) -> Option<FrontAction> {
        front.tick(true, TIMEOUT, FrontProcess::default, now)
    }

    #[test]
    fn a_front_that_ends_is_started_again_after_a_wait() {
        let (mut front, now) = (Supervision::default(), Instant::now());
        assert_eq!(tick(&mut front, now), Some(FrontAction::Start));
        front.started(now);
        assert_eq!(tick(&mut front, now), Some(FrontAction::Ask));
        let wait = front.ended(now);
        assert_eq!((tick(&mut front, now), front.wakes(true, TIMEOUT, now)), (None, Some(now + wait)));
        assert_eq!(front.verdict(), None, "it ended by itself");
        assert_eq!(tick(&mut front, now + wait), Some(FrontAction::Start));
        front.not_started(now + wait);
        assert_eq!(tick(&mut front, now + wait), None);
        assert_eq!(front.wakes(false, TIMEOUT, now), None, "a server that stops needs none");
    }

    #[test]
    fn a_silent_front_is_killed_and_the_reason_is_known_until_the_next_one() {
        let (mut front, mut now) = (Supervision::default(), Instant::now());
        front.started(now);
        assert_eq!(tick(&mut front, now), Some(FrontAction::Ask));
        for _ in 0..8 {
            let step = TIMEOUT / 8;
            now += step;
            front.waited(Wait { planned: step, actual: step }, TIMEOUT);
        }
        assert_eq!(tick(&mut front, now), Some(FrontAction::Kill));
        assert_eq!(tick(&mut front, now), None, "once");
        assert_eq!(front.wakes(true, TIMEOUT, now), None);
        front.ended(now);
        assert!(front.verdict().is_some_and(|why| why.contains("FrontTimeout")));
        front.started(now);
        assert_eq!(front.verdict(), None);
    }
}
