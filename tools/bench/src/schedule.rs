//! The next request, and when it is due.

use std::time::{Duration, Instant};

use super::plan::{RequestPace, RunPlan};
use super::random::Random;
use super::times::nanoseconds;

#[derive(Debug, Clone, Copy)]
pub struct ScheduledRequest {
    /// Number of the turn, from 0.
    pub number: u64,
    /// When the request is due, whether or not a connection is free; `None`: immediately (closed loop).
    pub due: Option<Instant>,
    /// Whether the request is counted; those of the warm-up are not.
    pub counts: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextTurn {
    AtOnce,
    At(Instant),
    Never,
}

/// Source of turns, in the order of their due times.
pub struct Schedule {
    pace: RequestPace,
    random: Random,
    /// Requests due from this moment on are counted.
    counted_from: Instant,
    /// No turn is due after this moment.
    until: Option<Instant>,
    /// Number of counted turns that may still be handed out.
    left: Option<u64>,
    number: u64,
    /// When the next request is due; for times of a log, when the run started.
    next: Instant,
    /// The fraction of a nanosecond that rounding has cut off the gaps; otherwise errors would accumulate.
    remainder: f64,
    is_stopped: bool,
}

impl Schedule {
    /// The schedule of `plan` from `start` on.
    pub fn new(plan: &RunPlan, start: Instant) -> Schedule {
        let counted_from = start + plan.warm_up;
        Schedule {
            pace: plan.pace.clone(),
            random: Random::new(),
            counted_from,
            until: plan.end.after.map(|after| counted_from + after),
            left: plan.end.requests,
            number: 0,
            next: start + plan.phase,
            remainder: 0.0,
            is_stopped: false,
        }
    }

    /// The next turn; `None` when the run is over.
    pub fn turn(&mut self, now: Instant) -> Option<ScheduledRequest> {
        let due = self.due();
        let begins = if let NextTurn::At(moment) = due { moment } else { now };
        let is_over = |until: Instant| begins >= until || now >= until;
        if self.is_stopped || due == NextTurn::Never || self.left == Some(0) || self.until.is_some_and(is_over) {
            self.is_stopped = true;
            return None;
        }
        let counts = begins >= self.counted_from;
        if let (true, Some(left)) = (counts, &mut self.left) {
            *left -= 1;
        }
        let number = self.number;
        self.advance();
        Some(ScheduledRequest { number, due: if due == NextTurn::AtOnce { None } else { Some(begins) }, counts })
    }

    /// Ends the schedule: no further turns.
    pub fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Number of turns that were due by `now` but not handed out, because all connections were busy; an
    /// estimate with random gaps.
    pub fn overdue(&self, now: Instant) -> u64 {
        let end = self.until.map_or(now, |until| until.min(now));
        let count = match &self.pace {
            RequestPace::Closed => 0,
            RequestPace::Constant(rate) | RequestPace::Poisson(rate) => {
                let left = nanoseconds(end.saturating_duration_since(self.next));
                let gap = 1e9 / rate;
                if left == 0 { 0 } else { ((left - 1) as f64 / gap) as u64 + 1 }
            }
            RequestPace::Times(times) => {
                let given_out = usize::try_from(self.number).unwrap_or(usize::MAX);
                times.iter().skip(given_out).take_while(|time| self.next + **time < end).count() as u64
            }
        };
        self.left.map_or(count, |left| count.min(left))
    }

    fn due(&self) -> NextTurn {
        match &self.pace {
            RequestPace::Closed => NextTurn::AtOnce,
            RequestPace::Constant(_) | RequestPace::Poisson(_) => NextTurn::At(self.next),
            RequestPace::Times(times) => {
                let time = usize::try_from(self.number).ok().and_then(|number| times.get(number));
                time.map_or(NextTurn::Never, |time| NextTurn::At(self.next + *time))
            }
        }
    }

    fn advance(&mut self) {
        self.number += 1;
        let gap = match self.pace {
            RequestPace::Closed | RequestPace::Times(_) => return,
            RequestPace::Constant(rate) => 1.0 / rate,
            RequestPace::Poisson(rate) => self.random.gap(rate),
        };
        let nanoseconds = gap * 1e9 + self.remainder;
        self.remainder = nanoseconds.fract();
        self.next += Duration::from_nanos(nanoseconds as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::RunLimits;
    use super::*;

    fn schedule(pace: RequestPace, end: RunLimits, warm_up: Duration, start: Instant) -> Schedule {
        let (transport, expected) = Default::default();
        let (requests, order) = ([].into(), [].into());
        let timeout = Duration::from_secs(1);
        let (notes, progress, connections) = (Vec::new(), false, 1);
        let (first, stride, streams, threads, cuts) = (0, 1, 1, 1, false);
        let phase = Duration::ZERO;
        let plan = RunPlan {
            requests,
            order,
            first,
            stride,
            connections,
            streams,
            threads,
            pace,
            phase,
            end,
            cuts,
            warm_up,
            transport,
            expected,
            timeout,
            notes,
            progress,
        };
        Schedule::new(&plan, start)
    }

    /// The due time of each turn in milliseconds, and whether it is counted.
    fn turns(schedule: &mut Schedule, start: Instant) -> Vec<(u128, bool)> {
        let turns = std::iter::from_fn(|| schedule.turn(start));
        turns.map(|turn| ((turn.due.expect("an open loop") - start).as_millis(), turn.counts)).collect()
    }

    #[test]
    fn turns_are_due_at_even_distances_until_it_is_over() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let end = RunLimits { requests: None, after: Some(ms(30)) };
        let due = turns(&mut schedule(RequestPace::Constant(100.0), end, ms(20), start), start);
        assert_eq!(due, [(0, false), (10, false), (20, true), (30, true), (40, true)]);
        let end = RunLimits { requests: Some(2), after: None };
        assert_eq!(turns(&mut schedule(RequestPace::Constant(100.0), end, ms(10), start), start).len(), 3);
        let times = RequestPace::Times([0, 5, 5, 70].map(ms).into());
        let due = turns(&mut schedule(times, RunLimits::default(), ms(5), start), start);
        assert_eq!(due, [(0, false), (5, true), (5, true), (70, true)]);
    }

    #[test]
    fn a_rate_is_exact_although_gaps_are_rounded_to_nanoseconds() {
        let start = Instant::now();
        let mut schedule = schedule(RequestPace::Constant(3e6), RunLimits::default(), Duration::ZERO, start);
        let last = (0..3_000_001).filter_map(|_| schedule.turn(start)).last().and_then(|turn| turn.due);
        let error = last.expect("a turn").duration_since(start).abs_diff(Duration::from_secs(1));
        assert!(error < Duration::from_micros(1), "{error:?}");
    }

    #[test]
    fn overdue_turns_are_counted() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let end = RunLimits { requests: None, after: Some(ms(500)) };
        let mut schedule = schedule(RequestPace::Constant(100.0), end, Duration::ZERO, start);
        let given = (0..7).filter_map(|_| schedule.turn(start)).count() as u64;
        assert_eq!(schedule.overdue(start + ms(900)), 50 - given);
        assert_eq!(schedule.overdue(start + ms(101)), 11 - given);
        assert_eq!(schedule.overdue(start), 0);
    }
}
