//! Which request is next, and when it is due.

use std::time::{Duration, Instant};

use super::plan::{Pace, Plan};
use super::random::Random;

/// One request that somebody is to make.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// Its number, counted from 0.
    pub number: u64,
    /// When it should begin, whether or not a connection is free then. Nothing in a closed loop: at once.
    pub due: Option<Instant>,
    /// Whether it counts, or belongs to the warm-up.
    pub counts: bool,
}

/// When the next turn begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    AtOnce,
    At(Instant),
    Never,
}

/// Gives out turns, those that have a moment in the order of their moments.
pub struct Schedule {
    pace: Pace,
    random: Random,
    /// When what is due counts.
    counted_from: Instant,
    /// From when on nothing is due any more.
    until: Option<Instant>,
    /// How many that count may still be given out.
    left: Option<u64>,
    number: u64,
    /// When the next is due; when all of it began, where times are counted from there.
    next: Instant,
    /// What a whole number of nanoseconds has left over of a gap; lost, it would add up.
    remainder: f64,
    is_stopped: bool,
}

impl Schedule {
    /// As `plan` says, beginning at `start`.
    pub fn new(plan: &Plan, start: Instant) -> Schedule {
        let counted_from = start + plan.warm_up;
        Schedule {
            pace: plan.pace.clone(),
            random: Random::new(),
            counted_from,
            until: plan.end.after.map(|after| counted_from + after),
            left: plan.end.requests,
            number: 0,
            next: start,
            remainder: 0.0,
            is_stopped: false,
        }
    }

    /// The next turn at `now`; nothing when it is over.
    pub fn turn(&mut self, now: Instant) -> Option<Turn> {
        let due = self.due();
        let begins = if let Due::At(moment) = due { moment } else { now };
        let is_over = |until: Instant| begins >= until || now >= until;
        if self.is_stopped || due == Due::Never || self.left == Some(0) || self.until.is_some_and(is_over) {
            self.is_stopped = true;
            return None;
        }
        let counts = begins >= self.counted_from;
        if let (true, Some(left)) = (counts, &mut self.left) {
            *left -= 1;
        }
        let number = self.number;
        self.advance();
        Some(Turn { number, due: if due == Due::AtOnce { None } else { Some(begins) }, counts })
    }

    /// Gives out no more.
    pub fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// How many were due by `now` and were never given out, since all connections waited for answers.
    pub fn overdue(&mut self, now: Instant) -> u64 {
        let end = self.until.map_or(now, |until| until.min(now));
        let mut count = 0;
        while let Due::At(due) = self.due() {
            if due >= end || self.left.is_some_and(|left| count >= left) {
                break;
            }
            self.advance();
            count += 1;
        }
        count
    }

    fn due(&self) -> Due {
        match &self.pace {
            Pace::Closed => Due::AtOnce,
            Pace::Constant(_) | Pace::Poisson(_) => Due::At(self.next),
            Pace::Times(times) => {
                let time = usize::try_from(self.number).ok().and_then(|number| times.get(number));
                time.map_or(Due::Never, |time| Due::At(self.next + *time))
            }
        }
    }

    fn advance(&mut self) {
        self.number += 1;
        let gap = match self.pace {
            Pace::Closed | Pace::Times(_) => return,
            Pace::Constant(rate) => 1.0 / rate,
            Pace::Poisson(rate) => self.random.gap(rate),
        };
        let nanoseconds = gap * 1e9 + self.remainder;
        self.remainder = nanoseconds.fract();
        self.next += Duration::from_nanos(nanoseconds as u64);
    }
}
