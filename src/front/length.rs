//! How long a worker's body is, held against what its head has said. Nobody can know which of the two is wrong, so the
//! client must see that something is.

use std::fmt::Arguments;
use std::rc::{Rc, Weak};

use super::request::context::Record;

/// See the module's text.
#[derive(Default)]
pub struct Length {
    came: u64,
    promised: Option<u64>,
    /// Whose answer it is.
    record: Weak<Record>,
    told: bool,
}

impl Length {
    /// `bytes` more are here.
    pub fn add(&mut self, bytes: usize) {
        self.came += bytes as u64;
        self.check();
    }

    /// The head of `record`'s answer promises so many.
    pub fn promise(&mut self, promised: u64, record: &Rc<Record>) {
        self.promised = Some(promised);
        self.record = Rc::downgrade(record);
        self.check();
    }

    fn check(&mut self) {
        if self.is_exceeded() && !self.told {
            self.complain("longer", format_args!("{} have come so far", self.came));
            self.told = true;
            self.record.upgrade().inspect(|record| record.end_connection());
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
        let (Some(promised), Some(record)) = (self.promised, self.record.upgrade()) else { return };
        if let Some(route) = &*record.route.borrow() {
            let lengths = format_args!("{promised} bytes were promised, {came}");
            record.complain(route, &format_args!("the body is {how} than its Content-Length: {lengths}"));
        }
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
