//! Maps paths to the files that rewrite rules name, and back. Paths and names are texts as the configuration reads
//! them ([`Text`]).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use http::StatusCode;

use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use crate::request::files::lookup;
use crate::routing::{Route, bytes};
use base::path::Text;
use config::response::rewrite::{Rewrite, Rewritten};

/// The file that a host's rules name: an absolute path if its first folder exists on disk, or else a path below the
/// document root.
/// The name may contain text from the client, so `..` is refused.
pub fn file_of(context: &RequestContext, route: &Route, made: &Rewritten) -> Result<PathBuf, Refusal> {
    if made.path.contains('\0') || Path::new(&made.path).components().any(|part| part == Component::ParentDir) {
        return Err(Refusal::new(StatusCode::FORBIDDEN));
    }
    let root = document_root(context, route);
    let is_on_disk = || {
        let first = made.path.get(1..).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        !first.is_empty() && context.generation.opener.is_there(&Path::new("/").join(first))
    };
    // As in httpd, a rule's result that begins with the document root names a file by its full path.
    let is_below_root = Path::new(&made.path).starts_with(Text::new(bytes(root)).0);
    let file = match is_below_root || made.names_folder && is_on_disk() {
        true => PathBuf::from(&made.path),
        false => root.join(made.path.trim_start_matches('/')),
    };
    Ok(Text::bytes_of(file))
}

/// Removes empty names and `.` from a path, because file and path sections match the text.
pub fn tidy(path: &str) -> String {
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let names: Vec<&str> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    let end = if path.ends_with('/') || path.ends_with("/.") { "/" } else { "" };
    let end = if names.is_empty() { "" } else { end };
    format!("/{}{end}", names.join("/"))
}

/// `DocumentRoot`, or the folder by `VirtualDocumentRoot` that contains the file.
pub fn document_root<'a>(context: &'a RequestContext, route: &'a Route) -> &'a Path {
    context.generation.config.document_root_of(route.host, &route.filename)
}

/// A filename, split into script and PATH_INFO.
#[derive(Default)]
pub struct PartedName {
    pub file: String,
    pub path_info: String,
    /// Whether the whole filename is that of a folder.
    pub is_folder: bool,
}

/// Splits the filename after the existing file, or else after the first missing name. `/srv/www/wiki/Page/x` becomes
/// `/srv/www/wiki/Page` and `/x` if `/srv/www/wiki` is empty.
pub fn parted(context: &RequestContext, route: &Route) -> PartedName {
    let whole = bytes(&route.filename);
    let (length, is_in_folder) = lookup::existing_part(&context.generation, route.host, &route.filename);
    let (there, rest) = whole.split_at(length.min(whole.len()));
    let next = || rest.iter().skip(1).position(|byte| *byte == b'/').map_or(rest.len(), |at| at + 1);
    let (file, path_info) = whole.split_at(there.len() + if is_in_folder { next() } else { 0 });
    let is_folder = is_in_folder && matches!(rest, b"" | b"/");
    PartedName { file: Text::new(file).0, path_info: Text::new(path_info).0, is_folder }
}

/// The URL path for `made`, into which a folder's rules have rewritten `whole`, the route's file with PATH_INFO.
/// If `made` is a URL path already, it is returned unchanged.
pub fn path_of(document_root: &Path, route: &Route, rules: &Rewrite, made: &str, whole: &str) -> String {
    // Rules of `<If>` have no folder: see `IN_BRANCH` in crates/config.
    let folder = rules.folder.as_deref().filter(|folder| folder.starts_with('/'));
    let in_folder = folder.and_then(|folder| made.strip_prefix(folder));
    if let (Some(base), Some(rest)) = (&rules.base, in_folder) {
        return format!("{base}{rest}");
    }
    let in_root = made.strip_prefix(Text::new(bytes(document_root)).0.as_str());
    if let Some(rest) = in_root.filter(|rest| rest.starts_with('/') && rules.base.is_none()) {
        return rest.to_owned();
    }
    let path = Text::new(&route.path).0;
    if rules.options().ignore_context_info {
        return made.to_owned();
    }
    let led = folder.and_then(|folder| whole.strip_prefix(folder)).and_then(|rest| path.strip_suffix(rest));
    match (led.filter(|led| led.ends_with('/')), in_folder) {
        (Some(led), Some(rest)) => format!("{led}{rest}"),
        _ => made.to_owned(),
    }
}

/// The path that replaces the request's path when a host's rules name `file`. `None`: the PATH_INFO behind `file` is a
/// suffix of the request's path, or no file exists. For example, `^/v/(.*)$ /app.pl/in/$1` turns `/v/x` into
/// `/app.pl/in/x`.
pub fn own_path(context: &RequestContext, route: &Route, made: &Rewritten, file: &Path) -> Option<Vec<u8>> {
    let generation = &context.generation;
    let (there, path_info) = bytes(file).split_at(lookup::existing_length(generation, route.host, file));
    let is_end = route.path.ends_with(path_info);
    let there = Path::new(OsStr::from_bytes(there));
    (!is_end && generation.opener.is_there(there) && !lookup::names_folder(generation, there))
        .then(|| Text::bytes_in(&made.path))
}

/// Whether a folder's path will be redirected to that with a trailing slash.
pub fn lacks_slash(route: &Route) -> bool {
    route.is_static() && !route.path.ends_with(b"/") && route.settings.response.directory_slash != Some(false)
}
