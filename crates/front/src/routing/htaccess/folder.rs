//! What is known of one folder: its `.htaccess` files, and which folders and links it holds. The latter spares requests for names
//! that do not exist any look at the disk.

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

use super::reading::{FolderVersion, Look, Read, Wanted};
use super::watch::{Sight, Watcher};
use super::{complain, later};
use base::log;
use base::stamp::Stamp;
use config::{Htaccess, Overrides};

/// How many missing names a folder remembers. Clients choose these names, so they must not fill the memory.
const MAX_MISSED: usize = 1000;
/// After so many lists of subfolders that were out of date when they arrived, the folder goes on without a list, and each
/// subfolder is looked for by its name: its contents change faster than they can be listed.
const LISTS: u8 = 3;

pub struct Folder {
    sight: Sight,
    /// When the folder must be looked at again; `None` if it is watched.
    until: Cell<Option<Instant>>,
    /// The stamps of the folder and of its files, by which changes are seen if it is not watched.
    stamps: Vec<Option<Stamp>>,
    version: Cell<FolderVersion>,
    /// The names of folders and links in it; `None` while they are unknown, or when they are too many.
    subfolders: RefCell<Option<HashSet<OsString>>>,
    /// Whether `subfolders` was read, or given up.
    is_listed: Cell<bool>,
    /// How many lists of subfolders were out of date when they arrived.
    old_lists: Cell<u8>,
    /// The names that requests looked for and that did not exist; `None` when they are too many to remember.
    missed: RefCell<Option<HashSet<OsString>>>,
    files: RefCell<Vec<(String, Rc<OverrideFile>)>>,
}

impl Folder {
    /// Begins to watch a folder, the `number`th that was ever looked at. `brief` says that a folder above it is not watched, so
    /// this one may be replaced without an event.
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

    /// Whether the path leads to a folder.
    pub fn exists(&self) -> bool {
        self.sight != Sight::Missing
    }

    /// Whether what is known holds for [`super::RECHECK`] only, because the folder is not watched.
    pub fn is_brief(&self) -> bool {
        self.until.get().is_some()
    }

    /// Whether what is known still holds. A watched folder says so itself; another one is looked at when its time has come.
    pub fn is_current(&self, path: &Path, names: &[String]) -> bool {
        if self.until.get().is_none_or(|until| Instant::now() < until) {
            return true;
        }
        self.until.set(Some(later()));
        self.stamps == stamps(path, names)
    }

    /// Whether the name may lead to a folder below. If not, the name is remembered as missed.
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

    /// Whether a request may have been routed by the fact that this name did not exist. Its route must change when the name appears.
    pub fn was_missed(&self, name: &OsStr) -> bool {
        self.missed.borrow().as_ref().is_none_or(|names| names.contains(name))
    }

    /// The first of the files `names` that exists, parsed for what `allowed` lets it say. `Err` names what must be read first.
    pub fn first_of(&self, path: &Path, names: &[String], allowed: Overrides) -> Result<Rc<OverrideFile>, Wanted> {
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
            _ => Err(Wanted {
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

    /// Keeps what a thread has read, unless the folder has changed since the thread was asked to.
    pub fn learn(&self, look: Look) {
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

    fn keep(&self, name: String, read: Read, allowed: Overrides) {
        let known = self.file(&name);
        let found = match read {
            Read::Absent => OverrideFile::Absent,
            Read::Refused(status, why) => {
                complain(why);
                OverrideFile::Refused(status)
            }
            Read::Text(text, meaning) => {
                let meaning = match meaning {
                    Ok(file) => {
                        let warn =
                            |warning| log::write(config::LogLevel::Warn, "front", &log::Subject::default(), warning);
                        file.warnings.iter().for_each(|warning| warn(warning));
                        Some(file)
                    }
                    Err(error) => {
                        complain(error);
                        None
                    }
                };
                if let Some(OverrideFile::Text(known)) = known.as_deref()
                    && *known.text == text
                {
                    return known.meanings.borrow_mut().push((allowed, meaning));
                }
                OverrideFile::Text(Text { text: text.into(), meanings: RefCell::new(vec![(allowed, meaning)]) })
            }
        };
        self.drop_file(&name);
        self.files.borrow_mut().push((name, Rc::new(found)));
    }

    /// An event says that the file of this name has changed: forgets what it said.
    pub fn forget_file(&self, name: &str) {
        self.version.update(|version| FolderVersion { files: version.files + 1, ..version });
        self.drop_file(name);
    }

    /// Forgets what all of its files said.
    pub fn forget_files(&self) {
        self.files.borrow_mut().clear();
    }

    fn drop_file(&self, name: &str) {
        self.files.borrow_mut().retain(|(known, _)| known != name);
    }

    /// An event says that another entry of the folder has changed. Returns whether that was a folder or a link, because a route
    /// may depend on those.
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

    /// About how many bytes the parsed files of this folder take.
    pub fn memory(&self) -> usize {
        self.files.borrow().iter().map(|(_, found)| found.memory()).sum()
    }
}

fn stamps(path: &Path, names: &[String]) -> Vec<Option<Stamp>> {
    let files = names.iter().map(|name| path.join(name));
    [path.to_owned()].into_iter().chain(files).map(|path| Some(Stamp::of(&fs::metadata(path).ok()?))).collect()
}

/// What was found under a name of `AccessFileName`.
#[derive(Default)]
pub enum OverrideFile {
    /// Nothing.
    #[default]
    Absent,
    /// A file that was read.
    Text(Text),
    /// Something that could not be read, or is no text: requests below it are refused with this status.
    Refused(StatusCode),
}

impl OverrideFile {
    fn memory(&self) -> usize {
        let OverrideFile::Text(text) = self else { return 0 };
        let meanings = text.meanings.borrow();
        meanings.iter().filter_map(|(_, file)| file.as_ref()).map(|file| file.memory).sum()
    }
}

/// The text of a `.htaccess` file, and what it means.
pub struct Text {
    text: Rc<str>,
    /// The parsed file for each `AllowOverride` that was asked with; `None` when it is wrong, which the log has been told.
    meanings: RefCell<Vec<(Overrides, Option<Arc<Htaccess>>)>>,
}

impl Text {
    /// The text as it was read.
    pub fn text(&self) -> &Rc<str> {
        &self.text
    }

    /// The file parsed for what `allowed` lets it say, if that was done already; `Some(None)` when it is wrong.
    pub fn meaning(&self, allowed: Overrides) -> Option<Option<Arc<Htaccess>>> {
        self.meanings.borrow().iter().find(|(known, _)| *known == allowed).map(|(_, file)| file.clone())
    }
}
