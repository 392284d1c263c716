//! Files that stay open between requests (`OpenFileCache`), as nginx's open_file_cache keeps them, but for a second only. A file
//! that is asked for twice within that second is opened once; each use looks by its descriptor whether it is as it was. That
//! shows whatever happens to the file itself: it is written, truncated, replaced, removed, its permissions change. What happens
//! to the folders above it is seen when the second is over; a path through symbolic links is opened each time, because a site
//! may be replaced by exchanging one.
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
use std::time::{Duration, Instant, SystemTime};

use nix::sys::resource::{Resource, getrlimit};
use tokio::task::spawn_local;
use tokio::time::sleep;

use crate::config::Config;
use crate::open::{Links, Opened, Opener, is_shortage, leads_through_no_link};
use crate::stamp::Stamp;

/// How long the folders above a file are taken to be as they were.
const KEPT_FOR: Duration = Duration::from_secs(1);
/// A file that has changed so lately may change again without another stamp.
const TICK: Duration = Duration::from_secs(2);
/// The part of all descriptors that files may have which nobody is sent at the moment: a sixteenth.
const SHARE: u64 = 16;

/// A thread's files of one generation.
#[derive(Debug)]
pub struct OpenFiles {
    opener: Opener,
    most: usize,
    known: Rc<KnownPaths>,
}

#[derive(Debug, Default)]
struct KnownPaths {
    paths: RefCell<HashMap<OsString, Known>>,
    /// [`forget_in_time`] runs.
    is_watched: Cell<bool>,
}

/// What is known of a path, since when, and by which root and rules.
#[derive(Debug)]
struct Known {
    state: State,
    since: Instant,
    root: OsString,
    links: Links,
}

#[derive(Debug)]
enum State {
    Seen,
    Open(Opened),
    OpenedEachTime,
}

impl OpenFiles {
    /// As many as `config` allows to one of its threads, and the limit on open files.
    pub fn new(config: &Config) -> OpenFiles {
        let descriptors = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft);
        let share = descriptors / SHARE / config.clients.threads() as u64;
        let most = usize::try_from(share).unwrap_or(usize::MAX).min(config.open_file_cache as usize);
        OpenFiles { opener: Opener::default(), most, known: Rc::default() }
    }

    /// Opens `path` as [`Opener::open`] does, or gives the file that is open.
    pub fn open(&self, root: &Path, path: &Path, links: Links) -> io::Result<Opened> {
        if self.most == 0 {
            return self.opener.open(root, path, links);
        }
        if let Some(opened) = self.recall(root, path, links) {
            return Ok(opened);
        }
        let opened = match self.opener.open(root, path, links) {
            Err(error) if is_shortage(&error) => {
                self.known.paths.borrow_mut().clear();
                self.opener.open(root, path, links)
            }
            answer => answer,
        }?;
        self.keep(root, path, links, &opened);
        Ok(opened)
    }

    /// See [`Opener::is_refused`].
    pub fn is_refused(&self, root: &Path, path: &Path, links: Links) -> bool {
        self.opener.is_refused(root, path, links)
    }

    /// The open file, if it is as it was.
    fn recall(&self, root: &Path, path: &Path, links: Links) -> Option<Opened> {
        let mut paths = self.known.paths.borrow_mut();
        let known = paths.get(path.as_os_str()).filter(|known| known.is_about(root, links))?;
        let State::Open(opened) = &known.state else { return None };
        match Stamp::of_open(&opened.file) {
            Ok(now) if now == opened.stamp => Some(opened.clone()),
            _ => {
                paths.remove(path.as_os_str());
                None
            }
        }
    }

    /// Takes note that `opened` was asked for, and keeps it when that is often.
    fn keep(&self, root: &Path, path: &Path, links: Links, opened: &Opened) {
        let is_settled = opened.stamp.age_at(SystemTime::now()) > TICK;
        if !is_settled || !(opened.kind.is_file() || opened.kind.is_dir()) {
            return;
        }
        let mut paths = self.known.paths.borrow_mut();
        let state =
            match paths.get(path.as_os_str()).filter(|known| known.is_about(root, links)).map(|known| &known.state) {
                Some(State::Open(_) | State::OpenedEachTime) => return,
                Some(State::Seen) if leads_through_no_link(path, opened) => State::Open(opened.clone()),
                Some(State::Seen) => State::OpenedEachTime,
                None => State::Seen,
            };
        if paths.len() < self.most || paths.contains_key(path.as_os_str()) {
            paths.insert(path.into(), Known { state, since: Instant::now(), root: root.into(), links });
            if !self.known.is_watched.replace(true) {
                spawn_local(forget_in_time(Rc::downgrade(&self.known)));
            }
        }
    }
}

impl Known {
    fn is_fresh(&self) -> bool {
        self.since.elapsed() < KEPT_FOR
    }

    /// Whether it was found by this root and these rules, not too long ago.
    fn is_about(&self, root: &Path, links: Links) -> bool {
        self.root == root.as_os_str() && self.links == links && self.is_fresh()
    }
}

/// Closes what nobody asks for any more: a file that was removed takes room on the disk until then.
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
