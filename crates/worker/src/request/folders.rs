//! Folders as targets of internal redirects, error pages and subrequests: the index answers, as in mod_dir. A
//! client's own request for a folder is handled by the front.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use apache::InternalRequest;
use percent_encoding::percent_encode;

use super::phases::RequestKind;
use crate::location::ResolvedLocation;
use crate::site::Site;
use base::path::{PATH, Text, normalise, stays_below};

/// The result for a folder.
enum Folder {
    /// The request is redirected to this URI.
    Index(Vec<u8>),
    /// The URI lacks the trailing slash; redirect the client to this URI.
    Moved(Vec<u8>),
    /// The folder has no index.
    Bare,
}

impl Site {
    /// Answers an internal request whose file is a folder. Returns false for other files, and for folders that may be
    /// listed.
    pub(super) fn conclude_with_folder(&self, request: u64, location: &ResolvedLocation, file: &[u8]) -> bool {
        match self.folder(request, location, file) {
            Some(Folder::Index(uri)) => {
                if !self.redirect_to(request, InternalRequest::Redirect, &uri, false) {
                    self.conclude_with_error(request, location, 500);
                }
            }
            Some(Folder::Moved(uri)) => {
                apache::set_location(request, &uri);
                self.conclude_with_error(request, location, 301);
            }
            Some(Folder::Bare) if !location.settings.options.indexes => {
                self.conclude_with_error(request, location, 403)
            }
            Some(Folder::Bare) | None => return false,
        }
        true
    }

    /// Answers a subrequest that no handler answered: with a file, or the index of a folder.
    pub(super) fn answer_part(&self, sub: u64, location: &ResolvedLocation, file: &[u8]) -> i32 {
        match self.folder(sub, location, file) {
            Some(Folder::Index(uri)) => {
                let target = self.target(sub, &uri).ok();
                let index = target.and_then(|to| self.look_up(sub, &to, RequestKind::Sub));
                index.map_or(404, |index| self.run_sub(index))
            }
            Some(Folder::Moved(_)) => 301,
            Some(Folder::Bare) => 403,
            None => self.copy_file(sub, location, file),
        }
    }

    /// Whether a subrequest names a folder without the trailing slash.
    pub(super) fn lacks_slash(&self, sub: u64, location: &ResolvedLocation) -> bool {
        self.handler_of(location, sub).is_about_a_file()
            && matches!(self.folder(sub, location, &apache::filename(sub)), Some(Folder::Moved(_)))
    }

    /// Whether the front answers a request for a folder of programs. As in mod_dir, the answer is the folder's index or a
    /// redirect to the URI with a slash.
    pub(super) fn is_the_servers_folder(&self, location: &ResolvedLocation, request: u64) -> bool {
        let file = apache::filename(request);
        matches!(self.folder(request, location, &file), Some(Folder::Index(_) | Folder::Moved(_)))
    }

    fn folder(&self, request: u64, location: &ResolvedLocation, file: &[u8]) -> Option<Folder> {
        let folder = Path::new(OsStr::from_bytes(file));
        if !folder.is_dir() {
            return None;
        }
        let asked = apache::set_by_handlers(request);
        if asked.uri.ends_with(b"/") {
            let index = self.index_of(request, location, folder, &asked.uri);
            return Some(index.map_or(Folder::Bare, |index| Folder::Index(with_query(index, &asked.args))));
        }
        let moves = location.settings.response.directory_slash != Some(false) && asked.uri.starts_with(b"/");
        let there = encoded(&[&asked.uri[..], b"/"].concat());
        Some(if moves { Folder::Moved(with_query(there, &asked.args)) } else { Folder::Bare })
    }

    /// The first name of `DirectoryIndex` that exists as a file. The last name may be a path of the site without a
    /// file.
    fn index_of(&self, request: u64, location: &ResolvedLocation, folder: &Path, uri: &[u8]) -> Option<Vec<u8>> {
        let names = &location.settings.directory_index;
        // An alias may map the name in the folder elsewhere, unless a handler named the folder.
        let is_plain = self.file_of(request, uri) == folder;
        let is_in_folder = |name: &str| match is_plain {
            true => self.file_of(request, &[uri, name.as_bytes()].concat()).is_file(),
            false => folder.join(name).is_file(),
        };
        let is_there = |name: &&String| match name.starts_with('/') {
            true => names.last() == Some(*name) || self.leads_to_a_file(request, name),
            false => stays_below(name) && is_in_folder(name),
        };
        let name = names.iter().find(is_there)?;
        Some(if name.starts_with('/') { name.clone().into_bytes() } else { encoded(&[uri, name.as_bytes()].concat()) })
    }

    fn leads_to_a_file(&self, request: u64, path: &str) -> bool {
        let path = path.split('?').next().unwrap_or_default();
        normalise(path.as_bytes()).is_ok_and(|path| self.file_of(request, &path).is_file())
    }

    /// The file of a path after aliases.
    fn file_of(&self, request: u64, path: &[u8]) -> PathBuf {
        let host = apache::requested(request).host;
        Text::bytes_of(self.config.translate(host, &Text::new(path).0).filename)
    }
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
