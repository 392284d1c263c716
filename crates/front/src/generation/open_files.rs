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

use super::aside::{Attempt, Goal};
use base::stamp::Stamp;
use config::Config;
use files::open::{Links, Opened, Opener, Patience, Way, is_shortage, is_there, leads_through_no_link};

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
    /// Of the question that is being asked.
    attempt: RefCell<Attempt>,
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
        OpenFiles { opener: Opener::default(), most, known: Rc::default(), attempt: RefCell::default() }
    }

    /// Opens a file as [`Opener::open`] does, or gives the one that is open. Asked by a question ([`OpenFiles::within`]).
    pub fn open(&self, way: Way<'_>) -> io::Result<Opened> {
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
    pub fn is_refused(&self, way: Way<'_>) -> bool {
        let answer =
            self.attempt.borrow_mut().answer(Goal::Refused, way, || self.opener.is_refused(way, Patience::None));
        answer.unwrap_or(true)
    }

    /// Whether something is there, whatever it is.
    pub fn is_there(&self, path: &Path) -> bool {
        let way = Way { root: path, path, links: Links::Follow };
        let answer = self.attempt.borrow_mut().answer(Goal::There, way, || is_there(path, Patience::None));
        answer.unwrap_or(false)
    }

    fn reach(&self, way: Way<'_>) -> io::Result<Opened> {
        self.attempt.borrow_mut().file(way, || self.opener.open(way, Patience::None))
    }

    /// Asks a question with what was opened aside for it.
    pub fn within<T>(&self, attempt: &RefCell<Attempt>, ask: impl FnOnce() -> T) -> T {
        self.attempt.swap(attempt);
        let answer = ask();
        self.attempt.swap(attempt);
        answer
    }

    /// The open file, if it is as it was.
    fn recall(&self, way: Way<'_>) -> Option<Opened> {
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

    /// Takes note that `opened` was asked for, and keeps it when that is often.
    fn keep(&self, way: Way<'_>, opened: &Opened) {
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
                // Who finds that out, aside, will say it with the file.
                Err(_) => return,
            },
            None => State::Seen,
        };
        if paths.len() < self.most || paths.contains_key(name) {
            let (root, links) = (way.root.into(), way.links);
            paths.insert(name.into(), Known { state, since: Instant::now(), root, links });
            if !self.known.is_watched.replace(true) {
                spawn_local(forget_in_time(Rc::downgrade(&self.known)));
            }
        }
    }

    /// Believes what was found aside, as [`Opener::open`] does what it finds.
    pub fn believe(&self, way: Way<'_>, opened: &Opened) {
        if way.links == Links::OwnersMatch {
            // Otherwise the way is walked again.
            let _ = self.opener.believe(way, opened);
        }
    }
}

fn has_plain_path(path: &Path, opened: &Opened) -> io::Result<bool> {
    opened.has_plain_path.map_or_else(|| leads_through_no_link(path, opened, Patience::None), Ok)
}

impl Known {
    fn is_fresh(&self) -> bool {
        self.since.elapsed() < KEPT_FOR
    }

    /// Whether it was found by this root and these rules, not too long ago.
    fn is_about(&self, way: Way<'_>) -> bool {
        self.root == way.root.as_os_str() && self.links == way.links && self.is_fresh()
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
