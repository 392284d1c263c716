//! The first phases of a request that a backend answers, whose path stays as it is.

use std::rc::Rc;

use super::at::LocatedRequest;
use super::phases::{PhaseEnd, all};
use super::request_error::log_error;
use crate::location::ResolvedLocation;
use crate::site::Site;
use config::Phase;

/// Status of a request whose handlers have done something that has no effect before a backend.
const FAILED: u16 = 500;

/// Runs the Trans phase. The front has chosen the backend by the path, so a handler must not change the path.
pub(super) fn translated(
    site: &Site,
    request: u64,
    location: Rc<ResolvedLocation>,
) -> Result<Rc<ResolvedLocation>, PhaseEnd> {
    let requested = apache::requested(request);
    all(LocatedRequest::new(site, request, &location), Phase::Trans)?;
    let current = apache::set_by_handlers(request);
    if current.uri != requested.path || current.filename.is_some_and(|file| file != requested.filename) {
        return Err(moved(request));
    }
    apache::end_translation(request);
    Ok(location)
}

pub(super) fn moved(request: u64) -> PhaseEnd {
    log_error(
        request,
        "a Perl handler has changed the path or the file name, after the backend was chosen; use RewriteRule with the flag P",
    );
    PhaseEnd(FAILED.into())
}
