//! Implements the calls of the Apache:: API that create or change requests: subrequests, redirects, error responses.

mod added;
mod hooks;
mod internal;
pub(super) mod redirect;
mod subrequest;

use apache::{AddedLines, InternalRequest, PieceEnd};

use super::at::LocatedRequest;
use super::conclude::response_for;
use super::filters;
use super::phases::{DECLINED, OK, PhaseEnd, first};
use super::resolve::resolve_target;
use super::translate::{RequestPath, translate};
use crate::site::Site;
use config::Phase;

impl apache::Engine for Site {
    fn look_up_uri(&self, from: u64, uri: &[u8]) -> Option<u64> {
        subrequest::look_up_uri(self, from, uri)
    }

    fn look_up_file(&self, from: u64, name: &[u8]) -> Option<u64> {
        subrequest::look_up_file(self, from, name)
    }

    fn run(&self, sub: u64) -> i32 {
        subrequest::run(self, sub)
    }

    fn translate(&self, request: u64) -> i32 {
        let RequestPath { filename, key, .. } = translate_own(self, request);
        let before = apache::running_phase(request);
        apache::begin_translation(request);
        let outcome = key.and_then(|key| match self.locations.get(key, &filename) {
            // Within the Trans phase its handlers are not run once more.
            Ok(_) if before == Some(Phase::Trans as u32) => Ok(DECLINED),
            Ok(location) => first(LocatedRequest::new(self, request, &location), Phase::Trans),
            Err(error) => Err(PhaseEnd(self.calls.conclude_interrupted(request, error))),
        });
        before.map(|phase| apache::enter_phase(request, phase));
        let led = outcome.and_then(|status| resolve_target(self, request, status == OK));
        led.map_or_else(|PhaseEnd(status)| status, |_| OK)
    }

    fn error_response(&self, request: u64, status: u16) -> Option<Vec<u8>> {
        if let Some(response) = apache::custom_response(request, status) {
            return response;
        }
        let RequestPath { filename, key, .. } = translate_own(self, request);
        let location = key.ok().and_then(|key| self.locations.get(key, &filename).ok())?;
        response_for(LocatedRequest::new(self, request, &location), status)
    }

    fn add_config(&self, request: u64, lines: &AddedLines) -> Result<(), String> {
        added::add_lines(self, request, lines)
    }

    fn merge_location(&self, request: u64, path: &str) -> Result<bool, String> {
        added::merge_location(self, request, path)
    }

    fn run_hook(&self, request: u64, hook: &[u8]) -> i32 {
        hooks::run(self, request, hook)
    }

    fn die(&self, request: u64, status: i32) {
        hooks::answer_with_error(self, request, status);
    }

    fn filter(&self, request: u64, piece: &[u8], end: PieceEnd) {
        filters::pass(self, request, piece, end);
    }

    fn redirect(&self, from: u64, uri: &[u8], keeps_type: bool) {
        if !redirect::redirect(self, from, InternalRequest::Redirect, uri, keeps_type) {
            apache::fail(from, 500);
        }
    }
}

/// The file and the location of the request's URI as handlers have set it.
fn translate_own(site: &Site, request: u64) -> RequestPath {
    translate(site, request, &apache::set_by_handlers(request).uri, None)
}
