//! Restores the state of the process that a request has changed.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use libperl::Interpreter;

/// Limit of logged paths: clients choose paths, so the set must be bounded.
const MAX_LOGGED: usize = 500;

/// Restores the state, and logs each kind of change once per path.
pub struct Restoration {
    perl: Rc<Interpreter>,
    /// Paths and changes that were logged.
    logged: RefCell<HashSet<(Vec<u8>, u32)>>,
}

impl Restoration {
    pub(super) fn new(perl: Rc<Interpreter>) -> Restoration {
        Restoration { perl, logged: RefCell::default() }
    }

    /// Restores what the request for `path` changed.
    pub fn restore(&self, path: &[u8]) {
        let left = self.perl.restore_state();
        let mut logged = self.logged.borrow_mut();
        if left.is_ordinary() || logged.len() >= MAX_LOGGED || !logged.insert((path.to_vec(), left.0)) {
            return;
        }
        let names = left.names().collect::<Vec<_>>().join(", ");
        apache::log_line(apache::Level::Warn, &format!("changed and restored: {names}"));
    }
}
