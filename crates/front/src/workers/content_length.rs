//! Compares the length of a worker's body with its Content-Length. The front cannot know which is wrong, so the client
//! must be able to detect the error.

use std::fmt::Arguments;
use std::rc::{Rc, Weak};

/// The response that sent the Content-Length to the client.
pub trait Promised {
    /// Logs that the body's length differs from the Content-Length.
    fn is_broken(&self, why: Arguments<'_>);
    /// Closes the connection after a longer body, whose rest the client could take for another response.
    fn end_connection(&self);
}

#[derive(Default)]
pub struct ContentLength {
    came: u64,
    promised: Option<u64>,
    /// The response to report to; dangling when it is gone.
    answer: Option<Weak<dyn Promised>>,
    is_logged: bool,
}

impl ContentLength {
    /// Counts `bytes` more of the body.
    pub fn add(&mut self, bytes: usize) {
        self.came += bytes as u64;
        self.check();
    }

    /// Sets the Content-Length that `answer` has sent to the client.
    pub fn promise(&mut self, promised: u64, answer: Weak<dyn Promised>) {
        self.promised = Some(promised);
        self.answer = Some(answer);
        self.check();
    }

    fn check(&mut self) {
        if self.is_exceeded() && !self.is_logged {
            self.log_error("longer", format_args!("{} bytes arrived so far", self.came));
            self.is_logged = true;
            self.answer().inspect(|answer| answer.end_connection());
        }
    }

    /// Checks at the end of the body that it is not too short.
    pub fn check_end(&mut self) {
        if self.promised.is_some_and(|promised| self.came < promised) && !self.is_logged {
            self.log_error("shorter", format_args!("{} bytes arrived", self.came));
            self.is_logged = true;
        }
    }

    fn log_error(&self, how: &str, came: Arguments<'_>) {
        if let (Some(promised), Some(answer)) = (self.promised, self.answer()) {
            let lengths = format_args!("{promised} bytes were announced, {came}");
            answer.is_broken(format_args!("the body is {how} than its Content-Length: {lengths}"));
        }
    }

    fn answer(&self) -> Option<Rc<dyn Promised>> {
        self.answer.as_ref()?.upgrade()
    }

    /// Whether the body is longer than its Content-Length.
    pub fn is_exceeded(&self) -> bool {
        self.promised.is_some_and(|promised| self.came > promised)
    }

    /// Whether the body is exactly as long as its Content-Length.
    pub fn is_reached(&self) -> bool {
        self.promised == Some(self.came)
    }
}
