//! Reads folders and `.htaccess` files on another thread. Reading waits for the disk, and parsing compiles regular
//! expressions of any size; both take too long for the event thread. An `Unread` lists what to read; the result is a
//! `FolderReading` for each folder.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::StatusCode;

use config::{ChainLoad, Config, ConfigError, Htaccess, Overrides, htaccess_text};

/// Maximum number of names in a list of subfolders. In a larger folder each name is looked up on disk.
const MAX_LISTED: usize = 10_000;

/// Folders that must be read before the files of a request are known.
pub struct Unread {
    pub(super) config: Arc<Config>,
    pub(super) folders: Vec<FolderToRead>,
    /// Sums of the files that are known already.
    pub(super) load: ChainLoad,
}

/// A request to read `.htaccess` files, and on demand the subfolders, of one folder.
pub(super) struct FolderToRead {
    pub path: PathBuf,
    pub version: FolderVersion,
    /// Whether the list of subfolders is needed.
    pub lists: bool,
    /// Names of `AccessFileName`, in order. The first existing file is read.
    pub names: Vec<String>,
    /// Directives that the file may contain.
    pub allowed: Overrides,
}

/// Version of a folder's state. A `FolderReading` has the version at the time of its request, and is dropped if the
/// folder's version differs on arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FolderVersion {
    /// Identifies the folder; a folder that was dropped and found again has another number.
    pub number: u64,
    /// Number of entries created or removed.
    pub entries: u64,
    /// Number of changes of `.htaccess` files.
    pub files: u64,
}

/// Subfolders of one folder, and its files with a name of `AccessFileName`.
pub struct FolderReading {
    pub(super) path: PathBuf,
    pub(super) version: FolderVersion,
    /// Names of subfolders, if requested; `Some(None)` if they are too many or cannot be listed.
    pub(super) subfolders: Option<Option<HashSet<OsString>>>,
    pub(super) allowed: Overrides,
    pub(super) files: Vec<(String, HtaccessReading)>,
}

/// Result of reading a file.
pub(super) enum HtaccessReading {
    /// The file does not exist.
    Absent,
    /// The file cannot be read: status for clients, and message for the log.
    Refused(StatusCode, String),
    /// The text and its parsed form.
    Text(String, Result<Arc<Htaccess>, ConfigError>),
}

impl Unread {
    /// The innermost folder.
    pub(super) fn folder(&self) -> &Path {
        self.folders.last().map_or(Path::new("/"), |wanted| &wanted.path)
    }

    /// Reads and parses from the outermost folder on, until a file is refused, or the files together are too expensive.
    /// The request is then refused whatever the remaining files contain. May block.
    pub fn take(self) -> Vec<FolderReading> {
        let Unread { config, folders, mut load } = self;
        let mut looks = Vec::new();
        for wanted in folders {
            let look = wanted.take(&config);
            let is_refused = look.refuses() || look.meanings().any(|file| !load.bears(file));
            looks.push(look);
            if is_refused {
                break;
            }
        }
        looks
    }
}

impl FolderReading {
    fn refuses(&self) -> bool {
        let is_refusal =
            |read: &HtaccessReading| matches!(read, HtaccessReading::Refused(..) | HtaccessReading::Text(_, Err(_)));
        self.files.iter().any(|(_, read)| is_refusal(read))
    }

    fn meanings(&self) -> impl Iterator<Item = &Htaccess> {
        self.files.iter().filter_map(|(_, read)| match read {
            HtaccessReading::Text(_, Ok(file)) => Some(&**file),
            _ => None,
        })
    }
}

impl FolderToRead {
    fn take(self, config: &Config) -> FolderReading {
        let subfolders = self.lists.then(|| folders_in(&self.path).ok().filter(|names| names.len() <= MAX_LISTED));
        let mut files = Vec::new();
        for name in self.names {
            let found = read(config, &self.path, &self.path.join(&name), self.allowed);
            let is_absent = matches!(found, HtaccessReading::Absent);
            files.push((name, found));
            if !is_absent {
                break;
            }
        }
        FolderReading { path: self.path, version: self.version, subfolders, allowed: self.allowed, files }
    }
}

fn read(config: &Config, folder: &Path, file: &Path, allowed: Overrides) -> HtaccessReading {
    match htaccess_text(file) {
        Ok(text) => {
            let meaning = config.htaccess(folder, file, &text, allowed).map(Arc::new);
            HtaccessReading::Text(text, meaning)
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => HtaccessReading::Absent,
        Err(error) => {
            let status = match error.kind() {
                ErrorKind::InvalidData => StatusCode::INTERNAL_SERVER_ERROR,
                _ => StatusCode::FORBIDDEN,
            };
            let why = format!("{}: cannot be read; requests below its folder are refused: {error}", file.display());
            HtaccessReading::Refused(status, why)
        }
    }
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
