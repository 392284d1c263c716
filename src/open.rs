//! Opens files under the rules about symbolic links. What was checked is what was opened: between the two there is no
//! moment in which a link could be exchanged.
//!
//! `FollowSymLinks` opens as anybody would. Without it the kernel refuses every link on the way (openat2). With
//! `SymLinksIfOwnerMatch` a way with links is walked from link to link, and then believed for a second.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::{File, FileType};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
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
}

/// Opens files, and remembers for a moment which ways with links were right.
#[derive(Debug, Default)]
pub struct Opener {
    /// What was there when its links were found right.
    known: RefCell<LinkCache<Identity>>,
    /// Whether [`Opener::is_refused`].
    refused: RefCell<LinkCache<bool>>,
}

type LinkCache<T> = Cache<PathBuf, Way<T>, MAX_KNOWN>;

/// What was found on a way, when, and by which root and rules.
#[derive(Debug)]
struct Way<T> {
    what: T,
    since: Instant,
    root: PathBuf,
    links: Links,
}

type Identity = (u64, u64);

impl Opener {
    /// Opens `path` for reading, without waiting for the other end of a named pipe. Links above `root`, or in it, are
    /// the administrator's and followed. [`Errno::ELOOP`]: a link that is not to be followed.
    pub fn open(&self, root: &Path, path: &Path, links: Links) -> io::Result<Opened> {
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        match self.open_as(root, path, links, flags).and_then(opened) {
            // A folder that may be entered but not listed can still hold an index.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => self
                .open_as(root, path, links, FOLDER)
                .and_then(opened)
                .and_then(|it| if it.kind.is_dir() { Ok(it) } else { Err(error) }),
            answer => answer,
        }
    }

    /// Whether a link that is not to be followed stands in `path`, or in as much of it as exists; or did a moment ago.
    pub fn is_refused(&self, root: &Path, path: &Path, links: Links) -> bool {
        if links == Links::Follow {
            return false;
        }
        if let Some(refused) = recall(&self.refused, root, path, links) {
            return refused;
        }
        let found = self.open_as(root, path, links, FOLDER);
        let refused = found.is_err_and(|error| is_link(&error));
        remember(&self.refused, root, path, links, refused);
        refused
    }

    fn open_as(&self, root: &Path, path: &Path, links: Links, flags: OFlag) -> io::Result<OwnedFd> {
        if links == Links::Follow {
            return follow(path, flags);
        }
        if let Some(believed) = self.open_believed(root, path, links, flags) {
            return Ok(believed);
        }
        match no_links(AT_FDCWD, path, flags) {
            Err(Errno::ELOOP) if links == Links::Refuse => below(root, path, flags),
            // An old kernel, or a container that does not know the call.
            Err(Errno::ELOOP | Errno::ENOSYS | Errno::EPERM) => {
                let walked = walk(root, path, links, flags)?;
                remember(&self.known, root, path, links, identity(&fstat(&walked)?));
                Ok(walked)
            }
            answer => Ok(answer?),
        }
    }

    fn open_believed(&self, root: &Path, path: &Path, links: Links, flags: OFlag) -> Option<OwnedFd> {
        let known = recall(&self.known, root, path, links)?;
        let file = openat(AT_FDCWD, path, flags, Mode::empty()).ok()?;
        (identity(&fstat(&file).ok()?) == known).then_some(file)
    }
}

fn recall<T: Copy>(known: &RefCell<LinkCache<T>>, root: &Path, path: &Path, links: Links) -> Option<T> {
    let mut known = known.borrow_mut();
    let way = known.get(path)?;
    (way.since.elapsed() < BELIEVED && way.root == root && way.links == links).then_some(way.what)
}

fn remember<T>(known: &RefCell<LinkCache<T>>, root: &Path, path: &Path, links: Links, what: T) {
    let way = Way { what, since: Instant::now(), root: root.to_owned(), links };
    known.borrow_mut().put(path.to_owned(), way);
}

/// Whether `path` still leads to what was opened by it, and through no symbolic link.
pub fn leads_through_no_link(path: &Path, opened: &Opened) -> bool {
    let there = no_links(AT_FDCWD, path, FOLDER).map_err(io::Error::from).and_then(|file| File::from(file).metadata());
    there.is_ok_and(|it| Stamp::of(&it) == opened.stamp)
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
        file: Arc::new(file),
    })
}

fn identity(it: &FileStat) -> Identity {
    (it.st_dev, it.st_ino)
}

/// `/proc/self/fd/7` is no link to a file's name but the front's own descriptor: a worker that names it would read what
/// the front alone has open, another client's upload perhaps.
fn follow(path: &Path, flags: OFlag) -> io::Result<OwnedFd> {
    match openat2(AT_FDCWD, path, OpenHow::new().flags(flags).resolve(ResolveFlag::RESOLVE_NO_MAGICLINKS)) {
        // An old kernel, or a container that does not know the call.
        Err(Errno::ENOSYS | Errno::EPERM) => Ok(openat(AT_FDCWD, path, flags, Mode::empty())?),
        answer => Ok(answer?),
    }
}

fn no_links(folder: impl std::os::fd::AsFd, path: &Path, flags: OFlag) -> nix::Result<OwnedFd> {
    openat2(folder, path, OpenHow::new().flags(flags).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS))
}

/// The longest DocumentRoot or Alias that the file lies in: what is above it is the administrator's, not the site's.
pub fn root<'a>(config: &'a Config, host: u16, filename: &Path) -> &'a Path {
    let host = &config.hosts[host as usize];
    let roots = host.aliases.iter().map(|alias| alias.to.as_path()).chain([host.document_root.as_path()]);
    let around = roots.filter(|root| filename.starts_with(root));
    around.max_by_key(|root| root.components().count()).unwrap_or(Path::new("/"))
}

/// The root, links in its own path followed.
fn open_root(root: &Path) -> nix::Result<OwnedFd> {
    openat(AT_FDCWD, root, OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())
}

/// With no link below `root`.
fn below(root: &Path, path: &Path, flags: OFlag) -> io::Result<OwnedFd> {
    match path.strip_prefix(root) {
        Ok(rest) if rest == Path::new("") => Ok(openat(AT_FDCWD, root, flags, Mode::empty())?),
        Ok(rest) => Ok(no_links(open_root(root)?, rest, flags)?),
        Err(_) => Err(Errno::ELOOP.into()),
    }
}

/// From `root` on with a look at each link; where there is none, the kernel goes a whole stretch at once.
fn walk(root: &Path, path: &Path, links: Links, flags: OFlag) -> io::Result<OwnedFd> {
    // A path outside of every root begins at the real one.
    let (root, rest) =
        path.strip_prefix(root).map_or((Path::new("/"), path.strip_prefix("/").unwrap_or(path)), |rest| (root, rest));
    let parts: Vec<&OsStr> = rest.components().map(|part| part.as_os_str()).collect();
    if parts.is_empty() {
        return Ok(openat(AT_FDCWD, root, flags, Mode::empty())?);
    }
    let (mut folder, mut rest, mut followed) = (open_root(root)?, &parts[..], 0);
    while !rest.is_empty() && followed <= MAX_LINKS {
        let (plain, behind) = rest.split_at(until_link(&folder, rest));
        if !plain.is_empty() {
            let flags = if behind.is_empty() { flags } else { FOLDER };
            folder = no_links(&folder, &PathBuf::from_iter(plain), flags)?;
        }
        let Some((name, behind)) = behind.split_first() else { return Ok(folder) };
        let (next, is_link) = step(&folder, name, links, if behind.is_empty() { flags } else { FOLDER })?;
        (folder, rest, followed) = (next, behind, followed + usize::from(is_link));
    }
    if followed > MAX_LINKS { Err(Errno::ELOOP.into()) } else { Ok(folder) }
}

/// How many of these names come before the first that is a link: all of them when none is, or one before it is missing.
fn until_link(folder: &OwnedFd, names: &[&OsStr]) -> usize {
    let find = |names: &[&OsStr]| no_links(folder, &PathBuf::from_iter(names), FOLDER);
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
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::{MetadataExt, chown, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Tree {
            let tree = Tree(tempfile::tempdir().unwrap());
            fs::create_dir_all(tree.at("root/sub")).unwrap();
            fs::write(tree.at("root/sub/file"), "inside").unwrap();
            fs::write(tree.at("secret"), "outside").unwrap();
            tree
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn read(&self, opener: &Opener, name: &str, links: Links) -> Result<String, Option<i32>> {
            let opened = opener.open(&self.at("root"), &self.at("root").join(name), links);
            let mut text = String::new();
            opened.map_err(|error| error.raw_os_error())?.file.read_to_string(&mut text).unwrap();
            Ok(text)
        }
    }

    const LOOP: Result<String, Option<i32>> = Err(Some(Errno::ELOOP as i32));

    #[test]
    fn links_on_any_part_of_the_way_are_refused_or_followed() {
        let tree = Tree::new();
        symlink("../secret", tree.at("root/out")).unwrap();
        symlink("sub", tree.at("root/folder")).unwrap();
        let opener = Opener::default();
        for (name, text) in [("out", "outside"), ("folder/file", "inside")] {
            assert_eq!(tree.read(&opener, name, Links::Refuse), LOOP, "{name}");
            assert_eq!(tree.read(&opener, name, Links::Follow).as_deref(), Ok(text));
            assert_eq!(tree.read(&opener, name, Links::OwnersMatch).as_deref(), Ok(text), "we own both");
        }
        assert_eq!(tree.read(&opener, "sub/file", Links::Refuse).as_deref(), Ok("inside"));
        assert_eq!(tree.read(&opener, "none", Links::Refuse), Err(Some(Errno::ENOENT as i32)));
        assert!(opener.is_refused(&tree.at("root"), &tree.at("root/folder/none/deeper"), Links::Refuse));
        assert!(!opener.is_refused(&tree.at("root"), &tree.at("root/sub/none/deeper"), Links::Refuse));
    }

    #[test]
    fn a_root_that_is_a_link_is_the_administrators() {
        let tree = Tree::new();
        symlink("root", tree.at("current")).unwrap();
        let opener = Opener::default();
        for links in [Links::Refuse, Links::OwnersMatch] {
            let opened = opener.open(&tree.at("current"), &tree.at("current/sub/file"), links);
            assert!(opened.is_ok(), "{opened:?}");
        }
        assert!(opener.open(&tree.at("elsewhere"), &tree.at("current/sub/file"), Links::Refuse).is_err());
    }

    #[test]
    fn a_link_of_another_owner_is_refused() {
        let tree = Tree::new();
        symlink("../secret", tree.at("root/out")).unwrap();
        // Only root can give a file away; the suite of the repository runs as root in its container.
        if chown(tree.at("secret"), Some(12345), None).is_err() {
            return;
        }
        let opener = Opener::default();
        assert_eq!(tree.read(&opener, "out", Links::OwnersMatch), LOOP);
        chown(tree.at("secret"), Some(fs::symlink_metadata(tree.at("root/out")).unwrap().uid()), None).unwrap();
        assert_eq!(tree.read(&opener, "out", Links::OwnersMatch).as_deref(), Ok("outside"));
    }

    #[test]
    fn what_was_believed_is_looked_at_again_when_it_leads_elsewhere() {
        let tree = Tree::new();
        symlink("sub/file", tree.at("root/link")).unwrap();
        let opener = Opener::default();
        assert_eq!(tree.read(&opener, "link", Links::OwnersMatch).as_deref(), Ok("inside"));
        if chown(tree.at("secret"), Some(12345), None).is_err() {
            return;
        }
        fs::remove_file(tree.at("root/link")).unwrap();
        symlink("../secret", tree.at("root/link")).unwrap();
        assert_eq!(tree.read(&opener, "link", Links::OwnersMatch), LOOP);
    }

    #[test]
    fn no_exchange_of_file_and_link_shows_what_lies_outside() {
        let tree = Tree::new();
        let stop = AtomicBool::new(false);
        fs::write(tree.at("root/name"), "inside").unwrap();
        symlink("../secret", tree.at("root/out")).unwrap();
        fs::write(tree.at("root/in"), "inside").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for name in ["root/out", "root/in"] {
                        let _ = fs::hard_link(tree.at(name), tree.at("root/next"));
                        let _ = fs::rename(tree.at("root/next"), tree.at("root/name"));
                        // A rename onto another name of the same file leaves both.
                        let _ = fs::remove_file(tree.at("root/next"));
                    }
                }
            });
            let opener = Opener::default();
            let mut seen = [false; 2];
            for _ in 0..20_000 {
                match tree.read(&opener, "name", Links::Refuse) {
                    Ok(text) => {
                        assert_eq!(text, "inside");
                        seen[0] = true;
                    }
                    refused => {
                        assert_eq!(refused, LOOP);
                        seen[1] = true;
                    }
                }
            }
            stop.store(true, Ordering::Relaxed);
            assert_eq!(seen, [true, true], "both were met");
        });
    }
}
