//! State of one folder: its `.htaccess` files, and the names of its subfolders and links. With these names, a request
//! for a missing name needs no look at the disk.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;
use nix::sys::inotify::AddWatchFlags;

use super::reading::{FolderReading, FolderToRead, FolderVersion, HtaccessReading};
use super::watch::{Sight, Watcher};
use super::{later, log_error};
use base::log;
use base::stamp::Stamp;
use config::{Htaccess, Overrides};

/// Maximum number of missing names stored for a folder. Clients choose these names, so they must not fill the memory.
const MAX_MISSED: usize = 1000;
/// Number of outdated lists after which each subfolder is looked up by name instead: the folder's contents
/// change faster than they can be listed.
const LISTS: u8 = 3;

pub struct Folder {
    sight: Sight,
    /// When the folder must be checked again; `None` if it is watched.
    until: Cell<Option<Instant>>,
    /// Stamps of the folder and its files, which reveal changes if the folder is not watched.
    stamps: Vec<Option<Stamp>>,
    version: Cell<FolderVersion>,
    /// Names of subfolders and links; `None`: unknown, or too many to store.
    subfolders: RefCell<Option<HashSet<OsString>>>,
    /// Whether `subfolders` was read, or given up.
    is_listed: Cell<bool>,
    /// Number of lists of subfolders that were outdated on arrival.
    old_lists: Cell<u8>,
    /// Missing names that requests looked for; `None`: too many to store.
    missed: RefCell<Option<HashSet<OsString>>>,
    files: RefCell<Vec<(String, Rc<OverrideFile>)>>,
}

impl Folder {
    /// Begins to watch a folder; `number` identifies it. `brief`: a folder above is not watched, so this one may be
    /// replaced without an event.
    pub fn look(path: &Path, watcher: &Watcher, names: &[String], brief: bool, number: u64) -> Folder {
        let sight = watcher.watch(path);
        let brief = brief || sight == Sight::Unwatched;
        Folder {
            sight,
            until: Cell::new(brief.then(later)),
            stamps: if brief { stamps(path, names) } else { Vec::new() },
            version: Cell::new(FolderVersion { number, entries: 0, files: 0 }),
            subfolders: RefCell::default(),
            is_listed: Cell::new(false),
            old_lists: Cell::new(0),
            missed: RefCell::new(Some(HashSet::new())),
            files: RefCell::default(),
        }
    }

    pub fn exists(&self) -> bool {
        self.sight != Sight::Missing
    }

    /// Whether the state is valid for [`super::RECHECK`] only, because the folder is not watched.
    pub fn is_brief(&self) -> bool {
        self.until.get().is_some()
    }

    /// Whether the state is still valid. Events invalidate a watched folder; another one is checked when its time has
    /// come.
    pub fn is_current(&self, path: &Path, names: &[String]) -> bool {
        if self.until.get().is_none_or(|until| Instant::now() < until) {
            return true;
        }
        self.until.set(Some(later()));
        self.stamps == stamps(path, names)
    }

    /// Whether the name may be a subfolder. If not, the name is stored as missed.
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

    /// Whether a route may depend on the absence of this name, so that it must change when the name appears.
    pub fn was_missed(&self, name: &OsStr) -> bool {
        self.missed.borrow().as_ref().is_none_or(|names| names.contains(name))
    }

    /// The first existing file of `names`, parsed within `allowed`. `Err` names the files that must be read first.
    pub fn first_of(
        &self,
        path: &Path,
        names: &[String],
        allowed: Overrides,
    ) -> Result<Rc<OverrideFile>, FolderToRead> {
        let is_known = |found: &OverrideFile| match found {
            OverrideFile::Text(text) => text.meaning(allowed).is_some(),
            _ => true,
        };
        let mut found = Ok(Rc::default());
        for name in names {
            match self.file(name).filter(|found| is_known(found)) {
                Some(file) if matches!(*file, OverrideFile::Absent) => continue,
                Some(file) => found = Ok(file),
                None => found = Err(()),
            }
            break;
        }
        match found {
            Ok(found) if self.is_listed.get() => Ok(found),
            _ => Err(FolderToRead {
                path: path.to_owned(),
                version: self.version.get(),
                lists: !self.is_listed.get(),
                names: names.to_vec(),
                allowed,
            }),
        }
    }

    fn file(&self, name: &str) -> Option<Rc<OverrideFile>> {
        self.files.borrow().iter().find(|(known, _)| known == name).map(|(_, found)| found.clone())
    }

    /// Stores what a thread has read, unless the folder has changed since the request.
    pub fn learn(&self, look: FolderReading) {
        let version = self.version.get();
        if look.version.number != version.number {
            return;
        }
        if let Some(subfolders) = look.subfolders.filter(|_| !self.is_listed.get()) {
            let is_old = look.version.entries != version.entries;
            self.old_lists.update(|lists| lists.saturating_add(u8::from(is_old)));
            self.is_listed.set(!is_old || self.old_lists.get() >= LISTS);
            *self.subfolders.borrow_mut() = subfolders.filter(|_| !is_old);
        }
        if look.version.files == version.files {
            for (name, read) in look.files {
                self.keep(name, read, look.allowed);
            }
        }
    }

    fn keep(&self, name: String, read: HtaccessReading, allowed: Overrides) {
        let known = self.file(&name);
        let found = match read {
            HtaccessReading::Absent => OverrideFile::Absent,
            HtaccessReading::Refused(status, why) => {
                log_error(why);
                OverrideFile::Refused(status)
            }
            HtaccessReading::Text(text, meaning) => {
                let meaning = match meaning {
                    Ok(file) => {
                        let warn =
                            |warning| log::write(config::LogLevel::Warn, "front", &log::Subject::default(), warning);
                        file.warnings.iter().for_each(|warning| warn(warning));
                        Some(file)
                    }
                    Err(error) => {
                        log_error(error);
                        None
                    }
                };
                if let Some(OverrideFile::Text(known)) = known.as_deref()
                    && *known.text == text
                {
                    return known.meanings.borrow_mut().push((allowed, meaning));
                }
                OverrideFile::Text(FolderHtaccess {
                    text: text.into(),
                    meanings: RefCell::new(vec![(allowed, meaning)]),
                })
            }
        };
        self.drop_file(&name);
        self.files.borrow_mut().push((name, Rc::new(found)));
    }

    /// Handles an event of the file `name`: drops its content.
    pub fn forget_file(&self, name: &str) {
        self.version.update(|version| FolderVersion { files: version.files + 1, ..version });
        self.drop_file(name);
    }

    /// Drops the content of all files.
    pub fn forget_files(&self) {
        self.files.borrow_mut().clear();
    }

    fn drop_file(&self, name: &str) {
        self.files.borrow_mut().retain(|(known, _)| known != name);
    }

    /// Handles an event of another entry. Returns whether that is a folder or link, because a route may depend on it.
    pub fn entry_changed(&self, inner: &Path, name: &OsStr, mask: AddWatchFlags) -> bool {
        let comes = mask.intersects(AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MOVED_TO);
        let leaves = mask.intersects(AddWatchFlags::IN_DELETE | AddWatchFlags::IN_MOVED_FROM);
        if comes || leaves {
            self.version.update(|version| FolderVersion { entries: version.entries + 1, ..version });
        }
        let mut subfolders = self.subfolders.borrow_mut();
        let Some(names) = &mut *subfolders else { return false };
        if comes {
            let is_link = || fs::symlink_metadata(inner).is_ok_and(|it| it.is_symlink());
            let is_folder = mask.contains(AddWatchFlags::IN_ISDIR) || is_link();
            if is_folder {
                names.insert(name.to_owned());
            }
            return is_folder;
        }
        leaves && names.remove(name)
    }

    /// Estimated bytes of the folder's parsed files.
    pub fn memory(&self) -> usize {
        self.files.borrow().iter().map(|(_, found)| found.memory()).sum()
    }
}

fn stamps(path: &Path, names: &[String]) -> Vec<Option<Stamp>> {
    let files = names.iter().map(|name| path.join(name));
    [path.to_owned()].into_iter().chain(files).map(|path| Some(Stamp::of(&fs::metadata(path).ok()?))).collect()
}

/// Result of looking for a name of `AccessFileName`.
#[derive(Default)]
pub enum OverrideFile {
    /// There is no such file.
    #[default]
    Absent,
    /// The content of the file.
    Text(FolderHtaccess),
    /// The file cannot be read, or is not text: requests below it are refused with this status.
    Refused(StatusCode),
}

impl OverrideFile {
    fn memory(&self) -> usize {
        let OverrideFile::Text(text) = self else { return 0 };
        let meanings = text.meanings.borrow();
        meanings.iter().filter_map(|(_, file)| file.as_ref()).map(|file| file.memory).sum()
    }
}

/// The text of a `.htaccess` file and its parsed forms.
pub struct FolderHtaccess {
    text: Rc<str>,
    /// The parsed file for each `AllowOverride` in use; `None` for an invalid file, whose error was logged.
    meanings: RefCell<Vec<(Overrides, Option<Arc<Htaccess>>)>>,
}

impl FolderHtaccess {
    pub fn text(&self) -> &Rc<str> {
        &self.text
    }

    /// The file parsed within `allowed`, if it is stored; `Some(None)`: the file is invalid.
    pub fn meaning(&self, allowed: Overrides) -> Option<Option<Arc<Htaccess>>> {
        self.meanings.borrow().iter().find(|(known, _)| *known == allowed).map(|(_, file)| file.clone())
    }
}
