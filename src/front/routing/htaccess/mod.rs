//! The `.htaccess` files that apply to a request (httpd manual, howto/htaccess.html and core, AllowOverride). httpd looks for one
//! in each folder on the way at each request; here that costs no system call. What was read is kept per folder and forgotten
//! when inotify reports a change in it (`watch`). A folder that cannot be watched is looked at again once a second (`RECHECK`).
//!
//! ```text
//!   chain ──all folders known──▶ Chain
//!     └─ Unread ─▶ read on a thread (`reading`) ─▶ learn ─▶ chain again
//! ```

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

/// How many folders are kept. When there are more, all are forgotten and read again as they are needed.
const MAX_FOLDERS: usize = 4096;
/// How many bytes the parsed files of all folders may take. When it is more, all are forgotten, too.
const MOST_MEMORY: usize = 256 << 20;
/// How many threads read and parse files at the same time. More would only wait for the same processors.
const AT_ONCE: usize = 4;
/// How often a folder that cannot be watched is looked at.
pub const RECHECK: Duration = Duration::from_secs(1);

pub struct Store {
    config: Arc<Config>,
    folders: RefCell<HashMap<PathBuf, Rc<Folder>>>,
    watcher: Watcher,
    /// Every name that an `AccessFileName` of any host mentions.
    names: Vec<String>,
    changes: Cell<u64>,
    /// How many folders were ever looked at: each gets its number from it (`FolderVersion::number`).
    looked: Cell<u64>,
    reading: Semaphore,
    /// The last folder whose files together were too expensive, so that the log says it once and not at each request.
    complained: RefCell<Option<PathBuf>>,
}

/// The files that apply to a request.
#[derive(Debug, Default)]
pub struct Chain {
    /// Outermost first.
    pub files: Vec<Arc<Htaccess>>,
    /// Their folders and texts, for a worker.
    pub texts: Vec<u8>,
    /// The status that the request is refused with, because a file is wrong, unreadable or too expensive.
    pub refusal: Option<StatusCode>,
    /// Whether a folder on the way is not watched. Then this chain may be used for [`RECHECK`] only.
    pub brief: bool,
}

impl Store {
    /// An empty store; `None` when no section of the configuration allows `.htaccess` files.
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

    /// A number that is another one after each change. Routes that were made from [`Store::chain`] under an earlier one must be made
    /// anew.
    pub fn changes(&self) -> u64 {
        self.changes.get()
    }

    /// The files that apply to `filename`: those of the folders above it, and its own when it is a folder. `Err` names what must
    /// be read before that is known.
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

    /// Waits for a permit to read. The caller then asks [`Store::chain`] again before it reads: another request may have read the
    /// same meanwhile.
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

    /// Forgets a folder and all below it. If none of them was known, no route depends on them, and nothing has changed.
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

    /// Handles one event of inotify.
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
                    // Its allowance of time grows again by itself, without an event: the route must be asked for again.
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

/// When a folder that is not watched must be looked at again.
fn later() -> Instant {
    Instant::now() + RECHECK
}

/// Writes a line to the server's error log.
pub fn complain(message: impl Display) {
    log::write(crate::config::LogLevel::Error, "front", &log::Subject::default(), &message);
}

#[cfg(test)]
mod tests;
