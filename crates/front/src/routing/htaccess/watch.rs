//! Watches folders by inotify(7), for the store of `.htaccess` files. Folders on network file systems, symbolic links,
//! and folders beyond the limit on watches are `Unwatched`; the store checks those itself.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};

use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};
use nix::sys::statfs::statfs;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::{AbortHandle, spawn_local};

use super::{HtaccessStore, log_error};

/// Types of file systems (statfs(2)) that other machines change without an event here: NFS, CIFS, SMB2, 9P, FUSE, Ceph,
/// AFS, Lustre, GPFS, Coda.
const REMOTE: [u32; 10] = [
    0x6969,
    0xff53_4d42,
    0xfe53_4d42,
    0x0102_1997,
    0x6573_5546,
    0x00c3_6400,
    0x5346_414f,
    0x0bd0_0bd0,
    0x4750_4653,
    0x7375_7245,
];

/// Whether a folder exists, and whether its changes are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// The folder exists, and its changes are reported.
    Watched,
    /// The folder exists, but not all of its changes are reported.
    Unwatched,
    /// The folder does not exist. If it is created, the folder above reports that.
    Missing,
}

pub struct Watcher {
    inotify: Option<Rc<Handle>>,
    /// Paths of each watch; a folder may have several.
    paths: RefCell<HashMap<WatchDescriptor, Vec<PathBuf>>>,
    task: Option<AbortHandle>,
    complained: Cell<bool>,
}

struct Handle(Inotify);

impl AsRawFd for Handle {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl Watcher {
    /// Starts a task that passes events to `store` until the watcher or the store is dropped.
    pub fn start(store: Weak<HtaccessStore>) -> Watcher {
        let mut watcher =
            Watcher { inotify: None, paths: RefCell::default(), task: None, complained: Cell::new(false) };
        match listen(store) {
            Ok((inotify, task)) => (watcher.inotify, watcher.task) = (Some(inotify), Some(task)),
            Err(error) => watcher.log_error(&error.to_string()),
        }
        watcher
    }

    /// Begins to watch a folder. Call it before reading the folder, so that no change in between is missed.
    pub fn watch(&self, path: &Path) -> Sight {
        let Some(inotify) = &self.inotify else { return unwatched(path) };
        match inotify.0.add_watch(path, of_interest()) {
            Ok(descriptor) => {
                let mut paths = self.paths.borrow_mut();
                let known = paths.entry(descriptor).or_default();
                if !known.iter().any(|known| known == path) {
                    known.push(path.to_owned());
                }
            }
            Err(Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP | Errno::ENAMETOOLONG) => return Sight::Missing,
            Err(error) => {
                self.log_error(&format!("{}: {}", path.display(), reason(error)));
                return unwatched(path);
            }
        }
        // A change of a path component of the link's target is an event of another folder, which is not watched.
        if is_link(path) || is_remote(path) { Sight::Unwatched } else { Sight::Watched }
    }

    pub fn paths(&self, descriptor: WatchDescriptor) -> Vec<PathBuf> {
        self.paths.borrow().get(&descriptor).cloned().unwrap_or_default()
    }

    pub fn leave(&self, path: &Path) {
        self.paths.borrow_mut().retain(|descriptor, paths| {
            paths.retain(|known| known != path);
            if let (true, Some(inotify)) = (paths.is_empty(), &self.inotify) {
                // Fails for a removed folder, whose watch the kernel has removed already.
                let _ = inotify.0.rm_watch(*descriptor);
            }
            !paths.is_empty()
        });
    }

    fn log_error(&self, reason: &str) {
        if !self.complained.replace(true) {
            log_error(format_args!(
                "folders that cannot be watched are checked for .htaccess files once a second: {reason}"
            ));
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

fn of_interest() -> AddWatchFlags {
    use AddWatchFlags as On;
    let contents = On::IN_CREATE | On::IN_DELETE | On::IN_MOVE | On::IN_MODIFY | On::IN_CLOSE_WRITE | On::IN_ATTRIB;
    contents | On::IN_DELETE_SELF | On::IN_MOVE_SELF | On::IN_ONLYDIR
}

fn reason(error: Errno) -> String {
    match error {
        Errno::ENOSPC => "fs.inotify.max_user_watches is exhausted; raise it".to_owned(),
        Errno::EACCES => "the server's user may not read this folder".to_owned(),
        error => error.to_string(),
    }
}

fn unwatched(path: &Path) -> Sight {
    if fs::metadata(path).is_ok_and(|it| it.is_dir()) { Sight::Unwatched } else { Sight::Missing }
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink())
}

fn is_remote(path: &Path) -> bool {
    statfs(path).is_ok_and(|it| REMOTE.contains(&(it.filesystem_type().0 as u32)))
}

#[allow(deprecated, reason = "the new spelling is unsafe; a Handle owns its descriptor and never changes it")]
fn listen(store: Weak<HtaccessStore>) -> std::io::Result<(Rc<Handle>, AbortHandle)> {
    let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK).map_err(|error| match error {
        Errno::EMFILE => std::io::Error::other("fs.inotify.max_user_instances is exhausted; raise it"),
        error => error.into(),
    })?;
    let inotify = Rc::new(Handle(inotify));
    let events = AsyncFd::with_interest(inotify.clone(), Interest::READABLE)?;
    Ok((inotify, spawn_local(follow(events, store)).abort_handle()))
}

async fn follow(events: AsyncFd<Rc<Handle>>, store: Weak<HtaccessStore>) {
    while let Ok(mut ready) = events.readable().await {
        match events.get_ref().0.read_events() {
            Ok(read) => {
                let Some(store) = store.upgrade() else { return };
                read.iter().for_each(|event| store.happened(event));
            }
            Err(Errno::EAGAIN) => ready.clear_ready(),
            Err(error) => return log_error(format_args!("inotify: {error}")),
        }
    }
}
