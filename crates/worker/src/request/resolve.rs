//! The location of a request that its handlers redirected.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use apache::{InternalTarget, SetByHandlers};

use super::phases::PhaseEnd;
use super::request_error::log_error;
use super::translate::{RequestPath, logged, translate};
use super::variables;
use crate::location::htaccess::files;
use crate::location::{LocationKey, ResolvedLocation};
use crate::site::Site;
use crate::site::paths::plain;
use ::files::open::{DiskPatience, Links, PathWithLinks, root};
use config::response::expr::Expr;
use config::{Handler, Scope, work};

/// Resolves the target after the Trans phase. If a handler returned OK, only the file that it set counts, if any;
/// otherwise the configuration maps the URI to a file.
pub(super) fn resolve_target(site: &Site, request: u64, is_translated: bool) -> Result<LocationKey, PhaseEnd> {
    let SetByHandlers { uri, args: query, filename, .. } = apache::set_by_handlers(request);
    if is_translated && filename.is_none() {
        let path = plain(&uri);
        apache::without_file(request, &path, &query);
        return logged(request, site.paths.key_without_file(apache::requested(request).host, &path));
    }
    let RequestPath { path, filename, key } = translate(site, request, &uri, filename.filter(|_| is_translated));
    apache::retarget(request, &InternalTarget { path, query, filename, ..InternalTarget::default() });
    key
}

/// Moves the request from the location `left` to the location of `key`.
pub(super) fn moved(
    site: &Site,
    request: u64,
    left: Option<&ResolvedLocation>,
    key: LocationKey,
) -> Result<Rc<ResolvedLocation>, PhaseEnd> {
    let apache::Requested { host, filename, .. } = apache::requested(request);
    let key = with_conditions(site, request, key)?;
    let location = site
        .locations
        .get(key, &filename)
        .map_err(|error| PhaseEnd(site.calls.conclude_interrupted(request, error)))?;
    apache::place_is(request, location.place.clone());
    if !variables::settle(request, left, &location) {
        log_error(request, &work::Allowance::message());
        return Err(PhaseEnd(500));
    }
    if apache::has_file(request) && is_behind_link(site, &location, host, &filename) {
        log_error(request, "a symbolic link in the path is not allowed by Options");
        return Err(PhaseEnd(403));
    }
    Ok(location)
}

/// Adds the `<If>` sections whose conditions are true. The front has chosen those of the client's own request. A
/// condition that has no value in a worker refuses the request, because its section might restrict access.
fn with_conditions(site: &Site, request: u64, mut key: LocationKey) -> Result<LocationKey, PhaseEnd> {
    let config = &site.config;
    if !config.uses_branches && key.overrides.is_empty() {
        return Ok(key);
    }
    let files = files(config, &key).map_err(|error| {
        log_error(request, &error.to_string());
        PhaseEnd(500)
    })?;
    let is_chosen = |number: &u16| matches!(config.scope_of(&files, *number), Some(Scope::If(_)));
    if key.sections.iter().any(is_chosen) || !config.have_branches(&key.sections, &files) {
        return Ok(key);
    }
    let allowance = work::Allowance::default();
    let is_true = |expr: &Expr| variables::is_true(request, None, expr, &allowance);
    let chosen = config.branches(&key.sections, &files, &is_true);
    if allowance.is_used_up() {
        log_error(request, &work::Allowance::message());
        return Err(PhaseEnd(500));
    }
    key.sections.extend(chosen);
    Ok(key)
}

/// Whether a symbolic link that Options forbids is on the path. Not checked for PSGI applications, which have no
/// file.
fn is_behind_link(site: &Site, location: &ResolvedLocation, host: u16, filename: &[u8]) -> bool {
    let file = Path::new(OsStr::from_bytes(filename));
    let root = root(&site.config, host, file);
    let way = PathWithLinks { root, path: file, links: Links::of(location.settings.options) };
    // If the path cannot be examined, the program reports the error.
    let is_refused = || site.opener.is_refused(way, DiskPatience::Unlimited).unwrap_or(false);
    location.settings.handler != Handler::Psgi && is_refused()
}
