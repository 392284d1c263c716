//! The place of a request that its own Perl code changes: `$r->add_config`, `$r->location_merge`.

use std::rc::Rc;

use apache::AddedLines;

use super::phases::Stop;
use crate::location::{LocationKey, ResolvedLocation};
use crate::site::Site;

const NOT_NOW: &str = "the place of a request can be changed from its phases only, while they run";

/// Each is merged with all before it.
const MOST: usize = 100;

impl Site {
    /// A phase of the request, or what answers it, runs in that place.
    pub(super) fn runs_in(&self, request: u64, location: &Rc<ResolvedLocation>) {
        if apache::api() == apache::Api::Two {
            self.running.replace(Some((request, location.clone())));
        }
    }

    /// The place that Perl code has made of `location` for the rest of the request.
    pub(super) fn renewed(&self, request: u64, location: Rc<ResolvedLocation>) -> Rc<ResolvedLocation> {
        self.renewals.borrow().iter().rev().find(|(of, _)| *of == request).map_or(location, |(_, now)| now.clone())
    }

    /// Lines are added, if they may stand there.
    pub(super) fn add_lines(&self, request: u64, lines: &AddedLines) -> Result<(), String> {
        self.read_added(lines)?;
        self.renew(request, |key| key.added.push(lines.clone()))
    }

    /// The sections of a `<Location>` are merged over all others; says whether there is one.
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
        let now = moved.map_err(|Stop(status)| format!("the request may not come to that place: {status}"))?;
        self.comes_to(request, now)
    }

    /// From now on the request is in that place.
    pub(super) fn comes_to(&self, request: u64, place: Rc<ResolvedLocation>) -> Result<(), String> {
        self.has_room()?;
        self.renewals.borrow_mut().push((request, place));
        Ok(())
    }

    fn has_room(&self) -> Result<(), String> {
        match self.renewals.borrow().len() < MOST {
            true => Ok(()),
            false => Err(format!("the place of a request cannot be changed more than {MOST} times")),
        }
    }

    /// The request is over, and those that it led to.
    pub(super) fn forget_renewals(&self) {
        self.running.take();
        self.renewals.borrow_mut().clear();
    }
}
