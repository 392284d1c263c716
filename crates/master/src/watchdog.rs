//! Whether the front still answers. One that does not is as good as dead, and worse: nobody would start another.
//!
//! ```text
//!   Ping ──▶ Alive: asked again after half of FrontTimeout
//!      └──── nothing for FrontTimeout: killed; the next one takes the workers over
//! ```
//!
//! What makes a well front look silent does not count: the time that it waits for a processor, that it may take for a
//! configuration, that a debugger holds it. And the time that the master was away itself, because it was stopped or the
//! machine slept: nobody can say what the front did meanwhile. The clock is the monotonic one, which no date changes.

use std::time::{Duration, Instant};

use wire::control::ToFront;

use super::Master;

/// Asks the front whether it still answers.
#[derive(Debug)]
pub struct Watchdog {
    /// The question that it has not answered yet.
    asked: Option<Asked>,
    /// When to ask next, if it has.
    next: Instant,
    /// It builds a configuration, which may take until then.
    busy_until: Option<Instant>,
    /// When the master's loop has turned last.
    turned: Instant,
    /// It was silent, and killed.
    is_over: bool,
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    at: Instant,
    /// For how long it had waited for a processor by then, since its start.
    delayed: Duration,
    /// It was at a configuration by then.
    is_busy: bool,
}

/// What there is to do about a front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Nothing,
    Ask,
    Silent,
}

/// What is known of a front's process.
#[derive(Debug, Clone, Copy, Default)]
struct Process {
    /// See [`Asked::delayed`].
    delayed: Duration,
    is_traced: bool,
}

impl Watchdog {
    /// Of a front that has just been started.
    pub fn new(now: Instant) -> Watchdog {
        Watchdog { asked: None, next: now, busy_until: None, turned: now, is_over: false }
    }

    /// It is about to be sent a configuration, and may be at that until then, if it listens at all. Says whether to ask that
    /// first.
    fn configures(&mut self, until: Instant, now: Instant, process: Process) -> bool {
        self.busy_until = self.busy_until.max(Some(until));
        let asks = self.asked.is_none();
        self.asked.get_or_insert(Asked { at: now, delayed: process.delayed, is_busy: false });
        asks
    }

    /// It has one, or has said why not.
    pub fn has_configured(&mut self) {
        self.busy_until = None;
        let now = self.turned;
        self.asked.iter_mut().filter(|asked| asked.is_busy).for_each(|asked| (asked.at, asked.is_busy) = (now, false));
    }

    /// It has answered.
    pub fn heard(&mut self) {
        self.asked = None;
    }

    /// Why it was ended, if it was.
    pub fn verdict(&self) -> Option<&'static str> {
        self.is_over.then_some("the front was silent for longer than FrontTimeout and is replaced: reload again")
    }

    /// The loop turns. `process` is looked at when it is needed.
    fn turn(&mut self, now: Instant, timeout: Duration, process: impl Fn() -> Process) -> Verdict {
        let was_away = now.duration_since(self.turned) > timeout / 4;
        self.turned = now;
        if timeout.is_zero() || self.is_over {
            return Verdict::Nothing;
        }
        let Some(asked) = &mut self.asked else {
            return if self.next <= now { self.ask(now, timeout, process()) } else { Verdict::Nothing };
        };
        if was_away {
            // Who was not there does not know for how long nobody answered.
            (asked.at, asked.delayed) = (now, process().delayed);
        }
        let is_busy = asked.is_busy && self.busy_until.is_some_and(|until| now < until);
        if is_busy || now < asked.at + timeout {
            return Verdict::Nothing;
        }
        let process = process();
        let delay = process.delayed.saturating_sub(asked.delayed);
        asked.delayed = process.delayed;
        asked.at = if process.is_traced { now } else { asked.at + delay };
        self.is_over = asked.at + timeout <= now;
        if self.is_over { Verdict::Silent } else { Verdict::Nothing }
    }

    fn ask(&mut self, now: Instant, timeout: Duration, process: Process) -> Verdict {
        self.asked = Some(Asked { at: now, delayed: process.delayed, is_busy: self.busy_until.is_some() });
        self.next = now + timeout / 2;
        Verdict::Ask
    }

    /// When [`Self::turn`] has something to do. While an answer is missing it turns often enough to see that it was away.
    fn due(&self, timeout: Duration) -> Instant {
        match self.asked {
            Some(_) => self.turned + timeout / 8,
            None => self.next,
        }
    }
}

impl Master {
    /// Asks the front whether it is there, and ends one that does not answer.
    pub(super) fn watch_front(&mut self, now: Instant) {
        let Some(front) = &self.front else { return };
        let (pid, timeout) = (front.pid.as_raw(), self.checked.config.timeouts.front);
        match self.watchdog.turn(now, timeout, || Process::look(pid)) {
            Verdict::Nothing => {}
            Verdict::Ask => self.tell_front(ToFront::Ping, vec![]),
            Verdict::Silent => {
                self.end_front(&format!("has not answered for {} s (FrontTimeout)", timeout.as_secs_f32()));
            }
        }
    }

    /// The front is about to be sent a configuration, and may take until then.
    pub(super) fn expect_configured(&mut self, until: Instant) {
        let process = self.front.as_ref().map(|front| Process::look(front.pid.as_raw())).unwrap_or_default();
        if self.watchdog.configures(until, Instant::now(), process) {
            self.tell_front(ToFront::Ping, vec![]);
        }
    }

    /// When [`Self::watch_front`] has something to do.
    pub(super) fn watchdog_wakes(&self) -> Option<Instant> {
        let timeout = self.checked.config.timeouts.front;
        let watches = self.front.is_some() && !timeout.is_zero() && !self.watchdog.is_over;
        watches.then(|| self.watchdog.due(timeout))
    }

    /// Ends what could not be told something: it would go on without it.
    pub(super) fn end_unheard(&mut self) {
        if let Some(error) = self.front.as_mut().and_then(|front| front.peer.take_failure()) {
            let why = format!("the front cannot be told what to do: {error}");
            self.end_front(&format!("cannot be told what to do: {error}"));
            self.give_up_young(&why);
        }
        for id in self.molds().map(|(id, _)| id).collect::<Vec<_>>() {
            let Some(error) = self.mold(id).and_then(|mold| mold.peer.take_failure()) else { continue };
            self.end_mold(id, &format!("cannot be told what to do: {error}"));
            self.give_up(
                id.pool.generation,
                anyhow::anyhow!("the mold, which loads the site's Perl, cannot be told what to do: {error}"),
            );
        }
    }
}

impl Process {
    fn look(pid: i32) -> Process {
        Process { delayed: sys::run_delay(pid), is_traced: sys::is_traced(pid) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(8);

    /// A front, its start, and the seconds since then.
    struct Front(Watchdog, Instant, u64);

    impl Front {
        fn new() -> Front {
            let now = Instant::now();
            Front(Watchdog::new(now), now, 0)
        }

        fn jump(&mut self, seconds: u64, process: Process) -> Verdict {
            self.2 = seconds;
            self.0.turn(self.1 + Duration::from_secs(seconds), TIMEOUT, || process)
        }

        /// Turns each second until then.
        fn turn(&mut self, until: u64, process: Process) -> Verdict {
            (self.2 + 1..until).for_each(|second| assert_eq!(self.jump(second, process), Nothing, "after {second} s"));
            self.jump(until, process)
        }

        fn check(&mut self, steps: &[(u64, Verdict)]) {
            for (seconds, expected) in steps {
                assert_eq!(self.turn(*seconds, Process::default()), *expected, "after {seconds} s");
            }
        }
    }

    use Verdict::{Ask, Nothing, Silent};

    #[test]
    fn a_front_that_answers_is_asked_again_after_half_of_the_time() {
        let mut front = Front::new();
        front.check(&[(0, Ask), (1, Nothing)]);
        front.0.heard();
        front.check(&[(2, Nothing), (4, Ask), (5, Nothing)]);
    }

    #[test]
    fn a_silent_one_is_ended_once() {
        Front::new().check(&[(0, Ask), (7, Nothing), (8, Silent), (9, Nothing), (30, Nothing)]);
    }

    #[test]
    fn a_master_that_was_away_waits_anew() {
        let mut front = Front::new();
        front.check(&[(0, Ask), (1, Nothing)]);
        assert_eq!(front.jump(900, Process::default()), Nothing);
        front.check(&[(907, Nothing), (908, Silent)]);
    }

    #[test]
    fn waiting_for_a_processor_is_not_silence() {
        let mut front = Front::new();
        front.check(&[(0, Ask)]);
        let delayed = |seconds| Process { delayed: Duration::from_secs(seconds), is_traced: false };
        assert_eq!(front.turn(8, delayed(6)), Nothing);
        assert_eq!(front.turn(13, delayed(6)), Nothing);
        assert_eq!(front.turn(14, delayed(9)), Nothing);
        assert_eq!(front.turn(17, delayed(9)), Silent);
    }

    #[test]
    fn neither_is_a_debugger() {
        let mut front = Front::new();
        front.check(&[(0, Ask)]);
        assert_eq!(front.turn(8, Process { is_traced: true, ..Process::default() }), Nothing);
        front.check(&[(15, Nothing), (16, Silent)]);
    }

    #[test]
    fn a_configuration_may_take_longer_when_the_front_was_there_before_it() {
        let configures = |front: &mut Front| {
            let (until, now) = (front.1 + Duration::from_secs(60), front.1 + Duration::from_secs(front.2));
            front.0.configures(until, now, Process::default())
        };
        let mut front = Front::new();
        front.check(&[(0, Ask), (1, Nothing)]);
        front.0.heard();
        assert!(configures(&mut front), "asked before it is told");
        front.0.heard();
        front.check(&[(4, Ask), (30, Nothing), (59, Nothing), (60, Silent)]);
        let mut front = Front::new();
        front.check(&[(0, Ask), (1, Nothing)]);
        assert!(!configures(&mut front), "it has not answered the last question");
        front.check(&[(8, Silent)]);
    }
}
