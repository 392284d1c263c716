//! The phases before the response, in httpd's order.
//!
//! ```text
//!   PostReadRequest ─▶ Trans ─▶ sections ─▶ HeaderParser ─▶ Access ─▶ Authen ─▶ Authz ─▶ Type ─▶ Fixup ─▶ Handler
//! ```

use std::rc::Rc;

use super::access_control::{AccessCheck, JudgedByFront};
use super::at::LocatedRequest;
use super::onward;
use super::phases::{OK, PhaseEnd, all, first};
use super::resolve::{moved, resolve_target};
use super::set_env;
use crate::location::ResolvedLocation;
use crate::place::language_of;
use crate::site::Site;
use config::Phase;

/// Kind of the request that runs through the phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// The client's own request.
    Whole,
    /// The client's own request, which a backend answers after the phases.
    Onward,
    Redirect,
    /// A subrequest for a URI: the header phases are skipped.
    Sub,
    /// A subrequest for a file: translation is skipped, too.
    File,
}

/// Runs the phases before the response. Returns the request's final location, whose handler answers.
pub(super) fn prepare(
    site: &Site,
    request: u64,
    start: Rc<ResolvedLocation>,
    kind: RequestKind,
) -> Result<Rc<ResolvedLocation>, PhaseEnd> {
    let is_whole = matches!(kind, RequestKind::Whole | RequestKind::Onward | RequestKind::Redirect);
    let is_of_client = matches!(kind, RequestKind::Whole | RequestKind::Onward);
    let was_guarded = start.settings.fcgid.guards.are_on();
    if kind != RequestKind::File {
        apache::begin_translation(request);
    }
    set_env::postpone(request, &start);
    if is_whole {
        let at = LocatedRequest::new(site, request, &start);
        all(at, Phase::ServerInit)?;
        all(at, Phase::PostReadRequest)?;
    }
    let (location, has_moved) = match kind {
        RequestKind::File => (start, true),
        RequestKind::Onward => (onward::translated(site, request, start)?, false),
        _ => translated(site, request, start)?,
    };
    let mut location = after(site, request, location, Phase::MapToStorage)?;
    if is_whole {
        location = after(site, request, location, Phase::Init)?;
        location = after(site, request, location, Phase::HeaderParser)?;
    }
    let judged = match is_of_client && !has_moved {
        true if was_guarded => JudgedByFront::RulesAndGuards,
        true => JudgedByFront::Rules,
        false => JudgedByFront::Nothing,
    };
    AccessCheck::of(LocatedRequest::new(site, request, &location)).admit(judged)?;
    location = site.under_way.renewed(request, location);
    location = after(site, request, location, Phase::Type)?;
    if kind != RequestKind::Onward {
        set_language(LocatedRequest::new(site, request, &location));
    }
    set_env::make_up(request, &location);
    after(site, request, location, Phase::Fixup)
}

/// Sets Content-Language, for handlers too.
pub(super) fn set_language(at: LocatedRequest<'_>) {
    if let Some(language) = language_of(&at.site.config, at.settings(), at.request) {
        apache::set_language(at.request, &language);
    }
}

/// Runs one phase. Returns the request's location afterwards.
fn after(
    site: &Site,
    request: u64,
    location: Rc<ResolvedLocation>,
    phase: Phase,
) -> Result<Rc<ResolvedLocation>, PhaseEnd> {
    first(LocatedRequest::new(site, request, &location), phase)?;
    Ok(site.under_way.renewed(request, location))
}

/// Runs the Trans phase. A handler that sets the file name, URI or document root moves the request to another
/// location. Returns the location, and whether the request was moved.
pub(super) fn translated(
    site: &Site,
    request: u64,
    start: Rc<ResolvedLocation>,
) -> Result<(Rc<ResolvedLocation>, bool), PhaseEnd> {
    let requested = apache::requested(request);
    let is_translated = first(LocatedRequest::new(site, request, &start), Phase::Trans)? == OK;
    let current = apache::set_by_handlers(request);
    let is_same = current.uri == requested.path && current.filename.is_none() && current.document_root.is_none();
    let stays = is_same && !requested.filename.is_empty();
    if stays && !is_translated {
        apache::end_translation(request);
        return Ok((start, false));
    }
    let key = resolve_target(site, request, is_translated)?;
    Ok((moved(site, request, Some(&*start), key)?, true))
}
