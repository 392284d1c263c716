//! Maps a path to a file or folder on disk: PATH_INFO, index files (httpd manual, mod_dir), and the symbolic link
//! rules of `Options`.
//! Every file is opened through `files::open`, which checks those rules while it opens.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use http::StatusCode;
use percent_encoding::percent_encode;

use super::similar::may_find;
use crate::base::refusal::{FileCause, Refusal};
use crate::generation::View;
use crate::routing::{FoundFile, Route, bytes};
use base::path::{PATH, Text, longest, normalise, stays_below, ways};
use config::Handler;
use files::open::{Links, OpenedFile, PathWithLinks, is_link, is_shortage, root};

/// The object on disk that a path leads to.
pub enum Spot {
    /// A regular file.
    File(FilePlace),
    /// A folder, but its path, which is here, lacks the trailing slash.
    NoSlash(Vec<u8>),
    /// A folder without an index file, whose contents may be listed.
    Folder(OpenedFile),
    /// A folder whose `DirectoryIndex` is this path on the site (`/cgi-bin/index.pl`).
    Elsewhere(String),
    /// A folder whose index has this status and path: see `DirectoryIndexRedirect`.
    Moved(u16, String),
}

/// A file, and the path that leads to it.
pub struct FilePlace {
    /// The file's name on disk.
    pub file: PathBuf,
    /// The request's path, with the index file's name appended where one was used.
    pub path: Vec<u8>,
    /// Length in bytes of the PATH_INFO at the end of `path`.
    pub extra: usize,
    pub opened: OpenedFile,
}

impl FilePlace {
    /// The parts that the file's route depends on.
    pub fn found(&self) -> FoundFile<'_> {
        FoundFile { path: &self.path, filename: &self.file, script_length: self.path.len() - self.extra }
    }
}

/// Finds the file that `filename` names. If there is none, the longest existing prefix names the file, and the rest is
/// PATH_INFO.
pub fn locate(generation: &View, route: &Route, filename: &Path) -> Result<Spot, Refusal> {
    let root = root(&generation.config, route.host, filename);
    let links = Links::of(route.settings.options);
    let whole = bytes(filename);
    let (name, opened) = match generation.opener.open(PathWithLinks { root, path: filename, links }) {
        Ok(opened) => (whole, opened),
        Err(error) if is_missing(&error) => {
            let name = existing(generation, root, whole);
            let way = PathWithLinks { root, path: Path::new(OsStr::from_bytes(name)), links };
            (name, generation.opener.open(way).map_err(refusal)?)
        }
        Err(error) => return Err(refusal(error)),
    };
    let extra = &whole[name.len()..];
    if opened.kind.is_dir() {
        return match (extra, route.path.ends_with(b"/")) {
            (b"" | b"/", true) => index(generation, route, root, filename, opened),
            (b"", false) if has_slash_added(route) => Ok(Spot::NoSlash(route.path.clone())),
            // No list: its links would lead beside the folder, and it would show what an index hides.
            (b"", false) => Err(Refusal::forbidden(FileCause::NoSlash)),
            _ => Err(not_found()),
        };
    }
    if !route.path.ends_with(extra) {
        return Err(not_found());
    }
    let file = PathBuf::from(OsStr::from_bytes(name));
    Ok(Spot::File(FilePlace { file, path: route.path.clone(), extra: extra.len(), opened }))
}

/// `DirectorySlash`: whether a folder's path without its slash is redirected to that with it.
fn has_slash_added(route: &Route) -> bool {
    route.settings.response.directory_slash != Some(false)
}

/// Opens the file of `route` under the link rules of the route's own sections.
pub fn reopen(generation: &View, route: &Route) -> Result<OpenedFile, Refusal> {
    generation.opener.open(way(generation, route)).map_err(refusal)
}

/// Whether the route's filename is a folder.
pub fn is_folder(generation: &View, route: &Route) -> bool {
    reopen(generation, route).is_ok_and(|opened| opened.kind.is_dir())
}

/// Whether the filename that a worker would look for contains a symbolic link that `Options` forbids. The request is
/// then refused before a worker gets it.
pub fn is_behind_link(generation: &View, route: &Route) -> bool {
    // Finding the root takes some hundred instructions, and most sites follow links.
    if Links::of(route.settings.options) == Links::Follow {
        return false;
    }
    generation.opener.is_refused(way(generation, route))
}

/// The route's filename with its root and the link rules of its own sections.
fn way<'a>(generation: &'a View, route: &'a Route) -> PathWithLinks<'a> {
    let root = root(&generation.config, route.host, &route.filename);
    PathWithLinks { root, path: &route.filename, links: Links::of(route.settings.options) }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The longest existing prefix of `whole`: up to a file, or up to the last folder before the first missing name.
/// Everything behind a missing name is missing, too, so few prefixes are tested, although the client chooses the
/// path's length.
/// Only the result's length is used. The file is opened afterwards under the link rules, so a concurrent change cannot
/// bypass them.
fn existing<'a>(generation: &View, root: &Path, whole: &'a [u8]) -> &'a [u8] {
    // An alias may name a file with a trailing slash.
    let root = bytes(root);
    let above = if whole.starts_with(root) { root.strip_suffix(b"/").unwrap_or(root).len() } else { 0 };
    let ways: Vec<&[u8]> = whole.get(..above).into_iter().chain(ways(whole, above)).collect();
    let is_there =
        |at: usize| ways.get(at).is_some_and(|way| generation.opener.is_there(Path::new(OsStr::from_bytes(way))));
    ways.get(longest(ways.len() - 1, is_there)).copied().unwrap_or_default()
}

/// The first missing name in the file name of a route.
pub struct MissingName<'a> {
    /// The folder that lacks the name, without its final slash.
    pub folder: &'a Path,
    pub name: &'a str,
    /// The path of the folder, with its final slash.
    pub folder_path: &'a [u8],
    /// The path behind the missing name.
    pub path_info: &'a [u8],
}

/// The missing name; `None` if the file is there, or the name is not UTF-8.
pub fn missing_name<'a>(generation: &View, route: &'a Route) -> Option<MissingName<'a>> {
    let there = existing_length(generation, route.host, &route.filename);
    let (folder, rest) = bytes(&route.filename).split_at_checked(there)?;
    let rest = rest.strip_prefix(b"/").unwrap_or(rest);
    let length = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
    let (name, path_info) = rest.split_at_checked(length)?;
    let folder_path = route.path.strip_suffix(path_info)?.strip_suffix(name)?;
    let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
    let folder = Path::new(OsStr::from_bytes(folder.strip_suffix(b"/").unwrap_or(folder)));
    Some(MissingName { folder, name, folder_path, path_info })
}

/// As [`existing_length`], with whether that prefix is the name of a folder.
pub fn existing_part(generation: &View, host: u16, filename: &Path) -> (usize, bool) {
    let (root, whole) = (root(&generation.config, host, filename), bytes(filename));
    let leads_to_folder = |name: &[u8]| names_folder(generation, Path::new(OsStr::from_bytes(name)));
    // Most files are there, or are missing in a folder that is there: fewer tests than a search of the prefixes needs.
    if generation.opener.is_there(filename) {
        return (whole.len(), leads_to_folder(whole));
    }
    let slash = whole.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    let parent = whole.get(..slash).filter(|parent| parent.len() >= bytes(root).len() && !parent.ends_with(b"/"));
    if let Some(parent) = parent.filter(|parent| leads_to_folder(parent)) {
        return (parent.len(), true);
    }
    let there = existing(generation, root, whole);
    (there.len(), leads_to_folder(there))
}

/// Whether the path is that of a folder, without opening it: opening a device could have side effects.
pub fn names_folder(generation: &View, path: &Path) -> bool {
    generation.opener.is_there(&path.join("."))
}

/// The length in bytes of the existing prefix of a file name.
pub fn existing_length(generation: &View, host: u16, filename: &Path) -> usize {
    existing(generation, root(&generation.config, host, filename), bytes(filename)).len()
}

fn index(generation: &View, route: &Route, root: &Path, folder: &Path, itself: OpenedFile) -> Result<Spot, Refusal> {
    let links = Links::of(route.settings.options);
    let has_handler =
        route.settings.response.directory_check_handler == Some(true) && route.settings.handler != Handler::Default;
    let names = if has_handler { &[][..] } else { &route.settings.directory_index };
    let is_plain = leads_to(generation, route, &route.path, folder);
    for name in names {
        if name.starts_with('/') {
            // A path on the site is processed later as a separate request with its own access rules. Here only its
            // existence matters, because the next name is tried otherwise.
            let is_there = leads_to_a_file(generation, route, name);
            if let Some(Some(status)) = route.settings.response.index_redirect.filter(|_| is_there) {
                return Ok(Spot::Moved(status, name.clone()));
            }
            if names.last() == Some(name) || is_there {
                return Ok(Spot::Elsewhere(name.clone()));
            }
            continue;
        }
        if !stays_below(name) {
            continue;
        }
        // The name is also part of an address, which an alias may map to another file.
        let address = [&route.path[..], name.as_bytes()].concat();
        if is_plain && !leads_to(generation, route, &address, &folder.join(name)) {
            let address = percent_encode(&address, PATH).to_string();
            if leads_to_a_file(generation, route, &address) {
                return Ok(Spot::Elsewhere(address));
            }
            continue;
        }
        let file = folder.join(name);
        let opened = generation.opener.open(PathWithLinks { root, path: &file, links }).ok();
        if opened.as_ref().is_some_and(|opened| opened.kind.is_dir()) && has_slash_added(route) {
            return Ok(Spot::NoSlash(address));
        }
        if let Some(opened) = opened.filter(|opened| opened.kind.is_file()) {
            if let Some(Some(status)) = route.settings.response.index_redirect {
                return Ok(Spot::Moved(status, percent_encode(&address, PATH).to_string()));
            }
            if has_rules(generation, route) {
                return Ok(Spot::Elsewhere(percent_encode(&address, PATH).to_string()));
            }
            return Ok(Spot::File(FilePlace { file, path: address, extra: 0, opened }));
        }
        if may_find(generation, route, folder, name) {
            return Ok(Spot::Elsewhere(percent_encode(&address, PATH).to_string()));
        }
    }
    match route.settings.response.fallback(&route.path) {
        Some(fallback) if route.settings.handler == Handler::Default => Ok(Spot::Elsewhere(fallback.to_owned())),
        _ if route.settings.options.indexes => Ok(Spot::Folder(itself)),
        _ => Err(Refusal::forbidden(FileCause::NoIndex)),
    }
}

/// Whether rules may apply to the path of an index, which then is a request of its own: a rule that guards
/// `/a/index.html` guards `/a/` too.
fn has_rules(generation: &View, route: &Route) -> bool {
    // A worker runs the phases of the folder's request for its index too.
    if route.settings.has_perl_phases() {
        return false;
    }
    let of_place = &route.settings.response;
    let of_host = generation.config.hosts.get(usize::from(route.host));
    let has_host_rules = of_host.is_some_and(|host| host.rewrite.is_on() || !host.redirects.is_empty());
    has_host_rules || of_place.rewrite.is_on() || !of_place.redirects.is_empty()
}

/// Whether the server's aliases map `path` to `file`.
fn leads_to(generation: &View, route: &Route, path: &[u8], file: &Path) -> bool {
    let mapping = generation.config.translate(route.host, &Text::new(path).0, route.served.as_deref());
    mapping.script_alias == route.script_alias && Text::bytes_of(mapping.filename) == file
}

fn leads_to_a_file(generation: &View, route: &Route, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    let Ok(path) = normalise(path.as_bytes()) else { return false };
    let mapping = generation.config.translate(route.host, &Text::new(&path).0, route.served.as_deref());
    let file = Text::bytes_of(mapping.filename);
    let root = root(&generation.config, route.host, &file);
    let opened = generation.opener.open(PathWithLinks { root, path: &file, links: Links::of(route.settings.options) });
    opened.is_ok_and(|opened| opened.kind.is_file())
}

fn not_found() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND)
}

/// The refusal for a file system error: 403, 404, 500, or 503 when descriptors or memory are short.
pub fn refusal(error: io::Error) -> Refusal {
    if is_link(&error) {
        return Refusal::forbidden(FileCause::SymbolicLink);
    }
    if is_shortage(&error) {
        return Refusal::busy();
    }
    Refusal::new(match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename => StatusCode::NOT_FOUND,
        ErrorKind::PermissionDenied => return Refusal::forbidden(FileCause::Unreadable),
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    })
}
