//! Subrequests, which Perl code looks up, and may run as a part of its own response.

use apache::{InternalRequest, InternalTarget};
use http::StatusCode;

use super::internal::{beside, target, too_deep, within};
use crate::request::at::LocatedRequest;
use crate::request::copy_file::copy_file;
use crate::request::folders::{FolderResult, answer_for, lacks_slash};
use crate::request::phases::{DECLINED, PhaseEnd};
use crate::request::prepare::{RequestKind, prepare};
use crate::request::resolve::moved;
use crate::request::respond::respond;
use crate::request::translate::translate;
use crate::site::Site;
use crate::site::paths::plain;
use base::path::BadPath;

/// Looks up a URI, relative to the request's own.
pub(super) fn look_up_uri(site: &Site, from: u64, uri: &[u8]) -> Option<u64> {
    match target(site, from, uri) {
        Ok(to) => look_up(site, from, &to, RequestKind::Sub),
        Err(bad) => look_up_nothing(from, uri, bad),
    }
}

/// Looks up a file, relative to the folder of the request's own.
pub(super) fn look_up_file(site: &Site, from: u64, name: &[u8]) -> Option<u64> {
    let to = match name.first() {
        Some(b'/') => InternalTarget {
            path: no_uri(),
            filename: plain(name),
            unparsed: apache::path_encoded(name),
            ..InternalTarget::default()
        },
        _ => {
            let path = plain(&beside(&apache::set_by_handlers(from).uri, name));
            let filename = plain(&beside(&apache::filename(from), name));
            InternalTarget { unparsed: path.clone(), path, filename, ..InternalTarget::default() }
        }
    };
    look_up(site, from, &to, RequestKind::File)
}

/// URI of a subrequest for a file; the texts are Apache 1.3's and httpd 2.4's.
fn no_uri() -> Vec<u8> {
    match apache::api() {
        apache::Api::One => b"INTERNALLY GENERATED file-relative req".to_vec(),
        apache::Api::Two => Vec::new(),
    }
}

/// Runs the phases of a subrequest up to Fixup.
fn look_up(site: &Site, from: u64, to: &InternalTarget, kind: RequestKind) -> Option<u64> {
    let Some(sub) = apache::begin_internal(from, InternalRequest::Sub, to) else {
        too_deep();
        return None;
    };
    let translated = translate(site, sub, &to.path, Some(to.filename.clone()).filter(|name| !name.is_empty()));
    let prepared = within(site, sub, || {
        let first = moved(site, sub, None, translated.key?)?;
        prepare(site, sub, first, kind)
    });
    match prepared {
        Ok(location) if kind == RequestKind::Sub && lacks_slash(LocatedRequest::new(site, sub, &location)) => {
            apache::set_status(sub, 301)
        }
        Ok(location) => site.under_way.add_subrequest(sub, location),
        Err(PhaseEnd(status)) => apache::set_status(sub, u16::try_from(status).unwrap_or(200)),
    }
    Some(sub)
}

/// Creates a subrequest for an invalid URI. It has only a status.
fn look_up_nothing(from: u64, uri: &[u8], bad: BadPath) -> Option<u64> {
    let to = InternalTarget { path: uri.to_vec(), unparsed: uri.to_vec(), ..InternalTarget::default() };
    let sub = apache::begin_internal(from, InternalRequest::Sub, &to)?;
    apache::set_status(sub, StatusCode::from(bad).as_u16());
    Some(sub)
}

/// Runs a subrequest's handler. Returns its status.
pub(super) fn run(site: &Site, sub: u64) -> i32 {
    let Some(location) = site.under_way.subrequest(sub) else { return i32::from(apache::status(sub)) };
    let at = LocatedRequest::new(site, sub, &location);
    within(site, sub, || {
        at.enter();
        apache::tie_env(sub);
        let status = match respond(at) {
            DECLINED => apache::declined_file(sub).map_or(404, |file| answer_part(at, &file)),
            status => status,
        };
        apache::keep_env(sub);
        if apache::is_filtered(sub) {
            site.perl.drain_output();
            apache::end_filtered_response(sub, status);
        }
        status
    })
}

/// Answers a subrequest that no handler answered: with a file, or the index of a folder.
fn answer_part(at: LocatedRequest<'_>, file: &[u8]) -> i32 {
    match answer_for(at.site, at.request, at.location, file) {
        Some(FolderResult::Index(uri)) => {
            let target = target(at.site, at.request, &uri).ok();
            let index = target.and_then(|to| look_up(at.site, at.request, &to, RequestKind::Sub));
            index.map_or(404, |index| run(at.site, index))
        }
        Some(FolderResult::Moved(_)) => 301,
        Some(FolderResult::Bare) => 403,
        None => copy_file(at, file),
    }
}
