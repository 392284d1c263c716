//! The folder of `RecordFailures`. Root makes it for the front, whose user may not write to ServerRoot.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, mkdirat, open, openat};

use base::log;
use config::Config;
use sys::exposed;
use sys::privileges::{self, Account};

const OTHERS_WRITE: u32 = 0o022;

/// Makes the folder, if root has started the server, failures are recorded, and it is missing. Without it the server
/// starts all the same.
pub fn prepare(config: &Config) {
    let Some((folder, account)) = wanted(config) else { return };
    if let Some(why) = wrong(config) {
        return log::error("master", format_args!("{why}. Until then no failure is recorded"));
    }
    let made = if folder.symlink_metadata().is_err() { make(&folder, &account) } else { Ok(()) };
    if let Err(error) = made {
        let folder = folder.display();
        log::error("master", format_args!("RecordFailures: {folder} cannot be made, no failure is recorded: {error}"));
    }
}

/// Why the front cannot record failures, and what to do.
pub fn wrong(config: &Config) -> Option<String> {
    let (folder, account) = wanted(config)?;
    let uid = account.uid;
    let why = match folder.symlink_metadata() {
        Err(_) => refusal(&folder, &account)?,
        Ok(about) if !about.is_dir() => "is not a folder".to_owned(),
        Ok(about) if about.uid() != uid => format!("belongs to user {}", about.uid()),
        Ok(about) if about.mode() & OTHERS_WRITE != 0 => "may be written to by others".to_owned(),
        Ok(_) => return None,
    };
    let folder = folder.display();
    Some(format!("RecordFailures: {folder} {why}; install -d -m 700 -o '#{uid}' {folder} makes a folder for User"))
}

/// The folder and its owner. `None`: failures are not recorded, or the front makes the folder itself.
fn wanted(config: &Config) -> Option<(PathBuf, Account)> {
    if !config.failures.is_on {
        return None;
    }
    let account = privileges::account(config.user.as_deref(), config.group.as_deref()).ok()??;
    Some((config.failures.folder_below(&config.server_root), account))
}

/// Why root does not make the folder.
fn refusal(folder: &Path, account: &Account) -> Option<String> {
    let parent = folder.parent()?;
    let Ok(about) = parent.metadata() else { return Some(format!("is missing, and so is {}", parent.display())) };
    // The front itself may do so.
    if about.uid() == account.uid {
        return None;
    }
    exposed::because(folder)
        .map(|why| format!("is missing, and root does not create it, because {why}; create it, owned by User"))
}

/// Makes the folder, where nobody can replace it before it has its owner.
fn make(folder: &Path, account: &Account) -> io::Result<()> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return Ok(()) };
    if fs::metadata(parent)?.uid() == account.uid {
        return Ok(());
    }
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let parent = open(parent, flags, Mode::empty())?;
    mkdirat(&parent, name, Mode::RWXU)?;
    let made = File::from(openat(&parent, name, flags | OFlags::NOFOLLOW, Mode::empty())?);
    made.set_permissions(Permissions::from_mode(0o700))?;
    fchown(&made, Some(account.uid), Some(account.gid))
}
