//! One folder as it was found: what is of interest in it.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use http::StatusCode;
use nix::sys::inotify::AddWatchFlags;

use super::watch::{Sight, Watcher};
use super::{complain, later};
use crate::config::{Config, Htaccess, LONGEST_HTACCESS, Overrides, regular};
use crate::log;

/// In a folder that holds more, each is looked for by its name.
const MAX_LISTED: usize = 10_000;

/// Names that were looked for in vain and are remembered; they are strangers' words.
const MAX_MISSED: usize = 1000;

/// See the module's text.
pub struct Folder {
    sight: Sight,
    /// When it must be looked at again, if it is not watched.
    until: Cell<Option<Instant>>,
    stamp: Stamp,
    /// Names of folders and links in it; `None`: not known.
    subfolders: RefCell<Option<HashSet<OsString>>>,
    /// Those that were looked for and not there; `None`: too many to remember.
    missed: RefCell<Option<HashSet<OsString>>>,
    files: RefCell<Vec<(String, Rc<Found>)>>,
}

/// What tells whether something changed, where nobody says so.
type Stamp = Vec<Option<(u64, u64, i64, i64, i64, i64, u64)>>;

impl Folder {
    /// Looks at a folder; `brief`: what is above it is not watched.
    pub fn look(path: &Path, watcher: &Watcher, names: &[String], brief: bool) -> Folder {
        let sight = watcher.watch(path);
        let brief = brief || sight == Sight::Unwatched;
        Folder {
            sight,
            until: Cell::new(brief.then(later)),
            stamp: if brief { stamp(path, names) } else { Stamp::new() },
            subfolders: RefCell::default(),
            missed: RefCell::new(Some(HashSet::new())),
            files: RefCell::default(),
        }
    }

    /// Whether it is there, and a folder.
    pub fn exists(&self) -> bool {
        self.sight != Sight::Missing
    }

    /// Whether it must be looked at again.
    pub fn is_brief(&self) -> bool {
        self.until.get().is_some()
    }

    /// Whether it still is as it was.
    pub fn is_current(&self, path: &Path, names: &[String]) -> bool {
        if self.until.get().is_none_or(|until| Instant::now() < until) {
            return true;
        }
        self.until.set(Some(later()));
        self.stamp == stamp(path, names)
    }

    /// Reads which folders it holds, so that no name in a URL costs a look at the disk.
    pub fn list(&self, path: &Path) {
        let mut subfolders = self.subfolders.borrow_mut();
        if subfolders.is_none() {
            *subfolders = folders_in(path).ok().filter(|names| names.len() <= MAX_LISTED);
        }
    }

    /// Whether something of this name may be a folder.
    pub fn may_hold(&self, name: &OsStr) -> bool {
        let may = self.subfolders.borrow().as_ref().is_none_or(|names| names.contains(name));
        if !may {
            self.miss(name);
        }
        may
    }

    fn miss(&self, name: &OsStr) {
        let mut missed = self.missed.borrow_mut();
        if let Some(names) = &mut *missed
            && !names.contains(name)
        {
            names.insert(name.to_owned());
        }
        *missed = missed.take().filter(|names| names.len() <= MAX_MISSED);
    }

    /// Whether somebody went another way because it was not there.
    pub fn was_missed(&self, name: &OsStr) -> bool {
        self.missed.borrow().as_ref().is_none_or(|names| names.contains(name))
    }

    /// The file of the first of `names` that is there.
    pub fn first_of(&self, path: &Path, names: &[String]) -> Rc<Found> {
        let found = names.iter().map(|name| self.file(path, name));
        found.into_iter().find(|found| !matches!(**found, Found::Absent)).unwrap_or_default()
    }

    fn file(&self, path: &Path, name: &str) -> Rc<Found> {
        let known = self.files.borrow().iter().find(|(known, _)| known == name).map(|(_, found)| found.clone());
        known.unwrap_or_else(|| {
            let found = Rc::new(Found::read(&path.join(name)));
            self.files.borrow_mut().push((name.to_owned(), found.clone()));
            found
        })
    }

    /// The file has changed.
    pub fn forget_file(&self, name: &str) {
        self.files.borrow_mut().retain(|(known, _)| known != name);
    }

    /// Something else has changed in it; says whether that was a folder or a link.
    pub fn entry_changed(&self, inner: &Path, name: &OsStr, mask: AddWatchFlags) -> bool {
        let mut subfolders = self.subfolders.borrow_mut();
        let Some(names) = &mut *subfolders else { return false };
        if mask.intersects(AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MOVED_TO) {
            let is_link = || fs::symlink_metadata(inner).is_ok_and(|it| it.is_symlink());
            let is_folder = mask.contains(AddWatchFlags::IN_ISDIR) || is_link();
            if is_folder {
                names.insert(name.to_owned());
            }
            return is_folder;
        }
        if mask.intersects(AddWatchFlags::IN_DELETE | AddWatchFlags::IN_MOVED_FROM) {
            return names.remove(name);
        }
        false
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

fn stamp(path: &Path, names: &[String]) -> Stamp {
    let of = |it: Metadata| (it.dev(), it.ino(), it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec(), it.size());
    let files = names.iter().map(|name| path.join(name));
    [path.to_owned()].into_iter().chain(files).map(|path| fs::metadata(path).ok().map(of)).collect()
}

/// What stands under a name.
#[derive(Default)]
pub enum Found {
    /// Nothing.
    #[default]
    Absent,
    /// A file that was read.
    Text(Text),
    /// Something that could not be read, or is none of ours.
    Refused(StatusCode),
}

impl Found {
    fn read(file: &Path) -> Found {
        match read(file) {
            Ok(text) => Found::Text(Text { file: file.display().to_string(), text, meanings: RefCell::default() }),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Found::Absent,
            Err(error) => {
                complain(format_args!("{}: cannot be read, what lies below is refused: {error}", file.display()));
                Found::Refused(match error.kind() {
                    ErrorKind::InvalidData => StatusCode::INTERNAL_SERVER_ERROR,
                    _ => StatusCode::FORBIDDEN,
                })
            }
        }
    }
}

fn read(file: &Path) -> io::Result<String> {
    let (_, bytes) = regular::read(file, LONGEST_HTACCESS)?;
    if bytes.contains(&0) {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is not a text"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text of a `.htaccess` file, and what it means.
pub struct Text {
    file: String,
    text: String,
    meanings: RefCell<Vec<(Overrides, Option<Rc<Htaccess>>)>>,
}

impl Text {
    /// As it was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it says where `allowed` is allowed; `None`: something wrong, which the log knows.
    pub fn meaning(&self, config: &Config, folder: &Path, allowed: Overrides) -> Option<Rc<Htaccess>> {
        let known = self.meanings.borrow().iter().find(|(known, _)| *known == allowed).map(|(_, file)| file.clone());
        known.unwrap_or_else(|| {
            let meaning = self.understand(config, folder, allowed);
            self.meanings.borrow_mut().push((allowed, meaning.clone()));
            meaning
        })
    }

    fn understand(&self, config: &Config, folder: &Path, allowed: Overrides) -> Option<Rc<Htaccess>> {
        match config.htaccess(folder, Path::new(&self.file), &self.text, allowed) {
            Ok(file) => {
                for warning in &file.warnings {
                    log::write(crate::config::LogLevel::Warn, "front", None, &warning);
                }
                Some(Rc::new(file))
            }
            Err(error) => {
                complain(error);
                None
            }
        }
    }
}
