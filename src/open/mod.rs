//! Opens files under the rules about symbolic links. What was checked is what was opened: between the two there is no
//! moment in which a link could be exchanged.
//!
//! `FollowSymLinks` opens as anybody would. Without it the kernel refuses every link on the way (openat2). With
//! `SymLinksIfOwnerMatch` a way with links is walked from link to link, and then believed for a second.
//!
//! To find a name the kernel may have to read a folder from a disk, or ask another machine. Whoever must not wait for that
//! says so ([`Patience::None`]), and is told `EAGAIN` instead (`RESOLVE_CACHED`, Linux 5.12; older ones wait).

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::{File, FileType};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat, openat2, readlinkat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat};

use crate::cache::Cache;
use crate::config::{Config, Options};
use crate::path::longest;
use crate::stamp::Stamp;

/// For how long a way with links that was found right is taken to be so.
const BELIEVED: Duration = Duration::from_secs(1);
/// Ways that are remembered; they are strangers' words.
const MAX_KNOWN: usize = 1024;
/// Links on one way that are followed where the owners must match: what POSIX promises (`_POSIX_SYMLOOP_MAX`). A link to its
/// own folder could otherwise be as many as a path has names.
const MAX_LINKS: usize = 8;
/// Opens a folder on the way, or a link itself.
const FOLDER: OFlag = OFlag::O_PATH.union(OFlag::O_CLOEXEC);

/// What is done about symbolic links below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// `Options FollowSymLinks`
    Follow,
    /// `Options SymLinksIfOwnerMatch`
    OwnersMatch,
    /// Neither.
    Refuse,
}

impl Links {
    /// As `options` say.
    pub fn of(options: Options) -> Links {
        match options {
            Options { follow_sym_links: true, .. } => Links::Follow,
            Options { sym_links_if_owner_match: true, .. } => Links::OwnersMatch,
            _ => Links::Refuse,
        }
    }
}

/// A path, and what is done about links in it. Those above `root`, or in it, are the administrator's and followed.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    /// The folder that the rules begin at.
    pub root: &'a Path,
    /// Where to.
    pub path: &'a Path,
    /// What the rules are.
    pub links: Links,
}

/// Whether the opener has the time to wait for a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// As long as it takes.
    Unlimited,
    /// Not at all.
    None,
}

/// A file or folder that was opened.
#[derive(Debug, Clone)]
pub struct Opened {
    /// To be read from; of a folder that may not be listed, a mere reference.
    pub file: Arc<File>,
    /// What it is.
    pub kind: FileType,
    /// In bytes.
    pub size: u64,
    /// Its number in its file system.
    pub inode: u64,
    /// When its contents changed last.
    pub modified: SystemTime,
    /// The state in which it was opened.
    pub stamp: Stamp,
    /// Whether its path leads through no link, where that was looked at.
    pub has_plain_path: Option<bool>,
}

/// Opens files, and remembers for a moment which ways with links were right.
#[derive(Debug, Default)]
pub struct Opener {
    /// What was there when its links were found right.
    known: RefCell<LinkCache<Identity>>,
    /// Whether [`Opener::is_refused`].
    refused: RefCell<LinkCache<bool>>,
}

type LinkCache<T> = Cache<PathBuf, FoundOn<T>, MAX_KNOWN>;

/// What was found on a way, when, and by which root and rules.
#[derive(Debug)]
struct FoundOn<T> {
    what: T,
    since: Instant,
    root: PathBuf,
    links: Links,
}

type Identity = (u64, u64);

impl Opener {
    /// Opens for reading, without waiting for the other end of a named pipe. [`Errno::ELOOP`]: a link that is not to be followed.
    pub fn open(&self, way: Way<'_>, patience: Patience) -> io::Result<Opened> {
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        match self.open_as(way, flags, patience).and_then(opened) {
            // A folder that may be entered but not listed can still hold an index.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => self
                .open_as(way, FOLDER, patience)
                .and_then(opened)
                .and_then(|it| if it.kind.is_dir() { Ok(it) } else { Err(error) }),
            answer => answer,
        }
    }

    /// Whether a link that is not to be followed stands in the way, or in as much of it as exists; or did a moment ago.
    pub fn is_refused(&self, way: Way<'_>, patience: Patience) -> io::Result<bool> {
        if way.links == Links::Follow {
            return Ok(false);
        }
        if let Some(refused) = recall(&self.refused, way) {
            return Ok(refused);
        }
        let refused = match self.open_as(way, FOLDER, patience) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(error),
            found => found.is_err_and(|error| is_link(&error)),
        };
        remember(&self.refused, way, refused);
        Ok(refused)
    }

    /// Believes for a moment that this is where a way leads.
    pub fn believe(&self, way: Way<'_>, opened: &Opened) -> io::Result<()> {
        remember(&self.known, way, identity(&fstat(&opened.file)?));
        Ok(())
    }

    fn open_as(&self, way: Way<'_>, flags: OFlag, patience: Patience) -> io::Result<OwnedFd> {
        if way.links == Links::Follow {
            return follow(way.path, flags, patience);
        }
        if let Some(believed) = self.open_believed(way, flags, patience) {
            return Ok(believed);
        }
        match no_links(AT_FDCWD, way.path, flags, patience) {
            Err(Errno::ELOOP) if way.links == Links::Refuse => below(way, flags, patience),
            // Many calls, of which each may have to wait.
            Err(Errno::ELOOP) if patience == Patience::None => Err(Errno::EAGAIN.into()),
            // An old kernel, or a container that does not know the call.
            Err(Errno::ELOOP | Errno::ENOSYS | Errno::EPERM) => {
                let walked = walk(way, flags)?;
                remember(&self.known, way, identity(&fstat(&walked)?));
                Ok(walked)
            }
            answer => Ok(answer?),
        }
    }

    fn open_believed(&self, way: Way<'_>, flags: OFlag, patience: Patience) -> Option<OwnedFd> {
        let known = recall(&self.known, way)?;
        let file = follow(way.path, flags, patience).ok()?;
        (identity(&fstat(&file).ok()?) == known).then_some(file)
    }
}

fn recall<T: Copy>(known: &RefCell<LinkCache<T>>, way: Way<'_>) -> Option<T> {
    let mut known = known.borrow_mut();
    let before = known.get(way.path)?;
    let is_it = before.since.elapsed() < BELIEVED && before.root == way.root && before.links == way.links;
    is_it.then_some(before.what)
}

fn remember<T>(known: &RefCell<LinkCache<T>>, way: Way<'_>, what: T) {
    let found = FoundOn { what, since: Instant::now(), root: way.root.to_owned(), links: way.links };
    known.borrow_mut().put(way.path.to_owned(), found);
}

/// Whether something is there.
pub fn is_there(path: &Path, patience: Patience) -> io::Result<bool> {
    match follow(path, FOLDER, patience) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(error),
        found => Ok(found.is_ok()),
    }
}

/// Whether `path` still leads to what was opened by it, and through no symbolic link.
pub fn leads_through_no_link(path: &Path, opened: &Opened, patience: Patience) -> io::Result<bool> {
    let there = match no_links(AT_FDCWD, path, FOLDER, patience) {
        Err(Errno::EAGAIN) => return Err(Errno::EAGAIN.into()),
        there => there.map_err(io::Error::from).and_then(|file| File::from(file).metadata()),
    };
    Ok(there.is_ok_and(|it| Stamp::of(&it) == opened.stamp))
}

/// Whether the error means that no descriptor or memory is left for one more file: a state of the server that passes.
pub fn is_shortage(error: &io::Error) -> bool {
    [Errno::EMFILE, Errno::ENFILE, Errno::ENOMEM].iter().any(|errno| error.raw_os_error() == Some(*errno as i32))
}

/// Whether an error of [`Opener::open`] is about a link.
pub fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::ELOOP as i32)
}

fn opened(file: OwnedFd) -> io::Result<Opened> {
    let file = File::from(file);
    let it = file.metadata()?;
    Ok(Opened {
        kind: it.file_type(),
        size: it.len(),
        inode: it.ino(),
        modified: it.modified()?,
        stamp: Stamp::of(&it),
        has_plain_path: None,
        file: Arc::new(file),
    })
}

fn identity(it: &FileStat) -> Identity {
    (it.st_dev, it.st_ino)
}

/// `/proc/self/fd/7` is no link to a file's name but the front's own descriptor: a worker that names it would read what
/// the front alone has open, another client's upload perhaps.
fn follow(path: &Path, flags: OFlag, patience: Patience) -> io::Result<OwnedFd> {
    match resolve(AT_FDCWD, path, flags, ResolveFlag::RESOLVE_NO_MAGICLINKS, patience) {
        // An old kernel, or a container that does not know the call.
        Err(Errno::ENOSYS | Errno::EPERM) => Ok(openat(AT_FDCWD, path, flags, Mode::empty())?),
        answer => Ok(answer?),
    }
}

fn no_links(folder: impl AsFd, path: &Path, flags: OFlag, patience: Patience) -> nix::Result<OwnedFd> {
    resolve(folder, path, flags, ResolveFlag::RESOLVE_NO_SYMLINKS, patience)
}

/// The kernel refuses what it does not have in memory.
const IN_MEMORY: ResolveFlag = ResolveFlag::from_bits_retain(nix::libc::RESOLVE_CACHED);
/// Linux before 5.12 does not know `IN_MEMORY`.
static IS_UNKNOWN: AtomicBool = AtomicBool::new(false);

fn resolve(
    folder: impl AsFd,
    path: &Path,
    flags: OFlag,
    rules: ResolveFlag,
    patience: Patience,
) -> nix::Result<OwnedFd> {
    let folder = folder.as_fd();
    let open = |rules| openat2(folder, path, OpenHow::new().flags(flags).resolve(rules));
    if patience == Patience::Unlimited || IS_UNKNOWN.load(Relaxed) {
        return open(rules);
    }
    match open(rules | IN_MEMORY) {
        Err(Errno::EINVAL) => {
            let answer = open(rules);
            IS_UNKNOWN.fetch_or(!matches!(answer, Err(Errno::EINVAL)), Relaxed);
            answer
        }
        answer => answer,
    }
}

/// The longest DocumentRoot or Alias that the file lies in: what is above it is the administrator's, not the site's.
pub fn root<'a>(config: &'a Config, host: u16, filename: &Path) -> &'a Path {
    let host = &config.hosts[host as usize];
    let roots = host.aliases.iter().map(|alias| alias.to.as_path()).chain([host.document_root.as_path()]);
    let mut around = roots.filter(|root| lies_in(filename, root));
    let Some(first) = around.next() else { return Path::new("/") };
    // Of equals the last one, as ever.
    around.fold(first, |longest, root| if depth(root) >= depth(longest) { root } else { longest })
}

/// As [`Path::starts_with`], which looks at each name; for a folder that is written as the file's beginning is one look is enough.
fn lies_in(file: &Path, folder: &Path) -> bool {
    let rest = file.as_os_str().as_bytes().strip_prefix(folder.as_os_str().as_bytes());
    rest.is_some_and(|rest| rest.first() == Some(&b'/')) || file.starts_with(folder)
}

fn depth(path: &Path) -> usize {
    path.components().count()
}

/// The root, links in its own path followed.
fn open_root(root: &Path, patience: Patience) -> io::Result<OwnedFd> {
    follow(root, FOLDER | OFlag::O_DIRECTORY, patience)
}

/// With no link below the root.
fn below(way: Way<'_>, flags: OFlag, patience: Patience) -> io::Result<OwnedFd> {
    match way.path.strip_prefix(way.root) {
        Ok(rest) if rest == Path::new("") => follow(way.root, flags, patience),
        Ok(rest) => Ok(no_links(open_root(way.root, patience)?, rest, flags, patience)?),
        Err(_) => Err(Errno::ELOOP.into()),
    }
}

/// From the root on with a look at each link; where there is none, the kernel goes a whole stretch at once.
fn walk(way: Way<'_>, flags: OFlag) -> io::Result<OwnedFd> {
    // A path outside of every root begins at the real one.
    let Way { root, path, links } = way;
    let (root, rest) =
        path.strip_prefix(root).map_or((Path::new("/"), path.strip_prefix("/").unwrap_or(path)), |rest| (root, rest));
    let parts: Vec<&OsStr> = rest.components().map(|part| part.as_os_str()).collect();
    if parts.is_empty() {
        return Ok(openat(AT_FDCWD, root, flags, Mode::empty())?);
    }
    let (mut folder, mut rest, mut followed) = (open_root(root, Patience::Unlimited)?, &parts[..], 0);
    while !rest.is_empty() && followed <= MAX_LINKS {
        let (plain, behind) = rest.split_at(until_link(&folder, rest));
        if !plain.is_empty() {
            let flags = if behind.is_empty() { flags } else { FOLDER };
            folder = no_links(&folder, &PathBuf::from_iter(plain), flags, Patience::Unlimited)?;
        }
        let Some((name, behind)) = behind.split_first() else { return Ok(folder) };
        let (next, is_link) = step(&folder, name, links, if behind.is_empty() { flags } else { FOLDER })?;
        (folder, rest, followed) = (next, behind, followed + usize::from(is_link));
    }
    if followed > MAX_LINKS { Err(Errno::ELOOP.into()) } else { Ok(folder) }
}

/// How many of these names come before the first that is a link: all of them when none is, or one before it is missing.
fn until_link(folder: &OwnedFd, names: &[&OsStr]) -> usize {
    let find = |names: &[&OsStr]| no_links(folder, &PathBuf::from_iter(names), FOLDER, Patience::Unlimited);
    match find(names) {
        Err(Errno::ELOOP) => {}
        // Where the call is not known, `step` looks at each name.
        Err(Errno::ENOSYS | Errno::EPERM) => return 0,
        _ => return names.len(),
    }
    longest(names.len() - 1, |length| !matches!(names.get(..length).map(find), Some(Err(Errno::ELOOP))))
}

/// What a name in a folder is or leads to, and whether it is a link.
fn step(folder: &OwnedFd, name: &OsStr, links: Links, flags: OFlag) -> io::Result<(OwnedFd, bool)> {
    let itself = openat(folder, name, FOLDER | OFlag::O_NOFOLLOW, Mode::empty())?;
    let of_name = fstat(&itself)?;
    if SFlag::from_bits_truncate(of_name.st_mode) & SFlag::S_IFMT != SFlag::S_IFLNK {
        return match flags.contains(OFlag::O_PATH) {
            true => Ok((itself, false)),
            false => Ok((openat(folder, name, flags | OFlag::O_NOFOLLOW, Mode::empty())?, false)),
        };
    }
    // The link's text comes from the very link whose owner we know, the owner from the very file that it led to.
    let target = openat(folder, readlinkat(&itself, "")?.as_os_str(), flags, Mode::empty())?;
    match links {
        Links::OwnersMatch if fstat(&target)?.st_uid == of_name.st_uid => Ok((target, true)),
        _ => Err(Errno::ELOOP.into()),
    }
}

#[cfg(test)]
mod tests;
