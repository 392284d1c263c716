//! Folders as targets of internal redirects, error pages and subrequests: the index answers, as in mod_dir. A
//! client's own request for a folder is handled by the front.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use percent_encoding::percent_encode;

use super::at::LocatedRequest;
use super::translate::host;
use crate::location::ResolvedLocation;
use crate::site::Site;
use base::path::{PATH, normalise, stays_below};

/// As mod_dir decides.
pub(super) enum FolderResult {
    /// The request is redirected to this URI.
    Index(Vec<u8>),
    /// The URI lacks the trailing slash; redirect the client to this URI.
    Moved(Vec<u8>),
    Bare,
}

/// The result for `file`; `None` if it is no folder.
pub(super) fn answer_for(site: &Site, request: u64, location: &ResolvedLocation, file: &[u8]) -> Option<FolderResult> {
    let folder = Path::new(OsStr::from_bytes(file));
    if !folder.is_dir() {
        return None;
    }
    let current = apache::set_by_handlers(request);
    if current.uri.ends_with(b"/") {
        let index = index_of(site, request, location, folder, &current.uri);
        return Some(index.map_or(FolderResult::Bare, |index| FolderResult::Index(with_query(index, &current.args))));
    }
    let moves = location.settings.response.directory_slash != Some(false) && current.uri.starts_with(b"/");
    let there = encoded(&[&current.uri[..], b"/"].concat());
    Some(if moves { FolderResult::Moved(with_query(there, &current.args)) } else { FolderResult::Bare })
}

/// Whether a subrequest names a folder without the trailing slash.
pub(super) fn lacks_slash(at: LocatedRequest<'_>) -> bool {
    let answer = || answer_for(at.site, at.request, at.location, &apache::filename(at.request));
    at.handler().is_about_a_file() && matches!(answer(), Some(FolderResult::Moved(_)))
}

/// Whether the front answers a request for a folder of programs. As in mod_dir, it is the folder's index or a
/// redirect to the URI with a slash.
pub(super) fn is_the_servers(site: &Site, request: u64, location: &ResolvedLocation) -> bool {
    let answer = answer_for(site, request, location, &apache::filename(request));
    matches!(answer, Some(FolderResult::Index(_) | FolderResult::Moved(_)))
}

/// The first name of `DirectoryIndex` that exists as a file. The last name may be a path of the site without a file.
fn index_of(site: &Site, request: u64, location: &ResolvedLocation, folder: &Path, uri: &[u8]) -> Option<Vec<u8>> {
    let names = &location.settings.directory_index;
    let host = host(site, request);
    let file_of = |path: &[u8]| site.paths.file_of(path, &host);
    // An alias may map the name in the folder elsewhere, unless a handler named the folder.
    let is_plain = file_of(uri) == folder;
    let is_in_folder = |name: &str| match is_plain {
        true => file_of(&[uri, name.as_bytes()].concat()).is_file(),
        false => folder.join(name).is_file(),
    };
    let leads_to_a_file = |path: &str| {
        let path = path.split('?').next().unwrap_or_default();
        normalise(path.as_bytes()).is_ok_and(|path| file_of(&path).is_file())
    };
    let is_there = |name: &&String| match name.starts_with('/') {
        true => names.last() == Some(*name) || leads_to_a_file(name),
        false => stays_below(name) && is_in_folder(name),
    };
    let name = names.iter().find(is_there)?;
    Some(if name.starts_with('/') { name.clone().into_bytes() } else { encoded(&[uri, name.as_bytes()].concat()) })
}

fn encoded(path: &[u8]) -> Vec<u8> {
    percent_encode(path, PATH).to_string().into_bytes()
}

/// Adds the request's query, unless the new URI has one.
fn with_query(mut uri: Vec<u8>, query: &[u8]) -> Vec<u8> {
    if !query.is_empty() && !uri.contains(&b'?') {
        uri.push(b'?');
        uri.extend_from_slice(query);
    }
    uri
}
