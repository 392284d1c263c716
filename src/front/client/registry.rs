//! The register of open connections: how many there are, which are idle, and how to wake them all when the front stops.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use super::Client;

/// After a search that found no idle connection there is none for so long: in a flood each new connection would search all.
const BUSY_FOR: Duration = Duration::from_millis(50);

#[derive(Default)]
pub struct Connections {
    next: Cell<u64>,
    /// When the last search found no idle connection.
    all_busy_at: Cell<Option<Instant>>,
    entries: RefCell<HashMap<u64, Weak<Client>>>,
}

/// A connection's entry; it is struck out when this is dropped.
pub struct Registration<'a> {
    register: &'a Connections,
    number: u64,
}

impl Connections {
    /// Enters a connection.
    pub fn enter(&self, client: &Rc<Client>) -> Registration<'_> {
        let number = self.next.replace(self.next.get() + 1);
        self.entries.borrow_mut().insert(number, Rc::downgrade(client));
        Registration { register: self, number }
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        self.entries.borrow().len()
    }

    /// Clients that wait for a further request: kept alive.
    pub fn kept(&self) -> Vec<Rc<Client>> {
        let entries = self.entries.borrow();
        entries.values().filter_map(Weak::upgrade).filter(|client| client.is_kept()).collect()
    }

    /// Closes up to `most` connections that are kept alive, those first that were idle longest. Returns how many.
    pub fn evict(&self, most: usize) -> usize {
        if self.all_busy_at.get().is_some_and(|at| at.elapsed() < BUSY_FOR) {
            return 0;
        }
        let mut idle: Vec<_> = self.kept().into_iter().filter(|client| !client.is_evicted()).collect();
        idle.sort_unstable_by_key(|client| client.since());
        idle.truncate(most);
        idle.iter().for_each(|client| client.evict());
        if idle.is_empty() {
            self.all_busy_at.set(Some(Instant::now()));
        }
        idle.len()
    }

    /// Lets every connection look again at what it should do.
    pub fn wake_all(&self) {
        self.entries.borrow().values().filter_map(Weak::upgrade).for_each(|client| client.wake());
    }
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        self.register.entries.borrow_mut().remove(&self.number);
    }
}
