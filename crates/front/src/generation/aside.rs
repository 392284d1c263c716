//! Runs file lookups without blocking the event thread on a disk.
//!
//! A lookup first runs on the event thread with cached kernel data only. If an operation would block, the lookup's
//! result is discarded. Another thread performs the missing operation, and the lookup runs again with its result.
//!
//! ```text
//!   ask ──all was in memory──▶ answer
//!    ▲ └─ something was lacking ─▶ fetched on a thread ─┐
//!    └───────────────────────────────────────────────────┘
//! ```

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::errno::Errno;

use base::stamp::Stamp;
use files::names::FolderNames;
use files::open::{DiskPatience, Links, OpenedFile, Opener, PathWithLinks, is_there, leads_through_no_link};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOperation {
    /// Open the file for reading.
    Open,
    /// Test whether the path exists.
    There,
    /// Test whether a symbolic link that must not be followed is on the path.
    Refused,
    /// Read the names in a folder.
    Names,
    /// Read the contents of a short file.
    Contents,
}

/// Maximum number of bytes of a file that is read whole: a type map.
pub const MAX_BYTES: usize = 64 * 1024;

/// Contents of a short file; `None` if the file is longer than [`MAX_BYTES`].
pub type ShortFile = Option<Arc<[u8]>>;

/// The state of one lookup across its repeated runs.
#[derive(Debug, Default)]
pub struct LookupAttempt {
    fetched: Vec<(BlockingOperation, Fetched)>,
    lacking: Option<BlockingOperation>,
}

/// An operation that would have blocked.
#[derive(Debug, Clone)]
pub struct BlockingOperation {
    goal: FileOperation,
    root: PathBuf,
    path: PathBuf,
    links: Links,
}

/// The result of a fetched operation.
#[derive(Debug)]
pub enum Fetched {
    /// The opened file, or the error.
    File(Result<OpenedFile, Errno>),
    /// The result of a yes-or-no operation.
    Answer(bool),
    /// The names of a folder in this state.
    Names(Result<(Stamp, Arc<FolderNames>), Errno>),
    /// The contents of a file in this state.
    Contents(Result<(Stamp, ShortFile), Errno>),
}

impl LookupAttempt {
    /// Takes the operation that the last run of the lookup lacked.
    pub fn take_lacking(&mut self) -> Option<BlockingOperation> {
        self.lacking.take()
    }

    /// Stores a fetched result for the next run of the lookup.
    pub fn add(&mut self, lacking: BlockingOperation, fetched: Fetched) {
        self.fetched.push((lacking, fetched));
    }

    /// The fetched file, or the result of `open`, which must not block.
    pub fn file(
        &mut self,
        way: PathWithLinks<'_>,
        open: impl FnOnce() -> io::Result<OpenedFile>,
    ) -> io::Result<OpenedFile> {
        match self.fetched(FileOperation::Open, way) {
            Some(Fetched::File(result)) => result.clone().map_err(io::Error::from),
            _ => open().inspect_err(|error| self.note(error, FileOperation::Open, way)),
        }
    }

    /// The fetched answer, or the result of `look`, which must not block.
    pub fn answer(
        &mut self,
        goal: FileOperation,
        way: PathWithLinks<'_>,
        look: impl FnOnce() -> io::Result<bool>,
    ) -> io::Result<bool> {
        match self.fetched(goal, way) {
            Some(Fetched::Answer(answer)) => Ok(*answer),
            _ => look().inspect_err(|error| self.note(error, goal, way)),
        }
    }

    pub fn names(&mut self, way: PathWithLinks<'_>) -> io::Result<(Stamp, Arc<FolderNames>)> {
        match self.fetched(FileOperation::Names, way) {
            Some(Fetched::Names(result)) => result.clone().map_err(io::Error::from),
            _ => Err(self.lacks(FileOperation::Names, way)),
        }
    }

    pub fn contents(&mut self, way: PathWithLinks<'_>) -> io::Result<(Stamp, ShortFile)> {
        match self.fetched(FileOperation::Contents, way) {
            Some(Fetched::Contents(result)) => result.clone().map_err(io::Error::from),
            _ => Err(self.lacks(FileOperation::Contents, way)),
        }
    }

    /// Notes an operation that always waits for the disk.
    fn lacks(&mut self, goal: FileOperation, way: PathWithLinks<'_>) -> io::Error {
        let error = io::Error::from(ErrorKind::WouldBlock);
        self.note(&error, goal, way);
        error
    }

    fn fetched(&self, goal: FileOperation, way: PathWithLinks<'_>) -> Option<&Fetched> {
        self.fetched.iter().find(|(what, _)| what.is(goal, way)).map(|(_, fetched)| fetched)
    }

    /// Notes only the first missing operation: its result decides which ones follow.
    fn note(&mut self, error: &io::Error, goal: FileOperation, way: PathWithLinks<'_>) {
        if error.kind() == ErrorKind::WouldBlock {
            self.lacking.get_or_insert_with(|| BlockingOperation {
                goal,
                root: way.root.to_owned(),
                path: way.path.to_owned(),
                links: way.links,
            });
        }
    }
}

impl BlockingOperation {
    fn is(&self, goal: FileOperation, way: PathWithLinks<'_>) -> bool {
        self.goal == goal
            && self.path.as_os_str() == way.path.as_os_str()
            && self.root == way.root
            && self.links == way.links
    }

    /// The operation's path, root and link rules.
    pub fn way(&self) -> PathWithLinks<'_> {
        PathWithLinks { root: &self.root, path: &self.path, links: self.links }
    }

    /// Performs the operation; may block on the disk.
    pub fn fetch(self) -> (BlockingOperation, Fetched) {
        let (way, opener) = (self.way(), Opener::default());
        let fetched = match self.goal {
            FileOperation::Open => Fetched::File(
                opener.open(way, DiskPatience::Unlimited).map(|it| looked_at(way.path, it)).map_err(errno),
            ),
            FileOperation::There => Fetched::Answer(is_there(way.path, DiskPatience::Unlimited).unwrap_or(false)),
            FileOperation::Refused => Fetched::Answer(opener.is_refused(way, DiskPatience::Unlimited).unwrap_or(true)),
            FileOperation::Names => {
                Fetched::Names(opener.open(way, DiskPatience::Unlimited).and_then(names).map_err(errno))
            }
            FileOperation::Contents => {
                Fetched::Contents(opener.open(way, DiskPatience::Unlimited).and_then(contents).map_err(errno))
            }
        };
        (self, fetched)
    }
}

/// Also checks the path for symbolic links: the event thread needs the result later and must not block while it checks.
fn looked_at(path: &Path, opened: OpenedFile) -> OpenedFile {
    let has_plain_path = leads_through_no_link(path, &opened, DiskPatience::Unlimited).ok();
    OpenedFile { has_plain_path, ..opened }
}

fn names(folder: OpenedFile) -> io::Result<(Stamp, Arc<FolderNames>)> {
    Ok((folder.stamp, Arc::new(FolderNames::read(&folder.file)?)))
}

fn contents(opened: OpenedFile) -> io::Result<(Stamp, ShortFile)> {
    let is_short = opened.kind.is_file() && opened.size <= MAX_BYTES as u64;
    Ok((opened.stamp, if is_short { Some(whole(&opened.file)?.into()) } else { None }))
}

fn whole(file: &File) -> io::Result<Vec<u8>> {
    let (mut contents, mut filled) = (vec![0; MAX_BYTES], 0);
    while let Some(room @ [_, ..]) = contents.get_mut(filled..) {
        match file.read_at(room, filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    contents.truncate(filled);
    Ok(contents)
}

fn errno(error: io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}
