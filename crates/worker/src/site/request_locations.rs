//! The locations of the client's request and of its subrequests, which Perl code may change while they run.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::location::ResolvedLocation;

/// Maximum number of changes during a client request; each is merged with all before it.
const MAX_CHANGES: usize = 100;
/// Maximum number of nested phases that Perl code runs itself, since each needs stack space.
const MAX_DEPTH: u8 = 10;

/// The locations, by record number.
#[derive(Default)]
pub struct RequestLocations {
    /// The request whose phase runs.
    running: RefCell<Option<(u64, Rc<ResolvedLocation>)>>,
    /// Locations that Perl code changed, latest last.
    renewals: RefCell<Vec<(u64, Rc<ResolvedLocation>)>>,
    subrequests: RefCell<Vec<(u64, Rc<ResolvedLocation>)>>,
    /// Nesting depth of phases that Perl code runs itself.
    hooks_under_way: Cell<u8>,
}

impl RequestLocations {
    /// Records the location in which a phase or handler of the request runs.
    pub fn runs_in(&self, request: u64, location: &Rc<ResolvedLocation>) {
        if apache::api() == apache::Api::Two {
            self.running.replace(Some((request, location.clone())));
        }
    }

    /// The location of the request, if a phase or handler of it runs.
    pub fn running_location(&self, request: u64) -> Option<Rc<ResolvedLocation>> {
        let (_, location) = self.running.borrow().clone().filter(|(of, _)| *of == request)?;
        Some(self.renewed(request, location))
    }

    /// The location that replaces `location` after changes by Perl code.
    pub fn renewed(&self, request: u64, location: Rc<ResolvedLocation>) -> Rc<ResolvedLocation> {
        self.renewals.borrow().iter().rev().find(|(of, _)| *of == request).map_or(location, |(_, now)| now.clone())
    }

    /// Records the request's new location.
    pub fn renew(&self, request: u64, location: Rc<ResolvedLocation>) -> Result<(), String> {
        self.has_room()?;
        self.renewals.borrow_mut().push((request, location));
        Ok(())
    }

    /// Whether a location may still change during this client request.
    pub fn has_room(&self) -> Result<(), String> {
        match self.renewals.borrow().len() < MAX_CHANGES {
            true => Ok(()),
            false => Err(format!("the location of a request cannot be changed more than {MAX_CHANGES} times")),
        }
    }

    /// Records the location of a subrequest whose phases have run.
    pub fn add_subrequest(&self, sub: u64, location: Rc<ResolvedLocation>) {
        self.subrequests.borrow_mut().push((sub, location));
    }

    pub fn subrequest(&self, sub: u64) -> Option<Rc<ResolvedLocation>> {
        self.subrequests.borrow().iter().find(|(number, _)| *number == sub).map(|(_, location)| location.clone())
    }

    /// Runs a phase for Perl code; `None` if too many run in one another.
    pub fn nested<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        if self.hooks_under_way.get() == MAX_DEPTH {
            return None;
        }
        self.hooks_under_way.update(|depth| depth + 1);
        let result = run();
        self.hooks_under_way.update(|depth| depth - 1);
        Some(result)
    }

    /// Forgets all locations at the end of a client request.
    pub fn forget(&self) {
        self.running.take();
        self.renewals.borrow_mut().clear();
        self.subrequests.borrow_mut().clear();
    }
}
