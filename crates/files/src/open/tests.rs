use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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
        let (root, path) = (self.at("root"), self.at("root").join(name));
        let opened = opener.open(PathWithLinks { root: &root, path: &path, links }, DiskPatience::Unlimited);
        let mut text = String::new();
        opened.map_err(|error| error.raw_os_error())?.file.read_to_string(&mut text).unwrap();
        Ok(text)
    }
}

const LOOP: Result<String, Option<i32>> = Err(Some(Errno::ELOOP as i32));

#[test]
fn links_anywhere_in_the_path_are_refused_or_followed() {
    let tree = Tree::new();
    symlink("../secret", tree.at("root/out")).unwrap();
    symlink("sub", tree.at("root/folder")).unwrap();
    let opener = Opener::default();
    for (name, text) in [("out", "outside"), ("folder/file", "inside")] {
        assert_eq!(tree.read(&opener, name, Links::Refuse), LOOP, "{name}");
        assert_eq!(tree.read(&opener, name, Links::Follow).as_deref(), Ok(text));
        assert_eq!(tree.read(&opener, name, Links::OwnersMatch).as_deref(), Ok(text), "owners match");
    }
    assert_eq!(tree.read(&opener, "sub/file", Links::Refuse).as_deref(), Ok("inside"));
    assert_eq!(tree.read(&opener, "none", Links::Refuse), Err(Some(Errno::ENOENT as i32)));
    let is_refused = |name: &str| {
        let (root, path) = (tree.at("root"), tree.at(name));
        opener
            .is_refused(PathWithLinks { root: &root, path: &path, links: Links::Refuse }, DiskPatience::Unlimited)
            .unwrap()
    };
    assert!(is_refused("root/folder/none/deeper") && !is_refused("root/sub/none/deeper"));
}

#[test]
fn links_in_the_roots_own_path_are_followed() {
    let tree = Tree::new();
    symlink("root", tree.at("current")).unwrap();
    let opener = Opener::default();
    let way = |links| (tree.at("current"), tree.at("current/sub/file"), links);
    let open = |(root, path, links): (PathBuf, PathBuf, Links), patience| {
        opener.open(PathWithLinks { root: &root, path: &path, links }, patience)
    };
    assert!(open(way(Links::Refuse), DiskPatience::Unlimited).is_ok());
    assert!(open(way(Links::OwnersMatch), DiskPatience::Unlimited).is_ok());
    let cached = soon(|| open(way(Links::Refuse), DiskPatience::None));
    assert!(cached.is_ok(), "{cached:?}");
    let cached = open(way(Links::OwnersMatch), DiskPatience::None);
    assert!(cached.is_ok() || is_wait(&cached), "{cached:?}");
    let way = PathWithLinks { root: &tree.at("elsewhere"), path: &tree.at("current/sub/file"), links: Links::Refuse };
    assert!(opener.open(way, DiskPatience::Unlimited).is_err());
}

fn is_wait<T>(answer: &io::Result<T>) -> bool {
    answer.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

/// Retries while the kernel's cache lookup fails: a rename anywhere on the machine makes it fail,
/// and the other tests of this run rename files all the time.
fn soon<T>(ask: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let answer = ask();
        if !is_wait(&answer) || Instant::now() > deadline {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Uses /proc/sys, where every lookup bypasses the cache, as on a network file system.
#[test]
fn without_patience_only_cached_files_are_opened() {
    let tree = Tree::new();
    let (opener, root) = (Opener::default(), Path::new("/"));
    for links in [Links::Follow, Links::OwnersMatch, Links::Refuse] {
        let near = PathWithLinks { root, path: &tree.at("root/sub/file"), links };
        assert!(soon(|| opener.open(near, DiskPatience::None)).is_ok());
        assert_eq!(soon(|| opener.is_refused(near, DiskPatience::None)).ok(), Some(false));
        let far = PathWithLinks { root, path: Path::new("/proc/sys/kernel/ostype"), links };
        assert!(is_wait(&opener.open(far, DiskPatience::None)));
        assert!(links == Links::Follow || is_wait(&opener.is_refused(far, DiskPatience::None)));
        let opened = opener.open(far, DiskPatience::Unlimited).expect("an existing file");
        assert!(is_wait(&leads_through_no_link(far.path, &opened, DiskPatience::None)));
    }
    assert_eq!(soon(|| is_there(&tree.at("root/sub"), DiskPatience::None)).ok(), Some(true));
    assert!(is_wait(&is_there(Path::new("/proc/sys/kernel/none"), DiskPatience::None)));
    assert_eq!(is_there(Path::new("/proc/sys/kernel/none"), DiskPatience::Unlimited).ok(), Some(false));
}

#[test]
fn a_link_of_another_owner_is_refused() {
    let tree = Tree::new();
    symlink("../secret", tree.at("root/out")).unwrap();
    // Only root can change owners; the repository's tests run as root in a container.
    if chown(tree.at("secret"), Some(12345), None).is_err() {
        return;
    }
    let opener = Opener::default();
    assert_eq!(tree.read(&opener, "out", Links::OwnersMatch), LOOP);
    chown(tree.at("secret"), Some(fs::symlink_metadata(tree.at("root/out")).unwrap().uid()), None).unwrap();
    assert_eq!(tree.read(&opener, "out", Links::OwnersMatch).as_deref(), Ok("outside"));
}

#[test]
fn a_cached_check_does_not_apply_to_another_target() {
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
fn exchanging_a_file_and_a_link_never_exposes_a_file_outside() {
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
                    // A rename onto another name of the same file leaves both names.
                    let _ = fs::remove_file(tree.at("root/next"));
                }
            }
        });
        let opener = Opener::default();
        let mut seen = [false; 2];
        // On a single processor the other thread may be scheduled late.
        for turn in 0..10_000_000 {
            if turn >= 20_000 && seen == [true, true] {
                break;
            }
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
        assert_eq!(seen, [true, true], "both states were observed");
    });
}

#[test]
fn a_file_lies_in_a_folder_by_its_names_whatever_their_text() {
    let paths = [
        "/", "/a", "/a/", "/a/b", "/a//b", "/a/./b", "/a/b/", "/a/.b", "/a/b.c", "/ab", "/a/..", "/a/..b", "a/b", "",
        "//a/b",
    ];
    for (file, folder) in paths.iter().flat_map(|file| paths.map(|folder| (Path::new(*file), Path::new(folder)))) {
        assert_eq!(lies_in(file, folder), file.starts_with(folder), "{} in {}", file.display(), folder.display());
    }
}
