//! A request at its location.

use std::rc::Rc;

use crate::location::ResolvedLocation;
use crate::site::Site;
use config::{Handler, Settings};

/// A request, and the location in which its phases and its handler run.
#[derive(Clone, Copy)]
pub(super) struct LocatedRequest<'a> {
    pub site: &'a Site,
    /// Number of the record.
    pub request: u64,
    pub location: &'a Rc<ResolvedLocation>,
}

impl<'a> LocatedRequest<'a> {
    pub fn new(site: &'a Site, request: u64, location: &'a Rc<ResolvedLocation>) -> LocatedRequest<'a> {
        LocatedRequest { site, request, location }
    }

    pub fn settings(self) -> &'a Settings {
        &self.location.settings
    }

    /// Records that a phase or handler of the request runs here.
    pub fn enter(self) {
        self.site.under_way.runs_in(self.request, self.location);
    }

    /// The response handler: set by Perl code, or else by the configuration.
    pub fn handler(self) -> Handler {
        match apache::handler(self.request) {
            None => self.settings().handler.clone(),
            Some(name) => name.map_or(Handler::Default, |name| Handler::named(&String::from_utf8_lossy(&name))),
        }
    }
}
