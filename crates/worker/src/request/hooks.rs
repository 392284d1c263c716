//! Phases that Perl code runs for its own request: `$r->run_fixups` and the like (mod_perl's manual,
//! Apache2::HookRun).

use std::rc::Rc;

use super::phases::{DECLINED, OK, Stop};
use super::set_env;
use super::subrequest::too_deep;
use crate::location::ResolvedLocation;
use crate::site::Site;
use config::Phase;

/// Maximum of nested phases, since each needs stack space.
const DEEPEST: u8 = 10;

impl Site {
    /// Runs the phase of an httpd hook in the request's location. Returns its status.
    pub(super) fn run_hook(&self, request: u64, hook: &[u8]) -> i32 {
        let Some(location) = self.place_of(request) else { return DECLINED };
        if self.hooks_under_way.get() == DEEPEST {
            too_deep();
            return 500;
        }
        self.hooks_under_way.update(|depth| depth + 1);
        let before = apache::running_phase(request);
        let said = self.hook(&location, request, hook);
        before.map(|phase| apache::enter_phase(request, phase));
        self.runs_in(request, &location);
        self.hooks_under_way.update(|depth| depth - 1);
        said.unwrap_or_else(|Stop(said)| said)
    }

    /// Answers the request with its location's error document for this status.
    pub(super) fn answer_with_error(&self, request: u64, status: i32) {
        if let Some(location) = self.place_of(request)
            && let 200..600 = status
        {
            self.conclude(request, &location, status);
        }
    }

    fn place_of(&self, request: u64) -> Option<Rc<ResolvedLocation>> {
        let (_, location) = self.running.borrow().clone().filter(|(of, _)| *of == request)?;
        Some(self.renewed(request, location))
    }

    fn hook(&self, location: &Rc<ResolvedLocation>, request: u64, hook: &[u8]) -> Result<i32, Stop> {
        match hook {
            b"post_read_request" => self.first(location, request, Phase::PostReadRequest),
            b"translate_name" => self.translate_again(location, request),
            b"map_to_storage" => self.first(location, request, Phase::MapToStorage),
            b"header_parser" => self.first(location, request, Phase::HeaderParser),
            b"access_checker" => self.check_address(location, request),
            b"check_user_id" => self.check_user(location, request),
            b"auth_checker" => self.check_rights(location, request),
            b"type_checker" => self.first(location, request, Phase::Type),
            b"fixups" => {
                set_env::make_up(request, location);
                self.first(location, request, Phase::Fixup)
            }
            b"handler" => Ok(self.respond(location, request)),
            b"log_transaction" => self.first(location, request, Phase::Log),
            _ => Ok(self.invoke(location, request)),
        }
    }

    fn translate_again(&self, location: &Rc<ResolvedLocation>, request: u64) -> Result<i32, Stop> {
        let (now, _) = self.translated(request, location.clone())?;
        if !Rc::ptr_eq(&now, location) {
            self.comes_to(request, now).map_err(|why| {
                apache::say(apache::Level::Error, &why);
                Stop(500)
            })?;
        }
        Ok(OK)
    }

    /// Runs the location's handler with its environment; if declined, sends the file.
    fn invoke(&self, location: &Rc<ResolvedLocation>, request: u64) -> i32 {
        if apache::running_phase(request) != Some(Phase::Handler as u32) {
            self.perl.env_refresh();
            apache::tie_env(request);
        }
        match self.respond(location, request) {
            DECLINED => apache::declined_file(request).map_or(404, |file| self.copy_file(request, location, &file)),
            said => said,
        }
    }
}
