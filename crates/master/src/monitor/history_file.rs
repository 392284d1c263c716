//! `HistoryFile`: opened by the master, which has the permission, and passed to the monitor.

use std::fs::{File, OpenOptions, rename};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};

use config::{Config, HistorySetting};

use crate::children::peer::Fd;
use base::log;
use status::history::{Damage, HistoryRing, WEEK};
use sys::exposed;

/// The file, locked against other servers.
#[derive(Debug)]
pub struct HistoryFile {
    path: PathBuf,
    fd: Fd,
    _lock: Flock<File>,
}

impl HistoryFile {
    /// Opens the file of the configuration. Without it the server starts all the same.
    pub fn of(config: &Config) -> Option<HistoryFile> {
        let path = match &config.monitor.history {
            HistorySetting::Off => return None,
            HistorySetting::File(path) => path.clone(),
            HistorySetting::Auto => config.state_folder()?.join("history"),
        };
        match HistoryFile::open(&path) {
            Ok(file) => Some(file),
            Err(error) => {
                log::error("master", format_args!("HistoryFile: {}: no history is recorded: {error}", path.display()));
                None
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A descriptor for the monitor.
    pub fn fd(&self) -> Fd {
        self.fd.clone()
    }

    fn open(path: &Path) -> io::Result<HistoryFile> {
        let lock = lock(open(path)?)?;
        match HistoryRing::open(lock.try_clone()?, WEEK) {
            Ok(_) => HistoryFile::new(path, lock),
            Err(Damage::Io(error)) => Err(error),
            Err(damage) => {
                let aside = aside(path);
                rename(path, &aside)?;
                let line =
                    format_args!("HistoryFile {} {damage}; it was renamed to {}", path.display(), aside.display());
                log::warn("master", line);
                let lock = self::lock(open(path)?)?;
                HistoryRing::open(lock.try_clone()?, WEEK).map_err(|damage| io::Error::other(damage.to_string()))?;
                HistoryFile::new(path, lock)
            }
        }
    }

    fn new(path: &Path, lock: Flock<File>) -> io::Result<HistoryFile> {
        Ok(HistoryFile { path: path.to_owned(), fd: Fd::new(lock.try_clone()?.into()), _lock: lock })
    }
}

/// Opens the file. FIFOs and devices are refused: a FIFO waits for a reader, a device has no positions.
fn open(path: &Path) -> io::Result<File> {
    if let Some(why) = exposed::because(path) {
        return Err(io::Error::other(format!("{why}; name a file in a folder that only root may write to")));
    }
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_NOFOLLOW;
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).mode(0o640).custom_flags(flags.bits()).open(path)?;
    let about = file.metadata()?;
    match about.is_file() {
        true if exposed::is_planted(&about) => {
            Err(io::Error::other("is another user's file, or has a second name; remove it"))
        }
        true => Ok(file),
        false => Err(io::Error::other("is not a regular file")),
    }
}

fn lock(file: File) -> io::Result<Flock<File>> {
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| match error {
        Errno::EWOULDBLOCK => io::Error::other("another server writes to it"),
        error => error.into(),
    })
}

/// A name for a damaged file, such as `history.damaged-1790000000`.
fn aside(path: &Path) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".damaged-{now}"));
    path.with_file_name(name)
}
