//! Watches files and folders by inotify(7).

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, InotifyEvent, WatchDescriptor};

use super::change::FileChange;
use super::files::{is_skipped, is_source};
use super::message::Message;

/// The most folders that are watched. The kernel's own limit for a user is 8192 on small machines.
const MAX_FOLDERS: usize = 4096;
/// The deepest folder below a watched one; a loop of bind mounts ends here.
const MAX_DEPTH: usize = 24;

/// The watched folders, shared with the thread that reads the events.
pub struct FileWatcher {
    inotify: Inotify,
    watched: Mutex<Watched>,
}

#[derive(Default)]
struct Watched {
    folders: HashMap<WatchDescriptor, Folder>,
    /// Files that matter although their names do not say so.
    files: HashSet<PathBuf>,
}

#[derive(Clone)]
struct Folder {
    path: PathBuf,
    depth: usize,
    /// Whether new folders below it are watched as well.
    whole: bool,
    /// Whether every file in it matters.
    every_file: bool,
}

impl FileWatcher {
    /// Starts the thread that reports changes to `to`.
    pub fn start(to: Sender<Message>) -> anyhow::Result<Arc<FileWatcher>> {
        let watcher =
            Arc::new(FileWatcher { inotify: Inotify::init(InitFlags::IN_CLOEXEC)?, watched: Mutex::default() });
        let reads = Arc::clone(&watcher);
        std::thread::Builder::new().name("watch".to_owned()).spawn(move || reads.report(&to))?;
        Ok(watcher)
    }

    /// Watches the sources in this folder and below.
    pub fn add_tree(&self, path: &Path) {
        self.add(Folder { path: path.to_owned(), depth: 0, whole: true, every_file: false });
    }

    /// Watches every file in this folder and below.
    pub fn add_every_file(&self, path: &Path) {
        self.add(Folder { path: path.to_owned(), depth: 0, whole: true, every_file: true });
    }

    /// Watches this file. The folder is what the kernel watches, because editors replace files.
    pub fn add_file(&self, path: &Path) {
        let is_new = self.watched().files.insert(path.to_owned());
        if let Some(folder) = path.parent().filter(|_| is_new) {
            self.add(Folder { path: folder.to_owned(), depth: 0, whole: false, every_file: false });
        }
    }

    fn add(&self, folder: Folder) {
        if self.watched().folders.len() >= MAX_FOLDERS || folder.depth > MAX_DEPTH {
            return;
        }
        let Ok(descriptor) = self.inotify.add_watch(&folder.path, of_interest()) else { return };
        let whole = folder.whole;
        {
            let mut watched = self.watched();
            let known = watched.folders.entry(descriptor).or_insert_with(|| folder.clone());
            known.whole |= folder.whole;
            known.every_file |= folder.every_file;
        }
        if whole {
            self.add_below(&folder);
        }
    }

    /// A symbolic link is not followed, so that no loop of links exists; a watched folder itself may be one.
    fn add_below(&self, folder: &Folder) {
        let Ok(entries) = std::fs::read_dir(&folder.path) else { return };
        for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            let path = entry.path();
            if !is_skipped(&path) {
                self.add(Folder { path, depth: folder.depth + 1, ..folder.clone() });
            }
        }
    }

    fn report(&self, to: &Sender<Message>) {
        while let Ok(events) = self.inotify.read_events() {
            for change in events.iter().filter_map(|event| self.change(event)) {
                if to.send(Message::Changed(change)).is_err() {
                    return;
                }
            }
        }
    }

    /// The change that an event reports, if it matters.
    fn change(&self, event: &InotifyEvent) -> Option<FileChange> {
        if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
            return Some(FileChange { path: "many files".into(), is_gone: false });
        }
        if event.mask.contains(AddWatchFlags::IN_IGNORED) {
            self.watched().folders.remove(&event.wd);
            return None;
        }
        let folder = self.watched().folders.get(&event.wd).cloned()?;
        let path = folder.path.join(event.name.as_ref()?);
        let is_gone = event.mask.intersects(AddWatchFlags::IN_DELETE | AddWatchFlags::IN_MOVED_FROM);
        if event.mask.contains(AddWatchFlags::IN_ISDIR) {
            if !folder.whole || is_skipped(&path) {
                return None;
            }
            if !is_gone {
                self.add(Folder { path: path.clone(), depth: folder.depth + 1, ..folder });
            }
            // Files in a new folder may have been written before the watch began, so the folder counts as changed.
            return Some(FileChange { path, is_gone: true });
        }
        // A new file is empty until it is closed, but a new link is complete.
        let is_new = event.mask.contains(AddWatchFlags::IN_CREATE);
        if is_new && !path.is_symlink() {
            return None;
        }
        let matters = folder.every_file || (folder.whole && is_source(&path)) || self.watched().files.contains(&path);
        matters.then_some(FileChange { path, is_gone })
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn of_interest() -> AddWatchFlags {
    AddWatchFlags::IN_CLOSE_WRITE
        | AddWatchFlags::IN_CREATE
        | AddWatchFlags::IN_DELETE
        | AddWatchFlags::IN_MOVED_FROM
        | AddWatchFlags::IN_MOVED_TO
        | AddWatchFlags::IN_ONLYDIR
}
