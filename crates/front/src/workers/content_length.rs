//! How long a worker's body is, held against what its head has said. Nobody can know which of the two is wrong, so the
//! client must see that something is.

use std::fmt::Arguments;
use std::rc::{Rc, Weak};

/// Whoever has passed the promise on.
pub trait Promised {
    /// It is not kept; for the log.
    fn is_broken(&self, why: Arguments<'_>);
    /// More comes than the client was told: it could take the rest for another answer.
    fn end_connection(&self);
}

#[derive(Default)]
pub struct ContentLength {
    came: u64,
    promised: Option<u64>,
    /// Whose answer it is.
    answer: Option<Weak<dyn Promised>>,
    told: bool,
}

impl ContentLength {
    /// `bytes` more are here.
    pub fn add(&mut self, bytes: usize) {
        self.came += bytes as u64;
        self.check();
    }

    /// The head of that answer promises so many.
    pub fn promise(&mut self, promised: u64, answer: Weak<dyn Promised>) {
        self.promised = Some(promised);
        self.answer = Some(answer);
        self.check();
    }

    fn check(&mut self) {
        if self.is_exceeded() && !self.told {
            self.complain("longer", format_args!("{} have come so far", self.came));
            self.told = true;
            self.answer().inspect(|answer| answer.end_connection());
        }
    }

    /// Nothing more will come.
    pub fn check_end(&mut self) {
        if self.promised.is_some_and(|promised| self.came < promised) && !self.told {
            self.complain("shorter", format_args!("{} have come", self.came));
            self.told = true;
        }
    }

    fn complain(&self, how: &str, came: Arguments<'_>) {
        if let (Some(promised), Some(answer)) = (self.promised, self.answer()) {
            let lengths = format_args!("{promised} bytes were promised, {came}");
            answer.is_broken(format_args!("the body is {how} than its Content-Length: {lengths}"));
        }
    }

    fn answer(&self) -> Option<Rc<dyn Promised>> {
        self.answer.as_ref()?.upgrade()
    }

    /// Whether more has come than was promised.
    pub fn is_exceeded(&self) -> bool {
        self.promised.is_some_and(|promised| self.came > promised)
    }

    /// Whether what was promised has come, and nothing else.
    pub fn is_reached(&self) -> bool {
        self.promised == Some(self.came)
    }
}
