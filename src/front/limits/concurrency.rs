//! `MaxConcurrentReqs`: how many requests of one line are under way.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::config::access::Throttle;

/// The counts of one generation.
#[derive(Default)]
pub struct Throttles(RefCell<HashMap<u32, Rc<Cell<u32>>>>);

/// A place among those that are under way, given back when this goes.
pub struct Turn {
    /// Of which line.
    pub id: u32,
    count: Rc<Cell<u32>>,
}

impl Throttles {
    /// `None`: as many as may be are under way.
    pub fn enter(&self, throttle: &Throttle) -> Option<Turn> {
        let count = self.0.borrow_mut().entry(throttle.id).or_default().clone();
        if count.get() >= throttle.most {
            return None;
        }
        count.update(|n| n + 1);
        Some(Turn { id: throttle.id, count })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.count.update(|n| n - 1);
    }
}
