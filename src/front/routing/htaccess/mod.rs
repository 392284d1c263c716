//! The `.htaccess` files that apply to a request, found without a system call: what was read is kept per folder and
//! forgotten when the kernel says that something changed there. What cannot be watched is looked at once a second.

mod folder;
mod reading;
mod watch;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;
use nix::sys::inotify::{AddWatchFlags, InotifyEvent};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::config::pattern::OF_HTACCESS;
use crate::config::{Config, Htaccess, Overrides, TOO_HEAVY, depth};
use crate::front::base::blocking::{self, NoThread};
use crate::log;
use folder::{Folder, OverrideFile};
use watch::Watcher;

pub use reading::Unread;

/// Folders that are kept; when there are more, all are forgotten and read again as they are needed.
const MAX_FOLDERS: usize = 4096;
/// What is kept of all files, in bytes; when it is more, all are forgotten, too.
const MOST_MEMORY: usize = 256 << 20;
/// So many read at once: more would only wait for the same processors.
const AT_ONCE: usize = 4;
/// How often what cannot be watched is looked at.
pub const RECHECK: Duration = Duration::from_secs(1);

pub struct Store {
    config: Arc<Config>,
    folders: RefCell<HashMap<PathBuf, Rc<Folder>>>,
    watcher: Watcher,
    /// Every name that `AccessFileName` mentions.
    names: Vec<String>,
    changes: Cell<u64>,
    /// Folders that were ever looked at.
    looked: Cell<u64>,
    reading: Semaphore,
    /// Where the files together were found too heavy, and the log says so.
    complained: RefCell<Option<PathBuf>>,
}

/// The files that apply to a request.
#[derive(Debug, Default)]
pub struct Chain {
    /// Outermost first.
    pub files: Vec<Arc<Htaccess>>,
    /// Their folders and texts, for a worker.
    pub texts: Vec<u8>,
    /// Why nothing may be answered.
    pub refusal: Option<StatusCode>,
    /// A folder on the way is not watched: this holds for [`RECHECK`] only.
    pub brief: bool,
}

impl Store {
    /// Nothing read, nothing watched; `None` when the configuration allows no `.htaccess` anywhere.
    pub fn new(config: &Arc<Config>) -> Option<Rc<Store>> {
        let names = config.hosts.iter().flat_map(|host| host.access_file_names.iter().cloned());
        config.allows_overrides().then(|| {
            Rc::new_cyclic(|store| Store {
                config: config.clone(),
                folders: RefCell::default(),
                watcher: Watcher::start(store.clone()),
                names: names.collect(),
                changes: Cell::new(0),
                looked: Cell::new(0),
                reading: Semaphore::new(AT_ONCE),
                complained: RefCell::default(),
            })
        })
    }

    /// Another number than before: what was worked out from [`Store::chain`] may not hold any more.
    pub fn changes(&self) -> u64 {
        self.changes.get()
    }

    /// The files of the folders of `filename`, itself included when it is a folder; or what must be read to know them.
    pub fn chain(&self, host: u16, sections: &[u16], filename: &Path) -> Result<Chain, Unread> {
        let config = &self.config;
        let allowed: Vec<Overrides> = (1..=depth(filename)).map(|depth| config.overrides(sections, depth)).collect();
        let deepest = allowed.iter().rposition(|allowed| !allowed.is_none()).map_or(0, |at| at + 1);
        let mut chain = Chain::default();
        let mut unread = Vec::new();
        let mut path = PathBuf::new();
        let mut parent: Option<Rc<Folder>> = None;
        for (part, allowed) in filename.components().zip(allowed).take(deepest) {
            if parent.is_some_and(|parent| !parent.may_hold(part.as_os_str())) {
                break;
            }
            path.push(part);
            let folder = self.folder(&path, chain.brief);
            chain.brief |= folder.is_brief();
            if !folder.exists() {
                break;
            }
            if !allowed.is_none() {
                match folder.first_of(&path, config.access_file_names(host), allowed) {
                    Ok(found) => chain.add(&path, &found, allowed),
                    Err(wanted) => unread.push(wanted),
                }
            }
            parent = Some(folder);
        }
        if !unread.is_empty() {
            return Err(Unread { config: config.clone(), folders: unread });
        }
        if chain.files.iter().map(|file| file.weight).sum::<usize>() > OF_HTACCESS {
            self.complain_once(&path);
            chain.refusal = Some(StatusCode::INTERNAL_SERVER_ERROR);
        }
        Ok(chain)
    }

    fn complain_once(&self, folder: &Path) {
        if self.complained.borrow().as_deref() != Some(folder) {
            complain(format_args!("{}: {TOO_HEAVY}", folder.display()));
            *self.complained.borrow_mut() = Some(folder.to_owned());
        }
    }

    /// Waits for a turn to read. Whoever waited asks again first: another may have read the same.
    pub async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.reading.acquire().await.ok()
    }

    /// Reads on another thread what [`Store::chain`] lacks.
    pub async fn read(&self, unread: Unread) -> Result<(), NoThread> {
        let looks = blocking::run("read .htaccess files", move || unread.take()).await?;
        looks.into_iter().for_each(|look| self.learn(look));
        Ok(())
    }

    fn learn(&self, look: reading::Look) {
        let folder = self.folders.borrow().get(&look.path).cloned();
        let Some(folder) = folder else { return };
        folder.learn(look);
        let memory: usize = self.folders.borrow().values().map(|folder| folder.memory()).sum();
        if memory > MOST_MEMORY {
            self.forget(Path::new("/"));
        }
    }

    fn folder(&self, path: &Path, brief: bool) -> Rc<Folder> {
        let known = self.folders.borrow().get(path).cloned();
        match known {
            Some(folder) if folder.is_current(path, &self.names) => return folder,
            Some(_) => self.forget(path),
            None => {}
        }
        if self.folders.borrow().len() >= MAX_FOLDERS {
            self.forget(Path::new("/"));
        }
        self.looked.update(|n| n + 1);
        let folder = Rc::new(Folder::look(path, &self.watcher, &self.names, brief, self.looked.get()));
        self.folders.borrow_mut().insert(path.to_owned(), folder.clone());
        folder
    }

    /// Forgets a folder and all below it. Where none was known, nothing was worked out from one.
    fn forget(&self, path: &Path) {
        let before = self.folders.borrow().len();
        self.folders.borrow_mut().retain(|known, _| {
            let stays = !known.starts_with(path);
            if !stays {
                self.watcher.leave(known);
            }
            stays
        });
        if self.folders.borrow().len() < before {
            self.changed();
        }
    }

    fn changed(&self) {
        self.changes.update(|n| n.wrapping_add(1));
    }

    /// Something happened in a folder.
    fn happened(&self, event: &InotifyEvent) {
        if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
            return self.forget(Path::new("/"));
        }
        for path in self.watcher.paths(event.wd) {
            match &event.name {
                Some(name) => self.happened_to(&path, Path::new(name), event.mask),
                None => self.forget(&path),
            }
        }
    }

    fn happened_to(&self, path: &Path, name: &Path, mask: AddWatchFlags) {
        let folder = self.folders.borrow().get(path).cloned();
        let Some(folder) = folder else { return };
        if self.names.iter().any(|known| Path::new(known) == name) {
            folder.forget_file(&name.to_string_lossy());
            return self.changed();
        }
        let inner = path.join(name);
        if folder.entry_changed(&inner, name.as_os_str(), mask) || self.folders.borrow().contains_key(&inner) {
            let before = self.changes();
            self.forget(&inner);
            if self.changes() == before && folder.was_missed(name.as_os_str()) {
                self.changed();
            }
        }
    }
}

impl Chain {
    fn add(&mut self, folder: &Path, found: &OverrideFile, allowed: Overrides) {
        match found {
            OverrideFile::Absent => {}
            OverrideFile::Refused(status) => self.refusal = self.refusal.or(Some(*status)),
            OverrideFile::Text(text) => match text.meaning(allowed).flatten() {
                Some(file) if file.meter.is_used_up() => {
                    file.meter.untold().into_iter().for_each(complain);
                    // Nobody tells when its time comes again.
                    self.brief = true;
                    self.refusal = Some(StatusCode::INTERNAL_SERVER_ERROR);
                }
                Some(file) => {
                    wire::overrides::put(folder.as_os_str().as_bytes(), text.text(), &mut self.texts);
                    self.files.push(file);
                }
                None => self.refusal = Some(StatusCode::INTERNAL_SERVER_ERROR),
            },
        }
    }
}

/// A moment from which on something is to be looked at again.
fn later() -> Instant {
    Instant::now() + RECHECK
}

/// A line of the error log.
pub fn complain(message: impl Display) {
    log::write(crate::config::LogLevel::Error, "front", None, &message);
}

#[cfg(test)]
mod tests;
