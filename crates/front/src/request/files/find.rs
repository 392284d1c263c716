//! Looks up the file of a request, and whether the front sends it or a worker runs it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use http::StatusCode;
use http::request::Parts;
use percent_encoding::percent_encode;

use super::lookup::{Spot, is_folder, locate, missing_name, reopen};
use crate::base::refusal::Refusal;
use crate::generation::View;
use crate::routing::{FoundFile, NotYet, Route};
use base::path::PATH;
use config::response::PathInfo;
use config::{Handler, PerlGeneration};
use files::open::{Links, OpenedFile};

pub enum LookupResult {
    File(Rc<Route>, OpenedFile),
    /// A file with a PATH_INFO that its handler does not accept; answered with a 404.
    Beyond(Rc<Route>),
    /// A file with a handler that a worker runs (`<Files *.cgi>`).
    Handled(Rc<Route>),
    /// A folder whose contents may be listed.
    Folder(OpenedFile),
    /// A redirect to this path of the site: a folder's path with its slash, or its index.
    Moved(StatusCode, String),
    /// An internal redirect to this path on the site: a folder's index or a fallback resource.
    Index(String),
}

impl LookupResult {
    pub fn file(&self) -> Option<&Rc<Route>> {
        match self {
            LookupResult::File(route, _) | LookupResult::Beyond(route) | LookupResult::Handled(route) => Some(route),
            LookupResult::Moved(..) | LookupResult::Folder(_) | LookupResult::Index(_) => None,
        }
    }

    /// The route of the file, in order to replace it.
    pub fn file_mut(&mut self) -> Option<&mut Rc<Route>> {
        match self {
            LookupResult::File(route, _) | LookupResult::Beyond(route) | LookupResult::Handled(route) => Some(route),
            LookupResult::Moved(..) | LookupResult::Folder(_) | LookupResult::Index(_) => None,
        }
    }

    /// Leaves a file to the worker if the handler of its current route runs there.
    pub fn follow_handler(&mut self) {
        if let LookupResult::File(route, _) = self
            && !route.is_static()
        {
            *self = LookupResult::Handled(route.clone());
        }
    }
}

/// The route of a worker's file, refined by its `<Files>` sections and its extension. `None`: the path alone decides
/// the settings, so that the file system need not be searched for the file in the path.
pub fn behind(generation: &View, route: &Route) -> Result<Option<Rc<Route>>, NotYet> {
    match (route.ambiguous || route.settings.handler_depends_on_the_file())
        .then(|| locate(generation, route, &route.filename))
    {
        Some(Ok(Spot::File(spot))) => Ok(Some(generation.routes.refine(&generation.config, route, spot.found())?)),
        _ => Ok(None),
    }
}

/// Whether the path of `route` is that of a folder with an index, or lacks the slash of a folder.
pub fn leads_to_an_index(generation: &View, route: &Route) -> bool {
    match locate(generation, route, &route.filename) {
        Ok(Spot::File(spot)) => spot.path != route.path,
        Ok(Spot::NoSlash(_) | Spot::Elsewhere(_) | Spot::Moved(..)) => true,
        Ok(Spot::Folder(_)) | Err(_) => false,
    }
}

/// Looks up the file of `route` and its handler.
pub fn find(generation: &View, route: &Rc<Route>, head: &Parts) -> Result<LookupResult, NotYet> {
    if route.settings.needs_perl_for_folders() && is_folder(generation, route) {
        route.refused()?;
        return Ok(LookupResult::Handled(route.clone()));
    }
    let spot = match locate(generation, route, &route.filename) {
        Ok(Spot::File(spot)) => spot,
        Ok(Spot::NoSlash(path)) => return Ok(with_slash(&path, head.uri.query())),
        Ok(Spot::Folder(folder)) => return Ok(LookupResult::Folder(folder)),
        Ok(Spot::Elsewhere(path)) => return Ok(LookupResult::Index(path)),
        Ok(Spot::Moved(status, path)) => return Ok(moved(status, path)),
        Err(refusal) => match route.settings.response.fallback(&route.path) {
            Some(fallback) if refusal.status == StatusCode::NOT_FOUND && !has_handler(generation, route)? => {
                return Ok(LookupResult::Index(fallback.to_owned()));
            }
            _ => return Err(refusal.into()),
        },
    };
    let found = generation.routes.refine(&generation.config, route, spot.found())?;
    found.refused()?;
    match found.settings.handler {
        _ if found.settings.has_perl_phases() => Ok(LookupResult::Handled(found)),
        Handler::AsIs | Handler::CgiScript | Handler::FcgidScript
            if spot.extra > 0 && found.settings.response.path_info == Some(PathInfo::Off) =>
        {
            Ok(LookupResult::Beyond(found))
        }
        Handler::Default | Handler::ServerParsed | Handler::Named(_) if spot.extra > 0 && !takes_path_info(&found) => {
            Ok(LookupResult::Beyond(found))
        }
        ref handler if handler.is_about_a_file() => {
            let opened = of_its_own(generation, route, &found, spot.opened)?;
            Ok(LookupResult::File(found, opened))
        }
        _ => Ok(LookupResult::Handled(found)),
    }
}

/// Whether a missing file would have a handler. As in httpd, `FallbackResource` then does not answer in its place, and
/// the first missing name is that of the file.
fn has_handler(generation: &View, route: &Route) -> Result<bool, NotYet> {
    let missing = missing_name(generation, route);
    let filename = missing.as_ref().map_or_else(|| route.filename.clone(), |it| it.folder.join(it.name));
    let script_length = route.path.len() - missing.map_or(0, |it| it.path_info.len());
    let file = FoundFile { path: &route.path, filename: &filename, script_length };
    Ok(generation.routes.refine(&generation.config, route, file)?.settings.handler != Handler::Default)
}

/// Looks up the file that a Perl handler left to the default handler (`DECLINED`). A script is refused, not sent as
/// text.
pub fn find_declined(generation: &View, route: &Route, file: &[u8], head: &Parts) -> Result<LookupResult, NotYet> {
    let file = Path::new(OsStr::from_bytes(file));
    if !file.is_absolute() {
        return Err(Refusal::new(StatusCode::NOT_FOUND).into());
    }
    let spot = match locate(generation, route, file).map_err(|refusal| of_declined(generation, route, refusal))? {
        Spot::File(spot) if spot.extra > 0 && !takes_path_info(route) => {
            return Err(Refusal::new(StatusCode::NOT_FOUND).into());
        }
        Spot::File(spot) => spot,
        Spot::NoSlash(path) => return Ok(with_slash(&path, head.uri.query())),
        Spot::Folder(folder) => return Ok(LookupResult::Folder(folder)),
        Spot::Elsewhere(path) => return Ok(LookupResult::Index(path)),
        Spot::Moved(status, path) => return Ok(moved(status, path)),
    };
    let whole = FoundFile { script_length: spot.path.len(), ..spot.found() };
    let found = generation.routes.refine(&generation.config, route, whole)?;
    found.refused()?;
    let is_index = found.path != route.path;
    match &found.settings.handler {
        // The folder's index has a program or Perl phases: process it as a request of its own.
        handler if is_index && (found.settings.has_perl_phases() || !handler.is_about_a_file()) => {
            Ok(LookupResult::Index(percent_encode(&found.path, PATH).to_string()))
        }
        Handler::CgiScript | Handler::FcgidScript => Err(Refusal::new(StatusCode::FORBIDDEN).into()),
        _ => {
            let opened = of_its_own(generation, route, &found, spot.opened)?;
            Ok(LookupResult::File(found, opened))
        }
    }
}

/// The refusal of a path that a Perl handler has declined. Under httpd 2 a folder without an index is then not found.
fn of_declined(generation: &View, route: &Route, refusal: Refusal) -> Refusal {
    let is_of_two = generation.config.perl.generation == PerlGeneration::Two;
    match is_of_two && refusal.status == StatusCode::FORBIDDEN && is_folder(generation, route) {
        true => Refusal::new(StatusCode::NOT_FOUND),
        false => refusal,
    }
}

/// Whether `AcceptPathInfo On` allows a PATH_INFO behind a static file.
fn takes_path_info(route: &Route) -> bool {
    route.settings.response.path_info == Some(PathInfo::On)
}

/// The opened file. If the file's own sections have other link rules than the folder, the file is reopened under its
/// own rules.
fn of_its_own(generation: &View, route: &Route, found: &Route, opened: OpenedFile) -> Result<OpenedFile, Refusal> {
    match Links::of(route.settings.options) == Links::of(found.settings.options) {
        true => Ok(opened),
        false => reopen(generation, found),
    }
}

/// A redirect to the folder's path with a trailing slash.
fn with_slash(path: &[u8], query: Option<&str>) -> LookupResult {
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    LookupResult::Moved(StatusCode::MOVED_PERMANENTLY, format!("{}/{query}", percent_encode(path, PATH)))
}

fn moved(status: u16, path: String) -> LookupResult {
    LookupResult::Moved(StatusCode::from_u16(status).unwrap_or(StatusCode::FOUND), path)
}
