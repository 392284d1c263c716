//! What is to be found out about folders on another thread: which folders they hold, and what their `.htaccess` files say.
//! To read them takes the disk's time, to understand them that of large regular expressions; neither is the event thread's.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::StatusCode;

use crate::config::{Config, ConfigError, Htaccess, LONGEST_HTACCESS, Overrides, regular};

/// In a folder that holds more, each is looked for by its name.
const MAX_LISTED: usize = 10_000;

/// Folders that must be read before it is known which files apply to a request.
pub struct Unread {
    pub(super) config: Arc<Config>,
    pub(super) folders: Vec<Wanted>,
}

/// What is to be found out about one folder.
pub(super) struct Wanted {
    pub path: PathBuf,
    pub version: FolderVersion,
    /// Its folders are not known.
    pub lists: bool,
    /// Which of the names is there first, and what that file says.
    pub names: Vec<String>,
    /// What it may say.
    pub allowed: Overrides,
}

/// A folder as it was when something in it was asked for: what was found counts as long as nothing has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FolderVersion {
    /// Which of the folders that were ever known.
    pub number: u64,
    /// How often folders came to it or left it.
    pub entries: u64,
    /// How often its files changed.
    pub files: u64,
}

/// What was found out about one folder.
pub struct Look {
    pub(super) path: PathBuf,
    pub(super) version: FolderVersion,
    /// Its folders, if they were asked for; `None` in it: too many.
    pub(super) subfolders: Option<Option<HashSet<OsString>>>,
    pub(super) allowed: Overrides,
    pub(super) files: Vec<(String, Read)>,
}

/// What stands under a name.
pub(super) enum Read {
    /// Nothing.
    Absent,
    /// Something that cannot be read, and what a client is told.
    Refused(StatusCode, String),
    /// A text, and what it means.
    Text(String, Result<Arc<Htaccess>, ConfigError>),
}

impl Unread {
    /// Reads it all; may take long.
    pub fn take(self) -> Vec<Look> {
        let config = self.config;
        self.folders.into_iter().map(|wanted| wanted.take(&config)).collect()
    }
}

impl Wanted {
    fn take(self, config: &Config) -> Look {
        let subfolders = self.lists.then(|| folders_in(&self.path).ok().filter(|names| names.len() <= MAX_LISTED));
        let mut files = Vec::new();
        for name in self.names {
            let found = read(config, &self.path, &self.path.join(&name), self.allowed);
            let is_absent = matches!(found, Read::Absent);
            files.push((name, found));
            if !is_absent {
                break;
            }
        }
        Look { path: self.path, version: self.version, subfolders, allowed: self.allowed, files }
    }
}

fn read(config: &Config, folder: &Path, file: &Path, allowed: Overrides) -> Read {
    match text(file) {
        Ok(text) => {
            let meaning = config.htaccess(folder, file, &text, allowed).map(Arc::new);
            Read::Text(text, meaning)
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Read::Absent,
        Err(error) => {
            let status = match error.kind() {
                ErrorKind::InvalidData => StatusCode::INTERNAL_SERVER_ERROR,
                _ => StatusCode::FORBIDDEN,
            };
            let why = format!("{}: cannot be read, what lies below is refused: {error}", file.display());
            Read::Refused(status, why)
        }
    }
}

fn text(file: &Path) -> io::Result<String> {
    let (_, bytes) = regular::read(file, LONGEST_HTACCESS)?;
    if bytes.contains(&0) {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is not a text"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn folders_in(path: &Path) -> io::Result<HashSet<OsString>> {
    let mut names = HashSet::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() || kind.is_symlink() {
            names.insert(entry.file_name());
        }
        if names.len() > MAX_LISTED {
            break;
        }
    }
    Ok(names)
}
