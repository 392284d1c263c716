//! What cannot be found out about files without waiting for a disk is found out on another thread. A question that opens files runs
//! through on the event thread with what the kernel has in memory. Where that was not enough its answer is thrown away, another
//! thread waits for what was lacking first, and the question is asked again with that at hand.
//!
//! ```text
//!   ask ──all was in memory──▶ answer
//!    ▲ └─ something was lacking ─▶ fetched on a thread ─┐
//!    └───────────────────────────────────────────────────┘
//! ```

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use files::open::{Links, Opened, Opener, Patience, Way, is_there, leads_through_no_link};

/// What is to be found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The file is to be opened.
    Open,
    /// Whether something is there.
    There,
    /// Whether a link that is not to be followed stands in the way.
    Refused,
}

/// One question, each time that it is asked.
#[derive(Debug, Default)]
pub struct Attempt {
    fetched: Vec<(Lacking, Fetched)>,
    lacking: Option<Lacking>,
}

/// What was not in memory.
#[derive(Debug, Clone)]
pub struct Lacking {
    goal: Goal,
    root: PathBuf,
    path: PathBuf,
    links: Links,
}

/// What was found out about it.
#[derive(Debug)]
pub enum Fetched {
    /// The file, or why there is none.
    File(Result<Opened, Errno>),
    /// Whether it is so.
    Answer(bool),
}

impl Attempt {
    /// What the question lacked when it was asked last.
    pub fn take_lacking(&mut self) -> Option<Lacking> {
        self.lacking.take()
    }

    /// Has this at hand when it is asked again.
    pub fn add(&mut self, lacking: Lacking, fetched: Fetched) {
        self.fetched.push((lacking, fetched));
    }

    /// A file that was opened aside, or that `open` finds in memory.
    pub fn file(&mut self, way: Way<'_>, open: impl FnOnce() -> io::Result<Opened>) -> io::Result<Opened> {
        match self.fetched(Goal::Open, way) {
            Some(Fetched::File(result)) => result.clone().map_err(io::Error::from),
            _ => open().inspect_err(|error| self.note(error, Goal::Open, way)),
        }
    }

    /// The same for what is true or not.
    pub fn answer(&mut self, goal: Goal, way: Way<'_>, look: impl FnOnce() -> io::Result<bool>) -> io::Result<bool> {
        match self.fetched(goal, way) {
            Some(Fetched::Answer(answer)) => Ok(*answer),
            _ => look().inspect_err(|error| self.note(error, goal, way)),
        }
    }

    fn fetched(&self, goal: Goal, way: Way<'_>) -> Option<&Fetched> {
        self.fetched.iter().find(|(what, _)| what.is(goal, way)).map(|(_, fetched)| fetched)
    }

    /// What is lacking first decides what else will be asked for.
    fn note(&mut self, error: &io::Error, goal: Goal, way: Way<'_>) {
        if error.kind() == ErrorKind::WouldBlock {
            self.lacking.get_or_insert_with(|| Lacking {
                goal,
                root: way.root.to_owned(),
                path: way.path.to_owned(),
                links: way.links,
            });
        }
    }
}

impl Lacking {
    fn is(&self, goal: Goal, way: Way<'_>) -> bool {
        self.goal == goal
            && self.path.as_os_str() == way.path.as_os_str()
            && self.root == way.root
            && self.links == way.links
    }

    /// To what it is.
    pub fn way(&self) -> Way<'_> {
        Way { root: &self.root, path: &self.path, links: self.links }
    }

    /// Finds it out; may take long.
    pub fn fetch(self) -> (Lacking, Fetched) {
        let (way, opener) = (self.way(), Opener::default());
        let fetched = match self.goal {
            Goal::Open => {
                Fetched::File(opener.open(way, Patience::Unlimited).map(|it| looked_at(way.path, it)).map_err(errno))
            }
            Goal::There => Fetched::Answer(is_there(way.path, Patience::Unlimited).unwrap_or(false)),
            Goal::Refused => Fetched::Answer(opener.is_refused(way, Patience::Unlimited).unwrap_or(true)),
        };
        (self, fetched)
    }
}

/// Who asks for it next may want to know by which way it was reached, and has no time to look.
fn looked_at(path: &Path, opened: Opened) -> Opened {
    let has_plain_path = leads_through_no_link(path, &opened, Patience::Unlimited).ok();
    Opened { has_plain_path, ..opened }
}

fn errno(error: io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}
