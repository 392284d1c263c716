//! Checks for files that root writes under names from the configuration. A user who may write to the folder can replace
//! the file by a link, through which root would write to any file of the machine.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::geteuid;

const STICKY: u32 = 0o1000;
const OTHERS_WRITE: u32 = 0o002;
const GROUP_WRITES: u32 = 0o020;

/// Why another user than root controls `path`, as part of a message. `None`: only root does, or this process has no
/// more rights than its user.
pub fn because(path: &Path) -> Option<String> {
    if !geteuid().is_root() || path.starts_with("/dev") {
        return None;
    }
    let link = fs::read_link(path).ok().filter(|target| !target.starts_with("/dev") && !target.starts_with("/proc"));
    let behind = link.and_then(|_| fs::canonicalize(path).ok());
    [Some(path), behind.as_deref()].into_iter().flatten().find_map(folder)
}

/// The first folder on the way to `path` that others may change.
fn folder(path: &Path) -> Option<String> {
    let folder =
        fs::canonicalize(path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))).ok()?;
    folder.ancestors().find_map(|folder| {
        let about = fs::metadata(folder).ok()?;
        let why = if about.uid() != 0 {
            format!("belongs to user {}", about.uid())
        } else if is_open(&about) {
            "may be written to by others".to_owned()
        } else {
            return None;
        };
        Some(format!("the folder {} {why}", folder.display()))
    })
}

/// Whether others than the owner may replace a file of root in the folder. In a sticky folder they may not.
fn is_open(folder: &Metadata) -> bool {
    let group = folder.mode() & GROUP_WRITES != 0 && folder.gid() != 0;
    (folder.mode() & OTHERS_WRITE != 0 || group) && folder.mode() & STICKY == 0
}

/// Whether `file`, in a sticky folder, may have been made by another user: it belongs to one, or has a second hard
/// link.
pub fn is_planted(file: &Metadata) -> bool {
    geteuid().is_root() && file.is_file() && (file.uid() != 0 || file.nlink() > 1)
}
