//! Configuration that Perl code adds to its own request: `$r->add_config`, `$r->location_merge`.

use std::rc::Rc;

use apache::AddedLines;

use super::phases::Stop;
use crate::location::{LocationKey, ResolvedLocation};
use crate::site::Site;

const NOT_NOW: &str = "the location of a request can be changed only by its phases";

/// Maximum of changes during a client request; each is merged with all before it.
const MOST: usize = 100;

impl Site {
    /// Records the location in which a phase or handler of the request runs.
    pub(super) fn runs_in(&self, request: u64, location: &Rc<ResolvedLocation>) {
        if apache::api() == apache::Api::Two {
            self.running.replace(Some((request, location.clone())));
        }
    }

    /// The location that replaces `location` after changes by Perl code.
    pub(super) fn renewed(&self, request: u64, location: Rc<ResolvedLocation>) -> Rc<ResolvedLocation> {
        self.renewals.borrow().iter().rev().find(|(of, _)| *of == request).map_or(location, |(_, now)| now.clone())
    }

    /// Adds configuration lines, if they are allowed at this place.
    pub(super) fn add_lines(&self, request: u64, lines: &AddedLines) -> Result<(), String> {
        self.read_added(lines)?;
        self.renew(request, |key| key.added.push(lines.clone()))
    }

    /// Merges the sections of a `<Location>` over all others. Returns whether there is such a location.
    pub(super) fn merge_location(&self, request: u64, path: &str) -> Result<bool, String> {
        let sections = self.config.sections_of_location(apache::requested(request).host, path);
        if sections.is_empty() {
            return Ok(false);
        }
        self.renew(request, |key| key.sections.extend(sections))?;
        Ok(true)
    }

    fn renew(&self, request: u64, change: impl FnOnce(&mut LocationKey)) -> Result<(), String> {
        self.has_room()?;
        let running = self.running.borrow().clone().filter(|(of, _)| *of == request);
        let (_, location) = running.ok_or(NOT_NOW)?;
        let before = self.renewed(request, location);
        let mut key = LocationKey { handler: None, ..before.key.clone() };
        change(&mut key);
        let moved = self.moved(request, Some(&*before), key);
        let now = moved.map_err(|Stop(status)| format!("the request is refused at that location: {status}"))?;
        self.comes_to(request, now)
    }

    /// Records the request's new location.
    pub(super) fn comes_to(&self, request: u64, place: Rc<ResolvedLocation>) -> Result<(), String> {
        self.has_room()?;
        self.renewals.borrow_mut().push((request, place));
        Ok(())
    }

    fn has_room(&self) -> Result<(), String> {
        match self.renewals.borrow().len() < MOST {
            true => Ok(()),
            false => Err(format!("the location of a request cannot be changed more than {MOST} times")),
        }
    }

    /// Forgets changed locations at the end of a client request.
    pub(super) fn forget_renewals(&self) {
        self.running.take();
        self.renewals.borrow_mut().clear();
    }
}
