//! The folder of recordings. Its files are created and removed relative to its descriptor, so that no link leads
//! elsewhere.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use nix::dir::{Dir, Entry, Type};
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, fstat};
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};

/// Maximum number of files in the folder; the oldest are removed.
const MAX_FILES: usize = 100;
/// Start and end of the names of recordings.
const NAME: (&str, &str) = ("failure-", ".json");

/// Writes a recording, and removes the oldest ones beyond [`MAX_FILES`].
pub fn write(path: &Path, id: &str, text: &str) -> io::Result<()> {
    let folder = open(path)?;
    let name = format!("{}{id}{}", NAME.0, NAME.1);
    let flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_WRONLY | OFlag::O_CLOEXEC;
    let file = openat(&folder, name.as_str(), flags, Mode::S_IRUSR | Mode::S_IWUSR)?;
    let written = File::from(file).write_all(text.as_bytes());
    if written.is_err() {
        // A disk that is full: half a recording cannot be replayed.
        let _ = unlinkat(&folder, name.as_str(), UnlinkatFlags::NoRemoveDir);
    }
    written?;
    prune(folder)
}

/// Opens the folder, or creates it. Refuses a folder in which others could replace files.
fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_RDONLY | OFlag::O_CLOEXEC;
    let open = || nix::fcntl::open(path, flags, Mode::empty());
    let folder = match open() {
        Err(Errno::ENOENT) => {
            nix::unistd::mkdir(path, Mode::S_IRWXU)?;
            open()?
        }
        opened => opened?,
    };
    let about = fstat(folder.as_fd())?;
    if about.st_uid != geteuid().as_raw() || about.st_mode & 0o022 != 0 {
        let user = geteuid();
        return Err(io::Error::other(format!(
            "the folder must belong to user {user}, and only that user may write to it: chown {user} and chmod 700"
        )));
    }
    Ok(folder)
}

/// Names begin with the time in hexadecimal digits, all of the same length, so that their order is that of time. What
/// cannot be removed does not prevent the removal of others.
fn prune(folder: OwnedFd) -> io::Result<()> {
    let again = openat(&folder, ".", OFlag::O_DIRECTORY | OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?;
    let mut newest = BTreeSet::new();
    for name in Dir::from_fd(again)?.iter().flatten().filter_map(|entry| recording(&entry)) {
        newest.insert(name);
        let oldest = if newest.len() > MAX_FILES { newest.pop_first() } else { None };
        if let Some(oldest) = oldest {
            let _ = unlinkat(&folder, oldest.as_str(), UnlinkatFlags::NoRemoveDir);
        }
    }
    Ok(())
}

/// The name, if it is that of a recording.
fn recording(entry: &Entry) -> Option<String> {
    let name = entry.file_name().to_str().ok()?;
    let id = name.strip_prefix(NAME.0)?.strip_suffix(NAME.1)?;
    let is_id = id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_file = entry.file_type().is_none_or(|kind| kind == Type::File);
    (is_id && is_file).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_the_newest_files_remain() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("failures");
        for number in 0..MAX_FILES + 3 {
            write(&folder, &format!("{number:08x}-1"), "{}").expect("written");
        }
        let names: Vec<_> = std::fs::read_dir(&folder).expect("a folder").flatten().map(|it| it.file_name()).collect();
        assert_eq!(names.len(), MAX_FILES);
        assert!(!folder.join("failure-00000002-1.json").exists() && folder.join("failure-00000003-1.json").exists());
        let mode = folder.join("failure-00000003-1.json").metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn entries_that_are_no_recordings_prevent_no_removal() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("failures");
        write(&folder, "00000000-1", "{}").expect("written");
        std::fs::create_dir(folder.join("failure-0.json")).expect("created");
        symlink("elsewhere", folder.join("failure-00.json")).expect("created");
        for number in 0..11_000 {
            std::fs::write(folder.join(format!("other-{number}")), "").expect("written");
        }
        for number in 1..MAX_FILES + 3 {
            std::fs::write(folder.join(format!("failure-{number:08x}-1.json")), "").expect("written");
        }
        write(&folder, "ffffffff-1", "{}").expect("written");
        let names = std::fs::read_dir(&folder).expect("a folder").flatten().map(|it| it.file_name());
        let recordings = names.filter(|name| name.to_string_lossy().ends_with("-1.json"));
        assert_eq!(recordings.count(), MAX_FILES);
        assert!(!folder.join("failure-00000003-1.json").exists() && folder.join("failure-00000004-1.json").exists());
        assert!(folder.join("failure-ffffffff-1.json").exists() && folder.join("failure-0.json").exists());
    }

    #[test]
    fn a_link_is_not_followed_and_a_shared_folder_is_refused() {
        let parent = tempfile::tempdir().expect("a folder");
        let (real, link) = (parent.path().join("real"), parent.path().join("link"));
        std::fs::create_dir(&real).expect("created");
        symlink(&real, &link).expect("created");
        assert!(write(&link, "1", "{}").is_err());
        let target = parent.path().join("target");
        std::fs::write(&target, "").expect("written");
        symlink(&target, real.join("failure-1.json")).expect("created");
        assert!(write(&real, "1", "{}").is_err());
        assert_eq!(std::fs::read(&target).expect("a file"), b"");
        std::fs::set_permissions(&real, PermissionsExt::from_mode(0o777)).expect("our own");
        let error = write(&real, "2", "{}").expect_err("refused").to_string();
        assert!(error.contains("chmod 700"), "{error}");
    }
}
