//! The file in which the lists of late code lie between two runs. The master takes it away at a start and writes it
//! again once workers serve, so that code with which the server cannot start is not tried twice.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};

use super::loaded;
use super::preload::PreloadLists;
use sys::exposed;

/// Maximum size of the file in bytes.
const MAX_BYTES: usize = 2 << 20;
/// Version of the format.
const VERSION: u32 = 1;
const OTHERS_WRITE: u32 = 0o022;

/// The content of the file, as JSON.
#[derive(Serialize, Deserialize)]
struct StoredLists {
    version: u32,
    /// The configuration that the lists belong to.
    configuration: String,
    pools: PreloadLists,
}

/// Takes the lists of the last run of this configuration. The error is the reason why there are none.
pub fn take(path: &Path, configuration: &str) -> Result<PreloadLists, String> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(PreloadLists::default()),
        Err(error) => return Err(error.to_string()),
    };
    let mut stored = read(file)?;
    if stored.configuration != configuration {
        return Err(format!("it belongs to another configuration, {}", short(&stored.configuration)));
    }
    fs::remove_file(path).map_err(|error| format!("cannot be removed: {error}"))?;
    stored.pools.values_mut().for_each(|list| list.code.modules.retain(|(name, _)| loaded::is_module(name)));
    Ok(stored.pools)
}

/// Modification time of a piece of code in nanoseconds since 1970; 0 if it cannot be read.
pub fn changed(file: &str) -> i64 {
    fs::metadata(file).map_or(0, |about| about.mtime().saturating_mul(1_000_000_000).saturating_add(about.mtime_nsec()))
}

/// Opens the file if only this user can have written it.
fn open(path: &Path) -> io::Result<File> {
    if let Some(why) = exposed::because(path) {
        return Err(io::Error::other(why));
    }
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_NOFOLLOW;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path);
    let file = opened.map_err(|error| match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ELOOP) => io::Error::other("is a symbolic link"),
        _ => error,
    })?;
    let about = file.metadata()?;
    let wrong = match () {
        () if !about.is_file() => Some("is not a regular file"),
        () if about.uid() != geteuid().as_raw() => Some("is another user's file"),
        () if about.nlink() > 1 => Some("has a second name"),
        () if about.mode() & OTHERS_WRITE != 0 => Some("may be written to by others"),
        () => None,
    };
    wrong.map_or(Ok(file), |why| Err(io::Error::other(why)))
}

fn read(file: File) -> Result<StoredLists, String> {
    let mut text = Vec::new();
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() > MAX_BYTES {
        return Err(format!("is larger than {MAX_BYTES} bytes"));
    }
    let stored: StoredLists = serde_json::from_slice(&text).map_err(|error| format!("is damaged: {error}"))?;
    match stored.version {
        VERSION => Ok(stored),
        other => Err(format!("is of another version of the server ({other})")),
    }
}

/// Replaces the file as a whole. The main loop does not wait for the disk: what a power failure leaves of the file is
/// refused as damaged.
pub fn save(path: &Path, configuration: &str, lists: &PreloadLists) -> io::Result<()> {
    if let Some(why) = exposed::because(path) {
        return Err(io::Error::other(why));
    }
    let stored = StoredLists { version: VERSION, configuration: configuration.to_owned(), pools: lists.clone() };
    let text = serde_json::to_vec(&stored)?;
    if text.len() > MAX_BYTES {
        return Err(io::Error::other(format!("the list would have {} bytes, the most is {MAX_BYTES}", text.len())));
    }
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(&text)?;
    fs::rename(&new, path)
}

fn short(configuration: &str) -> String {
    configuration.lines().next().unwrap_or_default().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use wire::control::{LateCode, PreloadOrder};

    use super::*;

    fn lists() -> PreloadLists {
        let modules = vec![("A.pm".to_owned(), "/lib/A.pm".to_owned())];
        let code = LateCode { modules, scripts: Vec::new() };
        PreloadLists::from([("default".to_owned(), PreloadOrder { code, left_out: Vec::new() })])
    }

    fn saved(folder: &Path) -> PathBuf {
        let path = folder.join("preload");
        save(&path, "/etc/site.conf", &lists()).expect("written");
        path
    }

    #[test]
    fn lists_are_taken_once_by_the_configuration_that_has_stored_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = saved(folder.path());
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        let error = take(&path, "/etc/other.conf").expect_err("not its own");
        assert_eq!(error, "it belongs to another configuration, /etc/site.conf");
        assert_eq!(take(&path, "/etc/site.conf"), Ok(lists()));
        assert_eq!(take(&path, "/etc/site.conf"), Ok(PreloadLists::default()), "it was taken");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn a_file_that_another_program_may_have_written_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = saved(folder.path());
        let refused = |why: &str| {
            let error = take(&path, "/etc/site.conf").expect_err(why);
            assert!(error.contains(why), "{error}");
        };
        fs::set_permissions(&path, fs::Permissions::from_mode(0o606)).expect("our own file");
        refused("may be written to by others");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("our own file");
        fs::hard_link(&path, folder.path().join("second")).expect("a link");
        refused("has a second name");
        fs::remove_file(folder.path().join("second")).expect("our own file");
        fs::rename(&path, folder.path().join("real")).expect("our own file");
        symlink(folder.path().join("real"), &path).expect("a link");
        refused("is a symbolic link");
        fs::remove_file(&path).expect("our own file");
        fs::create_dir(&path).expect("a folder");
        refused("is not a regular file");
        fs::remove_dir(&path).expect("our own folder");
        for (text, why) in [("", "is damaged"), ("{\"version\":1", "is damaged"), ("[]", "is damaged")] {
            fs::write(&path, text).expect("written");
            refused(why);
        }
        fs::write(&path, "{\"version\":9,\"configuration\":\"\",\"pools\":{}}").expect("written");
        refused("of another version");
        fs::write(&path, vec![b' '; MAX_BYTES + 1]).expect("written");
        refused("is larger than");
    }

    #[test]
    fn a_link_in_place_of_the_file_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, target) = (folder.path().join("preload"), folder.path().join("target"));
        fs::write(&target, "of somebody").expect("written");
        symlink(&target, &path).expect("a link");
        save(&path, "/etc/site.conf", &lists()).expect("written");
        assert_eq!(fs::read_to_string(&target).expect("there"), "of somebody");
        assert_eq!(take(&path, "/etc/site.conf"), Ok(lists()));
    }
}
