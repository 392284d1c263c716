//! The watchdog finds out whether the front still answers. A front that does not is replaced: no other process can
//! serve its clients.
//!
//! ```text
//!   Ping ──▶ Alive: asked again after half of FrontTimeout
//!      └──── no Alive although the master waited for FrontTimeout: killed; the next front takes the workers over
//! ```
//!
//! Only the master's own waiting in `poll` counts. While the master works, is stopped, or the machine sleeps, the
//! answer may lie unread, and the front may have been stopped too. Time also does not count while the front waits for a
//! processor, builds a configuration, or is held by a debugger. All times are of the monotonic clock, which a change of
//! the date does not touch.

use std::time::{Duration, Instant};

/// Checks that one front process still answers.
#[derive(Debug)]
pub struct Watchdog {
    /// The ping that has no answer yet.
    question: Option<Question>,
    /// Time of the next ping, if all pings are answered.
    next: Instant,
    /// Until when the front may be busy with a configuration.
    configuring_until: Option<Instant>,
    /// The front was silent, and killed.
    is_over: bool,
}

#[derive(Debug, Clone, Copy)]
struct Question {
    /// How long the master has waited for the answer.
    waited: Duration,
    /// Total time that the front has waited for a processor since its start, as read last.
    delayed: Duration,
    /// Whether the front was building a configuration when it was pinged.
    while_configuring: bool,
}

/// A wait of the master in `poll`.
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    /// After how long `poll` was to return.
    pub planned: Duration,
    /// The actual delay of the answer.
    pub actual: Duration,
}

/// The verdict on the front, by which the main loop acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchdogVerdict {
    /// The front has answered, or still has time to.
    Nothing,
    /// Send a ping.
    Ask,
    /// The front has not answered for FrontTimeout.
    Silent,
}

/// Facts about the front's process from the kernel.
#[derive(Debug, Clone, Copy, Default)]
pub struct FrontProcess {
    /// Total time that the process has waited for a processor since its start.
    pub delayed: Duration,
    /// Whether a debugger has stopped the process.
    pub is_traced: bool,
}

impl Watchdog {
    /// The watchdog of a front that was just started.
    pub fn new(now: Instant) -> Watchdog {
        Watchdog { question: None, next: now, configuring_until: None, is_over: false }
    }

    /// Notes that the front is about to receive a configuration, which may take until `until`. Returns whether to ping
    /// the front first, to see that it reads.
    pub fn configures(&mut self, until: Instant, process: FrontProcess) -> bool {
        self.configuring_until = self.configuring_until.max(Some(until));
        let asks = self.question.is_none();
        self.question.get_or_insert(Question::new(process, false));
        asks
    }

    /// The front has built or refused a configuration.
    pub fn has_configured(&mut self) {
        self.configuring_until = None;
        if let Some(question) = self.question.as_mut().filter(|question| question.while_configuring) {
            (question.waited, question.while_configuring) = (Duration::ZERO, false);
        }
    }

    /// Notes that the front has answered.
    pub fn answered(&mut self) {
        self.question = None;
    }

    /// Why the front was ended, if the watchdog ended it.
    pub fn verdict(&self) -> Option<&'static str> {
        self.is_over.then_some("the front did not answer for longer than FrontTimeout and is replaced; reload again")
    }

    /// Notes that the master has waited and has read all messages that arrived meanwhile.
    pub fn waited(&mut self, wait: Wait, timeout: Duration) {
        let Some(question) = &mut self.question else { return };
        // A wait that took longer than planned: the master was stopped, or the machine slept, and perhaps the front
        // too.
        let overslept = wait.actual.saturating_sub(wait.planned);
        if overslept > timeout / 4 {
            question.waited = Duration::ZERO;
        } else if overslept <= timeout / 10 {
            question.waited += wait.actual.min(wait.planned);
        }
    }

    /// The decision at `now`. `process` is called only when its result is needed.
    pub fn turn(&mut self, now: Instant, timeout: Duration, process: impl Fn() -> FrontProcess) -> WatchdogVerdict {
        if timeout.is_zero() || self.is_over {
            return WatchdogVerdict::Nothing;
        }
        let Some(question) = &mut self.question else {
            return if self.next <= now { self.ping(now, timeout, process()) } else { WatchdogVerdict::Nothing };
        };
        let configures = question.while_configuring && self.configuring_until.is_some_and(|until| now < until);
        if configures || question.waited < timeout {
            return WatchdogVerdict::Nothing;
        }
        let process = process();
        let delay = process.delayed.saturating_sub(question.delayed);
        question.delayed = process.delayed;
        question.waited = if process.is_traced { Duration::ZERO } else { question.waited.saturating_sub(delay) };
        self.is_over = question.waited >= timeout;
        if self.is_over { WatchdogVerdict::Silent } else { WatchdogVerdict::Nothing }
    }

    fn ping(&mut self, now: Instant, timeout: Duration, process: FrontProcess) -> WatchdogVerdict {
        self.question = Some(Question::new(process, self.configuring_until.is_some()));
        self.next = now + timeout / 2;
        WatchdogVerdict::Ask
    }

    /// When [`Self::turn`] must be called next. Waits are short while an answer is missing, so that a stop of the
    /// process during one is noticed.
    pub fn due(&self, now: Instant, timeout: Duration) -> Option<Instant> {
        let watches = !timeout.is_zero() && !self.is_over;
        watches.then(|| if self.question.is_some() { now + timeout / 8 } else { self.next })
    }
}

impl Question {
    fn new(process: FrontProcess, while_configuring: bool) -> Question {
        Question { waited: Duration::ZERO, delayed: process.delayed, while_configuring }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(8);
    const SECOND: Duration = Duration::from_secs(1);

    /// A front, its start, and the seconds since then.
    struct WatchedFront(Watchdog, Instant, u64);

    impl WatchedFront {
        fn new() -> WatchedFront {
            let now = Instant::now();
            WatchedFront(Watchdog::new(now), now, 0)
        }

        /// A turn after `seconds`, of which the master waited for `wait`.
        fn after(&mut self, seconds: u64, wait: Wait, process: FrontProcess) -> WatchdogVerdict {
            self.2 = seconds;
            self.0.waited(wait, TIMEOUT);
            self.0.turn(self.1 + Duration::from_secs(seconds), TIMEOUT, || process)
        }

        /// Waits and turns each second until `until`.
        fn turn(&mut self, until: u64, process: FrontProcess) -> WatchdogVerdict {
            let wait = Wait { planned: SECOND, actual: SECOND };
            while self.2 + 1 < until {
                assert_eq!(self.after(self.2 + 1, wait, process), Nothing, "after {} s", self.2);
            }
            let wait = if until == 0 { Wait { planned: Duration::ZERO, actual: Duration::ZERO } } else { wait };
            self.after(until, wait, process)
        }

        fn check(&mut self, steps: &[(u64, WatchdogVerdict)]) {
            for (seconds, expected) in steps {
                assert_eq!(self.turn(*seconds, FrontProcess::default()), *expected, "after {seconds} s");
            }
        }
    }

    use WatchdogVerdict::{Ask, Nothing, Silent};

    #[test]
    fn a_front_that_answers_gets_the_next_ping_after_half_of_the_timeout() {
        let mut front = WatchedFront::new();
        front.check(&[(0, Ask), (1, Nothing)]);
        front.0.answered();
        front.check(&[(2, Nothing), (4, Ask), (5, Nothing)]);
    }

    #[test]
    fn a_silent_front_is_ended_once() {
        WatchedFront::new().check(&[(0, Ask), (7, Nothing), (8, Silent), (9, Nothing), (30, Nothing)]);
    }

    #[test]
    fn a_master_that_was_stopped_waits_anew() {
        let mut front = WatchedFront::new();
        front.check(&[(0, Ask), (7, Nothing)]);
        let stopped = Wait { planned: SECOND, actual: Duration::from_secs(893) };
        assert_eq!(front.after(900, stopped, FrontProcess::default()), Nothing);
        front.check(&[(907, Nothing), (908, Silent)]);
    }

    #[test]
    fn time_in_which_the_master_works_does_not_count() {
        let mut front = WatchedFront::new();
        front.check(&[(0, Ask)]);
        let tenth = Wait { planned: SECOND / 10, actual: SECOND / 10 };
        for second in 1..80 {
            assert_eq!(front.after(second, tenth, FrontProcess::default()), Nothing, "after {second} s");
        }
        assert_eq!(front.after(80, tenth, FrontProcess::default()), Silent);
    }

    #[test]
    fn short_stops_of_the_master_do_not_add_up() {
        let mut front = WatchedFront::new();
        front.check(&[(0, Ask)]);
        let stopped = Wait { planned: SECOND / 10, actual: SECOND };
        for second in 1..80 {
            assert_eq!(front.after(second, stopped, FrontProcess::default()), Nothing, "after {second} s");
        }
    }

    #[test]
    fn time_in_which_the_front_waits_for_a_processor_does_not_count() {
        let mut front = WatchedFront::new();
        front.check(&[(0, Ask)]);
        let delayed = |seconds| FrontProcess { delayed: Duration::from_secs(seconds), is_traced: false };
        assert_eq!(front.turn(8, delayed(6)), Nothing);
        assert_eq!(front.turn(13, delayed(6)), Nothing);
        assert_eq!(front.turn(14, delayed(9)), Nothing);
        assert_eq!(front.turn(17, delayed(9)), Silent);
    }

    #[test]
    fn time_in_a_debugger_does_not_count() {
        let mut front = WatchedFront::new();
        front.check(&[(0, Ask)]);
        assert_eq!(front.turn(8, FrontProcess { is_traced: true, ..FrontProcess::default() }), Nothing);
        front.check(&[(15, Nothing), (16, Silent)]);
    }

    #[test]
    fn a_configuration_may_take_longer_when_the_front_was_there_before_it() {
        let configures = |front: &mut WatchedFront| {
            let until = front.1 + Duration::from_secs(60);
            front.0.configures(until, FrontProcess::default())
        };
        let mut front = WatchedFront::new();
        front.check(&[(0, Ask), (1, Nothing)]);
        front.0.answered();
        assert!(configures(&mut front), "asked before it gets the configuration");
        front.0.answered();
        front.check(&[(4, Ask), (30, Nothing), (59, Nothing), (60, Silent)]);
        let mut front = WatchedFront::new();
        front.check(&[(0, Ask), (1, Nothing)]);
        assert!(!configures(&mut front), "the last question has no answer yet");
        front.check(&[(8, Silent)]);
    }
}
