//! The register of open connections: how many there are, and how to wake them all when the front stops.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::task::{Context, Waker};

/// See the module's text.
#[derive(Default)]
pub struct Connections {
    next: Cell<u64>,
    wakers: RefCell<HashMap<u64, Option<Waker>>>,
}

/// A connection's entry; it is struck out when this is dropped.
pub struct Guest<'a> {
    register: &'a Connections,
    number: u64,
    known: Cell<bool>,
}

impl Connections {
    /// Enters a connection.
    pub fn enter(&self) -> Guest<'_> {
        let number = self.next.replace(self.next.get() + 1);
        self.wakers.borrow_mut().insert(number, None);
        Guest { register: self, number, known: Cell::new(false) }
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        self.wakers.borrow().len()
    }

    /// Lets every connection look again at what it should do.
    pub fn wake_all(&self) {
        self.wakers.borrow().values().flatten().for_each(Waker::wake_by_ref);
    }
}

impl Guest<'_> {
    /// Notes how to wake it; a task's waker stays the same, so once is enough.
    pub fn remember(&self, cx: &Context<'_>) {
        if !self.known.replace(true) {
            self.register.wakers.borrow_mut().insert(self.number, Some(cx.waker().clone()));
        }
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        self.register.wakers.borrow_mut().remove(&self.number);
    }
}
