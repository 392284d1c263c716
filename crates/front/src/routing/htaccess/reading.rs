//! Reads folders and `.htaccess` files on another thread. Reading waits for the disk and parsing compiles regular expressions of
//! any size, both too long for the event thread. A request hands out an `Unread` and gets back a `Look` for each folder.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::StatusCode;

use config::{ChainLoad, Config, ConfigError, Htaccess, LONGEST_HTACCESS, Overrides, regular};

/// The longest list of subfolders that is kept. In a larger folder each name is looked for on disk.
const MAX_LISTED: usize = 10_000;

/// Folders that must be read before it is known which files apply to a request.
pub struct Unread {
    pub(super) config: Arc<Config>,
    pub(super) folders: Vec<Wanted>,
    /// What the files come to that are known already.
    pub(super) load: ChainLoad,
}

/// What is to be found out about one folder.
pub(super) struct Wanted {
    pub path: PathBuf,
    pub version: FolderVersion,
    /// Whether the list of its subfolders is wanted, too.
    pub lists: bool,
    /// The names of `AccessFileName`, in order. The first that exists is read.
    pub names: Vec<String>,
    /// What the file may say.
    pub allowed: Overrides,
}

/// Counts the changes of a folder. A `Look` carries the version that was current when it was asked for, and is dropped when the
/// folder has another one by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FolderVersion {
    /// The number of the folder: one that was forgotten and found again has another.
    pub number: u64,
    /// How often an entry came or went.
    pub entries: u64,
    /// How often one of its `.htaccess` files changed.
    pub files: u64,
}

/// What was found out about one folder.
pub struct Look {
    pub(super) path: PathBuf,
    pub(super) version: FolderVersion,
    /// The names of its subfolders, if they were wanted; `Some(None)` when they are too many or cannot be listed.
    pub(super) subfolders: Option<Option<HashSet<OsString>>>,
    pub(super) allowed: Overrides,
    pub(super) files: Vec<(String, Read)>,
}

/// What was found under a name.
pub(super) enum Read {
    /// Nothing.
    Absent,
    /// Something that cannot be read: the status for clients, and the line for the log.
    Refused(StatusCode, String),
    /// A text, and what it says.
    Text(String, Result<Arc<Htaccess>, ConfigError>),
}

impl Unread {
    /// The innermost folder.
    pub(super) fn folder(&self) -> &Path {
        self.folders.last().map_or(Path::new("/"), |wanted| &wanted.path)
    }

    /// Reads and parses from the outermost folder on, until the files are too much together: then what is known refuses the request,
    /// whatever the others say. Runs on a thread for blocking work.
    pub fn take(self) -> Vec<Look> {
        let Unread { config, folders, mut load } = self;
        let mut looks = Vec::new();
        for wanted in folders {
            let look = wanted.take(&config);
            let is_too_much = look.meanings().any(|file| !load.bears(file));
            looks.push(look);
            if is_too_much {
                break;
            }
        }
        looks
    }
}

impl Look {
    fn meanings(&self) -> impl Iterator<Item = &Htaccess> {
        self.files.iter().filter_map(|(_, read)| match read {
            Read::Text(_, Ok(file)) => Some(&**file),
            _ => None,
        })
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
