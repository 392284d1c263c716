//! The cache of open files (`OpenFileCache`). Entries live for one second only, unlike those of nginx's
//! open_file_cache.
//!
//! A file requested twice within that second is opened once. Each use checks the file's stamp by its descriptor, and
//! so notices writes, truncation, replacement, removal and changed permissions.
//! Changes to the folders above a file are noticed after that second.
//! A path through symbolic links is opened for each request, because a site may be replaced by exchanging a link.
//!
//! ```text
//!   Seen ──asked for again──▶ Open ──not as it was──▶ (forgotten)      each is forgotten after a second
//!     └─ asked for again, through a link ─▶ OpenedEachTime
//! ```

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use nix::sys::resource::{Resource, getrlimit};
use tokio::task::spawn_local;
use tokio::time::sleep;

use super::aside::{FileOperation, LookupAttempt, ShortFile};
use base::cache::BoundedCache;
use base::stamp::Stamp;
use config::Config;
use files::names::FolderNames;
use files::open::{
    DiskPatience, Links, OpenedFile, Opener, PathWithLinks, is_shortage, is_there, leads_through_no_link,
};

/// Lifetime of an entry: how long the folders above a file are assumed unchanged.
const KEPT_FOR: Duration = Duration::from_secs(1);
/// A file modified within this time is not cached: another change could leave its stamp the same.
const TICK: Duration = Duration::from_secs(2);
/// Divisor of RLIMIT_NOFILE: cached files of all threads take at most a sixteenth of the descriptors.
const SHARE: u64 = 16;
/// Maximum number of folders whose names are cached: at most about 16 MB for each thread.
const MAX_FOLDERS: usize = 32;
/// Maximum number of short files whose contents are cached: at most 4 MB for each thread.
const MAX_SHORT_FILES: usize = 64;

/// The open files of one thread, for one generation.
#[derive(Debug)]
pub struct OpenFiles {
    opener: Opener,
    most: usize,
    known: Rc<KnownPaths>,
    attempt: RefCell<LookupAttempt>,
    /// Names in folders, with the state of the folder that they describe.
    folders: RefCell<BoundedCache<OsString, (Stamp, Arc<FolderNames>), MAX_FOLDERS>>,
    /// Contents of short files, with the state of the file.
    short_files: RefCell<BoundedCache<OsString, (Stamp, ShortFile), MAX_SHORT_FILES>>,
}

#[derive(Debug, Default)]
struct KnownPaths {
    paths: RefCell<HashMap<OsString, KnownPath>>,
    /// Whether [`forget_in_time`] runs.
    is_watched: Cell<bool>,
}

/// The state of a path, with its age and the root and link rules it was found by.
#[derive(Debug)]
struct KnownPath {
    state: State,
    since: Instant,
    root: OsString,
    links: Links,
}

#[derive(Debug)]
enum State {
    Seen,
    Open(OpenedFile),
    OpenedEachTime,
}

impl OpenFiles {
    /// An empty cache, whose capacity follows from `OpenFileCache` and this thread's share of RLIMIT_NOFILE.
    pub fn new(config: &Config) -> OpenFiles {
        let descriptors = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft);
        let share = descriptors / SHARE / config.clients.threads() as u64;
        let most = usize::try_from(share).unwrap_or(usize::MAX).min(config.open_file_cache as usize);
        OpenFiles {
            opener: Opener::default(),
            most,
            known: Rc::default(),
            attempt: RefCell::default(),
            folders: RefCell::default(),
            short_files: RefCell::default(),
        }
    }

    /// Opens a file as [`Opener::open`] does, or returns the cached one. Call it within [`OpenFiles::within`].
    pub fn open(&self, way: PathWithLinks<'_>) -> io::Result<OpenedFile> {
        if self.most == 0 {
            return self.reach(way);
        }
        if let Some(opened) = self.recall(way) {
            return Ok(opened);
        }
        let opened = match self.reach(way) {
            Err(error) if is_shortage(&error) => {
                self.known.paths.borrow_mut().clear();
                self.reach(way)
            }
            answer => answer,
        }?;
        self.keep(way, &opened);
        Ok(opened)
    }

    /// See [`Opener::is_refused`].
    pub fn is_refused(&self, way: PathWithLinks<'_>) -> bool {
        let answer = self
            .attempt
            .borrow_mut()
            .answer(FileOperation::Refused, way, || self.opener.is_refused(way, DiskPatience::None));
        answer.unwrap_or(true)
    }

    /// Whether the path exists, as a file of any type.
    pub fn is_there(&self, path: &Path) -> bool {
        let way = PathWithLinks { root: path, path, links: Links::Follow };
        let answer = self.attempt.borrow_mut().answer(FileOperation::There, way, || is_there(path, DiskPatience::None));
        answer.unwrap_or(false)
    }

    /// The names of the files in a folder, read again whenever the folder has changed.
    pub fn names(&self, way: PathWithLinks<'_>) -> io::Result<Arc<FolderNames>> {
        let now = self.open(way)?.stamp;
        if let Some((then, names)) = self.folders.borrow_mut().get(way.path.as_os_str())
            && *then == now
        {
            return Ok(names.clone());
        }
        let (stamp, names) = self.attempt.borrow_mut().names(way)?;
        if stamp.age_at(SystemTime::now()) > TICK {
            self.folders.borrow_mut().put(way.path.into(), (stamp, names.clone()));
        }
        Ok(names)
    }

    /// The contents of a short file, read again whenever the file has changed; `None` if the file is too long.
    pub fn contents(&self, way: PathWithLinks<'_>) -> io::Result<ShortFile> {
        let now = self.open(way)?.stamp;
        if let Some((then, contents)) = self.short_files.borrow_mut().get(way.path.as_os_str())
            && *then == now
        {
            return Ok(contents.clone());
        }
        let (stamp, contents) = self.attempt.borrow_mut().contents(way)?;
        if stamp.age_at(SystemTime::now()) > TICK {
            self.short_files.borrow_mut().put(way.path.into(), (stamp, contents.clone()));
        }
        Ok(contents)
    }

    fn reach(&self, way: PathWithLinks<'_>) -> io::Result<OpenedFile> {
        self.attempt.borrow_mut().file(way, || self.opener.open(way, DiskPatience::None))
    }

    /// Runs the lookup `ask` with the fetched results in `attempt`.
    pub fn within<T>(&self, attempt: &RefCell<LookupAttempt>, ask: impl FnOnce() -> T) -> T {
        self.attempt.swap(attempt);
        let answer = ask();
        self.attempt.swap(attempt);
        answer
    }

    /// The cached file, if its stamp is unchanged.
    fn recall(&self, way: PathWithLinks<'_>) -> Option<OpenedFile> {
        let mut paths = self.known.paths.borrow_mut();
        let known = paths.get(way.path.as_os_str()).filter(|known| known.is_about(way))?;
        let State::Open(opened) = &known.state else { return None };
        match Stamp::of_open(&opened.file) {
            Ok(now) if now == opened.stamp => Some(opened.clone()),
            _ => {
                paths.remove(way.path.as_os_str());
                None
            }
        }
    }

    /// Notes a request for `opened`, and caches the file from the second one on.
    fn keep(&self, way: PathWithLinks<'_>, opened: &OpenedFile) {
        let is_settled = opened.stamp.age_at(SystemTime::now()) > TICK;
        if !is_settled || !(opened.kind.is_file() || opened.kind.is_dir()) {
            return;
        }
        let name = way.path.as_os_str();
        let mut paths = self.known.paths.borrow_mut();
        let state = match paths.get(name).filter(|known| known.is_about(way)).map(|known| &known.state) {
            Some(State::Open(_) | State::OpenedEachTime) => return,
            Some(State::Seen) => match has_plain_path(way.path, opened) {
                Ok(true) => State::Open(opened.clone()),
                Ok(false) => State::OpenedEachTime,
                // The link check would block. A file that another thread opens comes with the check's result.
                Err(_) => return,
            },
            None => State::Seen,
        };
        if paths.len() < self.most || paths.contains_key(name) {
            let (root, links) = (way.root.into(), way.links);
            paths.insert(name.into(), KnownPath { state, since: Instant::now(), root, links });
            if !self.known.is_watched.replace(true) {
                spawn_local(forget_in_time(Rc::downgrade(&self.known)));
            }
        }
    }

    /// Lets the opener trust a result from another thread as its own (see [`Opener::open`]).
    pub fn trust_result(&self, way: PathWithLinks<'_>, opened: &OpenedFile) {
        if way.links == Links::OwnersMatch {
            // On an error the opener walks the path again.
            let _ = self.opener.trust_result(way, opened);
        }
    }
}

fn has_plain_path(path: &Path, opened: &OpenedFile) -> io::Result<bool> {
    opened.has_plain_path.map_or_else(|| leads_through_no_link(path, opened, DiskPatience::None), Ok)
}

impl KnownPath {
    fn is_fresh(&self) -> bool {
        self.since.elapsed() < KEPT_FOR
    }

    /// Whether the entry was found by this root and these link rules, and has not expired.
    fn is_about(&self, way: PathWithLinks<'_>) -> bool {
        self.root == way.root.as_os_str() && self.links == way.links && self.is_fresh()
    }
}

/// Closes expired files. An open file that was removed occupies disk space until it is closed.
async fn forget_in_time(known: Weak<KnownPaths>) {
    loop {
        sleep(KEPT_FOR).await;
        let Some(known) = known.upgrade() else { return };
        let mut paths = known.paths.borrow_mut();
        paths.retain(|_, known| known.is_fresh());
        if paths.is_empty() {
            return known.is_watched.set(false);
        }
    }
}
