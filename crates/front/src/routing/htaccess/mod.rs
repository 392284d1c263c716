//! The `.htaccess` files that apply to a request (httpd manual, howto/htaccess.html and core, AllowOverride). httpd
//! looks for one in each folder at each request; Cameleer needs no system call for that. Files are stored for each
//! folder and dropped when inotify reports a change (`watch`). A folder that cannot be watched is checked once a second
//! (`RECHECK`).
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

use crate::base::blocking::{self, NoThread};
use crate::base::fair::{Claimant, FairQueue, FairTurn};
use base::log;
use config::{ChainLoad, Config, Htaccess, Overrides, TOO_HEAVY, depth};
use folder::{Folder, OverrideFile};
use watch::Watcher;

pub use reading::Unread;

/// Maximum number of stored folders. When there are more, all are dropped and read again on demand.
const MAX_FOLDERS: usize = 4096;
/// Maximum number of bytes of all parsed files. When there are more, the largest are dropped.
const MAX_MEMORY_BYTES: usize = 40 << 20;
/// Maximum number of bytes of texts stored for workers.
const MAX_TEXT_BYTES: usize = 4 << 20;
/// Limits reading and parsing to two threads, because more would compete for the same processors.
static READING: FairQueue = FairQueue::new(2, 0);
/// Interval of checks of a folder that cannot be watched.
pub const RECHECK: Duration = Duration::from_secs(1);

pub struct HtaccessStore {
    config: Arc<Config>,
    folders: RefCell<HashMap<PathBuf, Rc<Folder>>>,
    watcher: Watcher,
    /// All names in the `AccessFileName`s of all hosts.
    names: Vec<String>,
    changes: Cell<u64>,
    /// Number of folders looked at so far; assigns `FolderVersion::number`.
    looked: Cell<u64>,
    /// Texts of files that apply together, encoded for workers.
    texts: RefCell<Texts>,
    /// The last folder whose files together were too expensive, so that the error is logged once rather than for each
    /// request.
    complained: RefCell<Option<PathBuf>>,
}

/// The `.htaccess` files that apply to a request.
#[derive(Debug, Default)]
pub struct Chain {
    /// Files, outermost first.
    pub files: Vec<Arc<Htaccess>>,
    /// Folders and texts of the files, for a worker; shared by all requests with the same files.
    pub texts: Rc<[u8]>,
    /// Status of a refusal, because a file is invalid, unreadable or too expensive.
    pub refusal: Option<StatusCode>,
    /// Whether a folder is not watched, so that this chain is valid for [`RECHECK`] only.
    pub brief: bool,
}

impl HtaccessStore {
    /// Creates an empty store; `None` if the configuration allows no `.htaccess` files.
    pub fn new(config: &Arc<Config>) -> Option<Rc<HtaccessStore>> {
        let names = config.hosts.iter().flat_map(|host| host.access_file_names.iter().cloned());
        config.allows_overrides().then(|| {
            Rc::new_cyclic(|store| HtaccessStore {
                config: config.clone(),
                folders: RefCell::default(),
                watcher: Watcher::start(store.clone()),
                names: names.collect(),
                changes: Cell::new(0),
                looked: Cell::new(0),
                texts: RefCell::default(),
                complained: RefCell::default(),
            })
        })
    }

    /// A counter of changes of stored folders and files. Routes made from [`HtaccessStore::chain`] at another value
    /// must be made anew.
    pub fn changes(&self) -> u64 {
        self.changes.get()
    }

    /// The files that apply to `filename`: those of its ancestors, and its own if it is a folder. `Err` names the files
    /// that must be read first.
    pub fn chain(&self, host: u16, sections: &[u16], filename: &Path) -> Result<Chain, Unread> {
        let config = &self.config;
        let allowed: Vec<Overrides> = (1..=depth(filename)).map(|depth| config.overrides(sections, depth)).collect();
        let deepest = allowed.iter().rposition(|allowed| !allowed.is_none()).map_or(0, |at| at + 1);
        let (mut chain, mut found) = (Chain::default(), ChainSums::default());
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
                    Ok(file) => chain.add(&path, &file, allowed, &mut found),
                    Err(wanted) => unread.push(wanted),
                }
            }
            if found.is_too_much {
                self.log_error_once(&path);
                return Ok(Chain {
                    refusal: Some(StatusCode::INTERNAL_SERVER_ERROR),
                    brief: chain.brief,
                    ..Chain::default()
                });
            }
            // Deeper files would cost time, and could not change the refusal.
            if chain.refusal.is_some() {
                break;
            }
            parent = Some(folder);
        }
        if !unread.is_empty() {
            return Err(Unread { config: config.clone(), folders: unread, load: found.load });
        }
        chain.texts = self.texts.borrow_mut().of(&chain.files, &found.places);
        Ok(chain)
    }

    fn log_error_once(&self, folder: &Path) {
        if self.complained.borrow().as_deref() != Some(folder) {
            log_error(format_args!("{}: {TOO_HEAVY}", folder.display()));
            *self.complained.borrow_mut() = Some(folder.to_owned());
        }
    }

    /// Waits for the folder's turn to read. Ask [`HtaccessStore::chain`] again afterwards, because another request may
    /// have read the same files.
    pub async fn turn(&self, unread: &Unread) -> Option<FairTurn> {
        READING.turn(Claimant::new(unread.folder(), None), 0).await
    }

    /// Reads what [`HtaccessStore::chain`] needs, on another thread.
    pub async fn read(&self, unread: Unread, turn: Option<FairTurn>) -> Result<(), NoThread> {
        let (looks, _turn) = blocking::run("read .htaccess files", move || (unread.take(), turn)).await?;
        looks.into_iter().for_each(|look| self.learn(look));
        Ok(())
    }

    fn learn(&self, look: reading::FolderReading) {
        let folder = self.folders.borrow().get(&look.path).cloned();
        let Some(folder) = folder else { return };
        let path = look.path.clone();
        folder.learn(look);
        self.make_room(&path);
    }

    /// Drops the largest files when all together are too large, except those that apply in `folder`, which a request
    /// needs now.
    fn make_room(&self, folder: &Path) {
        let mut sizes: Vec<_> =
            self.folders.borrow().values().map(|folder| (folder.memory(), folder.clone())).collect();
        let mut memory: usize = sizes.iter().map(|(size, _)| size).sum();
        if memory <= MAX_MEMORY_BYTES {
            return;
        }
        let around: Vec<_> = folder.ancestors().filter_map(|path| self.folders.borrow().get(path).cloned()).collect();
        sizes.retain(|(_, folder)| !around.iter().any(|around| Rc::ptr_eq(around, folder)));
        sizes.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
        for (size, folder) in sizes {
            if memory <= MAX_MEMORY_BYTES / 4 * 3 {
                break;
            }
            folder.forget_files();
            memory -= size;
        }
        self.texts.take();
        self.changed();
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

    /// Drops a folder and all below it. If none was stored, no route depends on them.
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

/// Sums of a chain's files while they are collected.
#[derive(Default)]
struct ChainSums {
    load: ChainLoad,
    is_too_much: bool,
    /// Folders and texts of the files.
    places: Vec<(PathBuf, Rc<str>)>,
}

/// Encoded texts by the addresses of their files, which the table keeps alive.
#[derive(Default)]
struct Texts {
    known: HashMap<Vec<*const Htaccess>, TextsOfFiles>,
    size: usize,
}

/// Files, and their texts encoded for a worker.
type TextsOfFiles = (Vec<Arc<Htaccess>>, Rc<[u8]>);

impl Texts {
    fn of(&mut self, files: &[Arc<Htaccess>], places: &[(PathBuf, Rc<str>)]) -> Rc<[u8]> {
        if files.is_empty() {
            return Rc::default();
        }
        let addresses: Vec<_> = files.iter().map(Arc::as_ptr).collect();
        if let Some((_, texts)) = self.known.get(&addresses) {
            return texts.clone();
        }
        let mut texts = Vec::new();
        for (folder, text) in places {
            wire::overrides::put(folder.as_os_str().as_bytes(), text, &mut texts);
        }
        let texts: Rc<[u8]> = texts.into();
        self.size += texts.len();
        if self.size > MAX_TEXT_BYTES {
            (self.size, self.known) = (texts.len(), HashMap::new());
        }
        self.known.insert(addresses, (files.to_vec(), texts.clone()));
        texts
    }
}

impl Chain {
    fn add(&mut self, folder: &Path, file: &OverrideFile, allowed: Overrides, found: &mut ChainSums) {
        match file {
            OverrideFile::Absent => {}
            OverrideFile::Refused(status) => self.refusal = self.refusal.or(Some(*status)),
            OverrideFile::Text(text) => match text.meaning(allowed).flatten() {
                Some(file) if file.meter.is_used_up() => {
                    file.meter.unlogged().into_iter().for_each(log_error);
                    // The time budget recovers without an event, so the route must be computed again.
                    self.brief = true;
                    self.refusal = Some(StatusCode::INTERNAL_SERVER_ERROR);
                }
                Some(file) => {
                    found.is_too_much |= !found.load.bears(&file);
                    found.places.push((folder.to_owned(), text.text().clone()));
                    self.files.push(file);
                }
                None => self.refusal = Some(StatusCode::INTERNAL_SERVER_ERROR),
            },
        }
    }
}

/// When a folder that is not watched must be checked again.
fn later() -> Instant {
    Instant::now() + RECHECK
}

/// Writes a line to the server's error log.
pub fn log_error(message: impl Display) {
    log::write(config::LogLevel::Error, "front", &log::Subject::default(), &message);
}

#[cfg(test)]
mod tests;
