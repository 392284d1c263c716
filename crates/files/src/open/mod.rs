//! Opening of files under the rules about symbolic links, without a race: the check applies to the opened file, so that
//! no link can be exchanged in between.
//!
//! With `FollowSymLinks` files are opened as usual. Without it the kernel refuses every link in the path (openat2).
//! With `SymLinksIfOwnerMatch` a path with links is walked from link to link, and the result is cached for a second.
//!
//! To find a name the kernel may have to read a folder from a disk or a network. A caller that must not wait uses
//! [`DiskPatience::None`], and gets `EAGAIN` instead (`RESOLVE_CACHED`, Linux 5.12; older kernels wait).

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

use crate::facts::formattable;
use base::cache::BoundedCache;
use base::path::longest;
use base::stamp::Stamp;
use config::{Config, DirectoryOptions};

/// Validity of a cached check of a path with links.
const CHECK_VALIDITY: Duration = Duration::from_secs(1);
/// Maximum number of cached paths, which come from clients.
const MAX_CACHED: usize = 1024;
/// Maximum number of links in one path where owners must match: POSIX guarantees as many (`_POSIX_SYMLOOP_MAX`).
/// Otherwise a path could repeat a link to its own folder without limit.
const MAX_LINKS: usize = 8;
/// Flags to open a folder in the path, or a link itself.
const FOLDER: OFlag = OFlag::O_PATH.union(OFlag::O_CLOEXEC);

/// Rule for symbolic links below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// `Options FollowSymLinks`
    Follow,
    /// `Options SymLinksIfOwnerMatch`
    OwnersMatch,
    /// Links are refused: neither FollowSymLinks nor SymLinksIfOwnerMatch is set.
    Refuse,
}

impl Links {
    /// The rule by `Options`.
    pub fn of(options: DirectoryOptions) -> Links {
        match options {
            DirectoryOptions { follow_sym_links: true, .. } => Links::Follow,
            DirectoryOptions { sym_links_if_owner_match: true, .. } => Links::OwnersMatch,
            _ => Links::Refuse,
        }
    }
}

/// A path, and the rule for links in it. Links in `root` and above it belong to the administrator, and are followed.
#[derive(Debug, Clone, Copy)]
pub struct PathWithLinks<'a> {
    /// Folder at which the rule begins.
    pub root: &'a Path,
    /// Absolute; outside of `root` it is walked from `/`.
    pub path: &'a Path,
    /// Applies below `root` only.
    pub links: Links,
}

/// Whether the caller may wait for a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskPatience {
    /// The caller waits as long as necessary.
    Unlimited,
    /// The caller must not be blocked.
    None,
}

/// An open file or folder.
#[derive(Debug, Clone)]
pub struct OpenedFile {
    /// Open for reading, or only a reference for a folder that must not be listed.
    pub file: Arc<File>,
    /// From the open file, not from its name.
    pub kind: FileType,
    /// Size in bytes.
    pub size: u64,
    /// For `FileETag INode`.
    pub inode: u64,
    /// Time of the last change of its contents.
    pub modified: SystemTime,
    /// State of the file when it was opened.
    pub stamp: Stamp,
    /// Whether its path contains no link, if that was checked.
    pub has_plain_path: Option<bool>,
}

/// Opens files, and caches which paths with links were permitted.
#[derive(Debug, Default)]
pub struct Opener {
    /// Identity of the file for each permitted path with links.
    known: RefCell<LinkCache<Identity>>,
    /// Results of [`Opener::is_refused`].
    refused: RefCell<LinkCache<bool>>,
}

type LinkCache<T> = BoundedCache<PathBuf, CachedCheck<T>, MAX_CACHED>;

/// A cached result, with its time, root and rule.
#[derive(Debug)]
struct CachedCheck<T> {
    what: T,
    since: Instant,
    root: PathBuf,
    links: Links,
}

type Identity = (u64, u64);

impl Opener {
    /// Opens for reading, without blocking on a named pipe. [`Errno::ELOOP`]: the path contains a link that must not be
    /// followed.
    pub fn open(&self, way: PathWithLinks<'_>, patience: DiskPatience) -> io::Result<OpenedFile> {
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        match self.open_as(way, flags, patience).and_then(opened) {
            // A folder that may be entered but not listed can still contain an index.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => self
                .open_as(way, FOLDER, patience)
                .and_then(opened)
                .and_then(|it| if it.kind.is_dir() { Ok(it) } else { Err(error) }),
            answer => answer,
        }
    }

    /// Whether the existing part of a path contains a link that must not be followed. The result may be a second old.
    pub fn is_refused(&self, way: PathWithLinks<'_>, patience: DiskPatience) -> io::Result<bool> {
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

    /// Caches the file to which a path leads.
    pub fn trust_result(&self, way: PathWithLinks<'_>, opened: &OpenedFile) -> io::Result<()> {
        remember(&self.known, way, identity(&fstat(&opened.file)?));
        Ok(())
    }

    fn open_as(&self, way: PathWithLinks<'_>, flags: OFlag, patience: DiskPatience) -> io::Result<OwnedFd> {
        if way.links == Links::Follow {
            return follow(way.path, flags, patience);
        }
        if let Some(believed) = self.open_cached(way, flags, patience) {
            return Ok(believed);
        }
        match no_links(AT_FDCWD, way.path, flags, patience) {
            Err(Errno::ELOOP) if way.links == Links::Refuse => below(way, flags, patience),
            // The walk takes many calls, each of which may block.
            Err(Errno::ELOOP) if patience == DiskPatience::None => Err(Errno::EAGAIN.into()),
            // Old kernels, and some containers, do not support openat2.
            Err(Errno::ELOOP | Errno::ENOSYS | Errno::EPERM) => {
                let walked = walk(way, flags)?;
                remember(&self.known, way, identity(&fstat(&walked)?));
                Ok(walked)
            }
            answer => Ok(answer?),
        }
    }

    fn open_cached(&self, way: PathWithLinks<'_>, flags: OFlag, patience: DiskPatience) -> Option<OwnedFd> {
        let known = recall(&self.known, way)?;
        let file = follow(way.path, flags, patience).ok()?;
        (identity(&fstat(&file).ok()?) == known).then_some(file)
    }
}

fn recall<T: Copy>(known: &RefCell<LinkCache<T>>, way: PathWithLinks<'_>) -> Option<T> {
    let mut known = known.borrow_mut();
    let before = known.get(way.path)?;
    let is_it = before.since.elapsed() < CHECK_VALIDITY && before.root == way.root && before.links == way.links;
    is_it.then_some(before.what)
}

fn remember<T>(known: &RefCell<LinkCache<T>>, way: PathWithLinks<'_>, what: T) {
    let found = CachedCheck { what, since: Instant::now(), root: way.root.to_owned(), links: way.links };
    known.borrow_mut().put(way.path.to_owned(), found);
}

/// Whether a path exists.
pub fn is_there(path: &Path, patience: DiskPatience) -> io::Result<bool> {
    match follow(path, FOLDER, patience) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(error),
        found => Ok(found.is_ok()),
    }
}

/// Whether `path` still leads to the opened file, without symbolic links.
pub fn leads_through_no_link(path: &Path, opened: &OpenedFile, patience: DiskPatience) -> io::Result<bool> {
    let there = match no_links(AT_FDCWD, path, FOLDER, patience) {
        Err(Errno::EAGAIN) => return Err(Errno::EAGAIN.into()),
        there => there.map_err(io::Error::from).and_then(|file| File::from(file).metadata()),
    };
    Ok(there.is_ok_and(|it| Stamp::of(&it) == opened.stamp))
}

/// Whether the error means that descriptors or memory are exhausted, which is temporary.
pub fn is_shortage(error: &io::Error) -> bool {
    [Errno::EMFILE, Errno::ENFILE, Errno::ENOMEM].iter().any(|errno| error.raw_os_error() == Some(*errno as i32))
}

/// Whether an error of [`Opener::open`] is caused by a link.
pub fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::ELOOP as i32)
}

fn opened(file: OwnedFd) -> io::Result<OpenedFile> {
    let file = File::from(file);
    let it = file.metadata()?;
    Ok(OpenedFile {
        kind: it.file_type(),
        size: it.len(),
        inode: it.ino(),
        modified: formattable(it.modified()?),
        stamp: Stamp::of(&it),
        has_plain_path: None,
        file: Arc::new(file),
    })
}

fn identity(it: &FileStat) -> Identity {
    (it.st_dev, it.st_ino)
}

/// Opens a path with its links, except links in `/proc/self/fd`, which lead to descriptors of the front: a worker
/// that sends such a path could read files that only the front has open, such as another client's upload.
fn follow(path: &Path, flags: OFlag, patience: DiskPatience) -> io::Result<OwnedFd> {
    match resolve(AT_FDCWD, path, flags, ResolveFlag::RESOLVE_NO_MAGICLINKS, patience) {
        // Old kernels, and some containers, do not support openat2.
        Err(Errno::ENOSYS | Errno::EPERM) => Ok(openat(AT_FDCWD, path, flags, Mode::empty())?),
        answer => Ok(answer?),
    }
}

fn no_links(folder: impl AsFd, path: &Path, flags: OFlag, patience: DiskPatience) -> nix::Result<OwnedFd> {
    resolve(folder, path, flags, ResolveFlag::RESOLVE_NO_SYMLINKS, patience)
}

/// Flag by which the kernel fails instead of reading from a disk.
const IN_MEMORY: ResolveFlag = ResolveFlag::from_bits_retain(nix::libc::RESOLVE_CACHED);
/// Whether the kernel (before 5.12) does not support `IN_MEMORY`.
static IS_UNKNOWN: AtomicBool = AtomicBool::new(false);

fn resolve(
    folder: impl AsFd,
    path: &Path,
    flags: OFlag,
    rules: ResolveFlag,
    patience: DiskPatience,
) -> nix::Result<OwnedFd> {
    let folder = folder.as_fd();
    let open = |rules| openat2(folder, path, OpenHow::new().flags(flags).resolve(rules));
    if patience == DiskPatience::Unlimited || IS_UNKNOWN.load(Relaxed) {
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

/// The longest DocumentRoot or Alias that contains the file. Links in its path belong to the administrator, not to the
/// site. Of the folders of VirtualDocumentRoot only the fixed part counts, because tenants may own those behind it.
pub fn root<'a>(config: &'a Config, host: u16, filename: &'a Path) -> &'a Path {
    let host = &config.hosts[host as usize];
    let roots = host.aliases.iter().map(|alias| alias.to.as_path()).chain([host.document_root.as_path()]);
    let roots = roots.chain(host.virtual_folders.fixed_root_of(filename));
    let mut around = roots.filter(|root| lies_in(filename, root));
    let Some(first) = around.next() else { return Path::new("/") };
    // Roots of the same depth contain the same file, so they are one folder.
    around.fold(first, |longest, root| if depth(root) >= depth(longest) { root } else { longest })
}

/// As [`Path::starts_with`], which parses both paths. Here only unusual paths are parsed: with `//` or `/.` in them.
fn lies_in(file: &Path, folder: &Path) -> bool {
    let (whole, prefix) = (file.as_os_str().as_bytes(), folder.as_os_str().as_bytes());
    let prefix = prefix.strip_suffix(b"/").unwrap_or(prefix);
    if whole.strip_prefix(prefix).is_some_and(|rest| !prefix.is_empty() && matches!(rest.first(), None | Some(b'/'))) {
        return true;
    }
    let same = whole.iter().zip(prefix).take_while(|(one, other)| one == other).count();
    match (whole.get(same), prefix.get(same)) {
        // Names that differ here: neither byte can belong to what parsing skips.
        (Some(one), Some(other)) if ![one, other].iter().any(|byte| matches!(byte, b'/' | b'.')) => false,
        _ => file.starts_with(folder),
    }
}

fn depth(path: &Path) -> usize {
    path.components().count()
}

/// Opens the root, following links in its path.
fn open_root(root: &Path, patience: DiskPatience) -> io::Result<OwnedFd> {
    follow(root, FOLDER | OFlag::O_DIRECTORY, patience)
}

/// Opens a path with links only in the root's own path.
fn below(way: PathWithLinks<'_>, flags: OFlag, patience: DiskPatience) -> io::Result<OwnedFd> {
    match way.path.strip_prefix(way.root) {
        Ok(rest) if rest == Path::new("") => follow(way.root, flags, patience),
        Ok(rest) => Ok(no_links(open_root(way.root, patience)?, rest, flags, patience)?),
        Err(_) => Err(Errno::ELOOP.into()),
    }
}

/// Opens a path by checking each link from the root on. The kernel resolves stretches without links at once.
fn walk(way: PathWithLinks<'_>, flags: OFlag) -> io::Result<OwnedFd> {
    // A path outside of the root is walked from `/`.
    let PathWithLinks { root, path, links } = way;
    let (root, rest) =
        path.strip_prefix(root).map_or((Path::new("/"), path.strip_prefix("/").unwrap_or(path)), |rest| (root, rest));
    let parts: Vec<&OsStr> = rest.components().map(|part| part.as_os_str()).collect();
    if parts.is_empty() {
        return Ok(openat(AT_FDCWD, root, flags, Mode::empty())?);
    }
    let (mut folder, mut rest, mut followed) = (open_root(root, DiskPatience::Unlimited)?, &parts[..], 0);
    while !rest.is_empty() && followed <= MAX_LINKS {
        let (plain, behind) = rest.split_at(until_link(&folder, rest));
        if !plain.is_empty() {
            let flags = if behind.is_empty() { flags } else { FOLDER };
            folder = no_links(&folder, &PathBuf::from_iter(plain), flags, DiskPatience::Unlimited)?;
        }
        let Some((name, behind)) = behind.split_first() else { return Ok(folder) };
        let (next, is_link) = step(&folder, name, links, if behind.is_empty() { flags } else { FOLDER })?;
        (folder, rest, followed) = (next, behind, followed + usize::from(is_link));
    }
    if followed > MAX_LINKS { Err(Errno::ELOOP.into()) } else { Ok(folder) }
}

/// Number of names before the first link: all of them if there is none, or if a name before it is missing.
fn until_link(folder: &OwnedFd, names: &[&OsStr]) -> usize {
    let find = |names: &[&OsStr]| no_links(folder, &PathBuf::from_iter(names), FOLDER, DiskPatience::Unlimited);
    match find(names) {
        Err(Errno::ELOOP) => {}
        // Without openat2, `step` checks each name.
        Err(Errno::ENOSYS | Errno::EPERM) => return 0,
        _ => return names.len(),
    }
    longest(names.len() - 1, |length| !matches!(names.get(..length).map(find), Some(Err(Errno::ELOOP))))
}

/// Opens a name in a folder, following a permitted link. Returns whether the name is a link.
fn step(folder: &OwnedFd, name: &OsStr, links: Links, flags: OFlag) -> io::Result<(OwnedFd, bool)> {
    let itself = openat(folder, name, FOLDER | OFlag::O_NOFOLLOW, Mode::empty())?;
    let of_name = fstat(&itself)?;
    if SFlag::from_bits_truncate(of_name.st_mode) & SFlag::S_IFMT != SFlag::S_IFLNK {
        return match flags.contains(OFlag::O_PATH) {
            true => Ok((itself, false)),
            false => Ok((openat(folder, name, flags | OFlag::O_NOFOLLOW, Mode::empty())?, false)),
        };
    }
    // The text is read from the link whose owner was checked, and the target's owner from the opened target.
    let target = openat(folder, readlinkat(&itself, "")?.as_os_str(), flags, Mode::empty())?;
    match links {
        Links::OwnersMatch if fstat(&target)?.st_uid == of_name.st_uid => Ok((target, true)),
        _ => Err(Errno::ELOOP.into()),
    }
}

#[cfg(test)]
mod tests;
