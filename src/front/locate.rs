//! Looks on disk for what a path names.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use http::StatusCode;

use super::error_page::Refusal;
use super::route::{Route, bytes};
use crate::config::Config;

/// A place on disk that a path leads to.
pub enum Spot {
    /// A file.
    File(Place),
    /// A folder without a slash at the end of its path.
    NoSlash,
}

/// A file and how it was named.
pub struct Place {
    /// Where it is.
    pub file: PathBuf,
    /// The path that names it, an index file's name included.
    pub path: Vec<u8>,
    /// How many bytes at the path's end are not part of the file's name.
    pub extra: usize,
}

/// Finds the file that `filename`, or a beginning of it, names.
pub fn locate(route: &Route, filename: &Path) -> Result<Spot, Refusal> {
    let whole = bytes(filename);
    let mut name = whole;
    let metadata = loop {
        match std::fs::metadata(OsStr::from_bytes(name)) {
            Ok(metadata) => break metadata,
            Err(error) if is_missing(&error) => name = parent(name).ok_or_else(not_found)?,
            Err(error) => return Err(refusal(error)),
        }
    };
    let extra = &whole[name.len()..];
    if metadata.is_dir() {
        return match (extra, route.path.ends_with(b"/")) {
            (b"" | b"/", true) => index(route, filename),
            (b"", false) => Ok(Spot::NoSlash),
            _ => Err(not_found()),
        };
    }
    if !route.path.ends_with(extra) {
        return Err(not_found());
    }
    let file = PathBuf::from(OsStr::from_bytes(name));
    Ok(Spot::File(Place { file, path: route.path.clone(), extra: extra.len() }))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn parent(name: &[u8]) -> Option<&[u8]> {
    let slash = name.iter().rposition(|byte| *byte == b'/').filter(|at| *at > 0)?;
    Some(&name[..slash])
}

fn index(route: &Route, folder: &Path) -> Result<Spot, Refusal> {
    for name in &route.settings.directory_index {
        let file = folder.join(name);
        if std::fs::metadata(&file).is_ok_and(|metadata| metadata.is_file()) {
            let path = [&route.path[..], name.as_bytes()].concat();
            return Ok(Spot::File(Place { file, path, extra: 0 }));
        }
    }
    Err(Refusal::new(StatusCode::FORBIDDEN))
}

fn not_found() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND)
}

/// What a client is told when the disk says no.
pub fn refusal(error: io::Error) -> Refusal {
    Refusal::new(match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename => StatusCode::NOT_FOUND,
        ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    })
}

/// `Options` about symbolic links.
pub fn allowed(config: &Config, route: &Route) -> Result<(), Refusal> {
    let options = route.settings.options;
    let followed = options.follow_sym_links
        || below(root(config, route.host, &route.filename), &route.filename).all(
            |path| match std::fs::symlink_metadata(path) {
                Ok(link) if link.is_symlink() => options.sym_links_if_owner_match && owners_match(path, &link),
                _ => true,
            },
        );
    if !followed { Err(Refusal::new(StatusCode::FORBIDDEN)) } else { Ok(()) }
}

fn owners_match(path: &Path, link: &Metadata) -> bool {
    std::fs::metadata(path).is_ok_and(|target| target.uid() == link.uid())
}

/// The longest DocumentRoot or Alias that the file lies in: what is above it is the administrator's, not the site's.
pub fn root<'a>(config: &'a Config, host: u16, file: &Path) -> &'a Path {
    let host = &config.hosts[usize::from(host)];
    let roots = host.aliases.iter().map(|alias| alias.to.as_path()).chain([host.document_root.as_path()]);
    let around = roots.filter(|root| file.starts_with(root));
    around.max_by_key(|root| root.components().count()).unwrap_or(Path::new("/"))
}

fn below<'a>(root: &'a Path, file: &'a Path) -> impl Iterator<Item = &'a Path> {
    file.ancestors().take_while(move |path| *path != root)
}
