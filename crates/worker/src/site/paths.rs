//! Translation of paths that the front has not seen to files and sections.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::location::LocationKey;
use crate::location::htaccess;
use crate::location::htaccess_cache::HtaccessCache;
use base::path::{Text, ways};
use config::{Config, Htaccess, Mapping, ServedName, work};

/// Status, and reason for the log.
pub type Refused = (i32, String);

/// The file and the location of a path.
pub struct TranslatedPath {
    /// The path without `.` and `..`, which could bypass the sections of the target.
    pub path: Vec<u8>,
    /// The file name without `.` and `..`, which could bypass the sections of the target.
    pub filename: Vec<u8>,
    /// The location's key, or a refusal.
    pub key: Result<LocationKey, Refused>,
}

/// Facts that decide the folders of a request, besides its path.
pub struct RequestedHost<'a> {
    /// Index of the virtual host.
    pub host: u16,
    /// The name after which its folders are named: see `VirtualDocumentRoot`.
    pub served: Option<ServedName>,
    /// The document root that a handler has set.
    pub document_root: Option<&'a [u8]>,
}

/// Translates paths as the front does.
pub struct PathTranslation {
    config: Rc<Config>,
    /// The `.htaccess` files read for requests inside this process.
    htaccess: HtaccessCache,
}

impl PathTranslation {
    pub(super) fn new(config: Rc<Config>) -> PathTranslation {
        PathTranslation { config, htaccess: HtaccessCache::default() }
    }

    /// The file and the location of a path. A handler may have set the file, or the document root.
    pub fn translate(&self, path: &[u8], filename: Option<Vec<u8>>, of: &RequestedHost<'_>) -> TranslatedPath {
        let path = plain(path);
        let text = Text::new(&path);
        let host = of.host;
        let mapping = applied(|| match of.document_root {
            Some(root) => Ok(self.config.translate_below(host, &text.0, Path::new(&Text::new(root).0))),
            None => Ok(self.config.translate(host, &text.0, of.served.as_ref())),
        });
        let (mapped, script, refused) = match mapping {
            Ok(Mapping { filename: mapped, script_alias }) => (mapped, script_alias && filename.is_none(), None),
            Err(refused) => (PathBuf::new(), false, Some(refused)),
        };
        let filename = filename.unwrap_or_else(|| Text::bytes_of(mapped).into_os_string().into_vec());
        let filename = plain(&filename);
        let key = match refused {
            Some(refused) => Err(refused),
            None => self.key(host, script, &text, Path::new(OsStr::from_bytes(&filename))),
        };
        TranslatedPath { path, filename, key }
    }

    /// The file of a path after aliases.
    pub fn file_of(&self, path: &[u8], of: &RequestedHost<'_>) -> PathBuf {
        Text::bytes_of(self.config.translate(of.host, &Text::new(path).0, of.served.as_ref()).filename)
    }

    /// The location's key of a path without a file.
    pub fn key_without_file(&self, host: u16, path: &[u8]) -> Result<LocationKey, Refused> {
        let sections = applied(|| Ok(self.config.sections_without_file(host, &Text::new(path).0)))?;
        Ok(LocationKey { host, sections, ..LocationKey::default() })
    }

    /// The location's key of a path and its file.
    pub fn key(&self, host: u16, script: bool, path: &Text, filename: &Path) -> Result<LocationKey, Refused> {
        applied(|| self.key_by_rules(host, script, path, filename))
    }

    fn key_by_rules(&self, host: u16, script: bool, path: &Text, filename: &Path) -> Result<LocationKey, Refused> {
        let (key, files) = self.key_of_file(host, script, path, filename)?;
        let file = self.file_on_the_way(host, &files, filename);
        if self.config.hides(host, file) {
            return Err((403, "client denied by server configuration".to_owned()));
        }
        if file == filename { Ok(key) } else { Ok(self.key_of_file(host, script, path, file)?.0) }
    }

    fn key_of_file(
        &self,
        host: u16,
        script: bool,
        path: &Text,
        filename: &Path,
    ) -> Result<(LocationKey, Vec<Arc<Htaccess>>), Refused> {
        let config = &self.config;
        let named = Text::new(filename.as_os_str().as_bytes()).0;
        let sections = config.sections(host, &path.0, Path::new(&named));
        let overrides = htaccess::found(config, &self.htaccess, host, &sections, filename).map_err(|why| (403, why))?;
        let mut key = LocationKey { host, sections, script, overrides, ..LocationKey::default() };
        let files = htaccess::files(config, &key).map_err(|error| (500, error.to_string()))?;
        let sections = std::mem::take(&mut key.sections);
        key.sections = config.apply(sections, files.clone(), &path.0, Path::new(&named)).sections;
        Ok((key, files))
    }

    /// The first part of `filename` that is a file and so has its own rules; otherwise `filename`. Only names with
    /// rules are looked up on disk.
    fn file_on_the_way<'a>(&self, host: u16, files: &[Arc<Htaccess>], filename: &'a Path) -> &'a Path {
        let ruled = self.config.names_with_rules(files);
        let has_rules = |name: &[u8]| {
            let text = Text::new(name).0;
            self.config.hides_name(host, OsStr::from_bytes(name)) || ruled.iter().any(|regex| regex.is_match(&text))
        };
        let whole = filename.as_os_str().as_bytes();
        for way in ways(whole, 0).take_while(|way| way.len() < whole.len()) {
            if !has_rules(way.rsplit(|byte| *byte == b'/').next().unwrap_or_default()) {
                continue;
            }
            let way = Path::new(OsStr::from_bytes(way));
            match way.metadata() {
                Ok(it) if it.is_dir() => {}
                Ok(it) if it.is_file() => return way,
                // Below a missing path there are no files.
                _ => break,
            }
        }
        filename
    }

    /// The client request is over: cached `.htaccess` files are checked again by the next one.
    pub fn next_request(&self) {
        self.htaccess.next_turn();
    }
}

/// Applies rules that decide about a location. A rule without a result may have denied access, so it is an error.
fn applied<T>(rules: impl FnOnce() -> Result<T, Refused>) -> Result<T, Refused> {
    let allowance = work::Allowance::default();
    let done = allowance.count(rules);
    if allowance.is_used_up() { Err((500, work::Allowance::message())) } else { done }
}

/// Removes `.`, `..` and empty parts of an absolute path.
pub fn plain(path: &[u8]) -> Vec<u8> {
    let Some(relative) = path.strip_prefix(b"/") else { return path.to_vec() };
    let mut parts: Vec<&[u8]> = Vec::new();
    let mut is_folder = false;
    for part in relative.split(|byte| *byte == b'/') {
        is_folder = matches!(part, b"" | b"." | b"..");
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let end: &[u8] = if is_folder && !parts.is_empty() { b"/" } else { b"" };
    [b"/", &parts.join(&b'/')[..], end].concat()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_plain_path_has_no_dot_segments() {
        let cases = [
            ("/", "/"),
            ("/a/b", "/a/b"),
            ("/a/", "/a/"),
            ("/a/../b", "/b"),
            ("/../../b/.", "/b/"),
            ("//a///b//", "/a/b/"),
            ("/a/..", "/"),
            ("a/../b", "a/../b"),
        ];
        for (path, expected) in cases {
            assert_eq!(plain(path.as_bytes()), expected.as_bytes(), "{path}");
        }
    }
}
