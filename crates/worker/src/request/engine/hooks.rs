//! Phases that Perl code runs for its own request: `$r->run_fixups` and the like (mod_perl's manual,
//! Apache2::HookRun).

use std::rc::Rc;

use super::internal::too_deep;
use crate::request::access_control::AccessCheck;
use crate::request::at::LocatedRequest;
use crate::request::conclude::conclude;
use crate::request::copy_file::copy_file;
use crate::request::phases::{DECLINED, OK, PhaseEnd, first};
use crate::request::prepare::translated;
use crate::request::respond::respond;
use crate::request::set_env;
use crate::site::Site;
use config::Phase;

/// Runs the phase of an httpd hook in the request's location. Returns its status.
pub(super) fn run(site: &Site, request: u64, hook: &[u8]) -> i32 {
    let Some(location) = site.under_way.running_location(request) else { return DECLINED };
    let at = LocatedRequest::new(site, request, &location);
    let outcome = site.under_way.nested(|| {
        let before = apache::running_phase(request);
        let outcome = hook_of(at, hook);
        before.map(|phase| apache::enter_phase(request, phase));
        at.enter();
        outcome.unwrap_or_else(|PhaseEnd(status)| status)
    });
    outcome.unwrap_or_else(|| {
        too_deep();
        500
    })
}

/// Answers the request with its location's error document for this status.
pub(super) fn answer_with_error(site: &Site, request: u64, status: i32) {
    if let Some(location) = site.under_way.running_location(request)
        && let 200..600 = status
    {
        conclude(LocatedRequest::new(site, request, &location), status);
    }
}

fn hook_of(at: LocatedRequest<'_>, hook: &[u8]) -> Result<i32, PhaseEnd> {
    match hook {
        b"post_read_request" => first(at, Phase::PostReadRequest),
        b"translate_name" => translate_again(at),
        b"map_to_storage" => first(at, Phase::MapToStorage),
        b"header_parser" => first(at, Phase::HeaderParser),
        b"access_checker" => AccessCheck::of(at).check_address(),
        b"check_user_id" => AccessCheck::of(at).check_user(),
        b"auth_checker" => AccessCheck::of(at).check_rights(),
        b"type_checker" => first(at, Phase::Type),
        b"fixups" => {
            set_env::make_up(at.request, at.location);
            first(at, Phase::Fixup)
        }
        b"handler" => Ok(respond(at)),
        b"log_transaction" => first(at, Phase::Log),
        _ => Ok(invoke(at)),
    }
}

fn translate_again(at: LocatedRequest<'_>) -> Result<i32, PhaseEnd> {
    let (now, _) = translated(at.site, at.request, at.location.clone())?;
    if !Rc::ptr_eq(&now, at.location) {
        at.site.under_way.renew(at.request, now).map_err(|why| {
            apache::log_line(apache::Level::Error, &why);
            PhaseEnd(500)
        })?;
    }
    Ok(OK)
}

/// Runs the location's handler with its environment; if declined, sends the file.
fn invoke(at: LocatedRequest<'_>) -> i32 {
    if apache::running_phase(at.request) != Some(Phase::Handler as u32) {
        at.site.perl.env_refresh();
        apache::tie_env(at.request);
    }
    match respond(at) {
        DECLINED => apache::declined_file(at.request).map_or(404, |file| copy_file(at, &file)),
        status => status,
    }
}
