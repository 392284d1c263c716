//! `PidFile`: the master's process id while it runs.
//!
//! The number is valid in one pid namespace only; containers that share a folder have several. Therefore the lock on
//! the file decides whether its server runs, and no signal is sent because of the number.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::libc;
use nix::unistd::Pid;

use base::log;
use config::Config;
use status::FileId;
use sys::exposed;

/// Maximum bytes read; longer than any process id.
const MAX_BYTES: u64 = 32;

/// A written pid file; removed when dropped, if the path still leads to it.
#[derive(Debug)]
pub struct PidFile {
    path: PathBuf,
    id: FileId,
    /// Held as long as the server runs.
    _locked: Flock<File>,
}

impl PidFile {
    /// Writes the file that the configuration names. In a folder where other users could have planted a link, no file
    /// is written and the server starts without one.
    pub fn of(config: &Config) -> anyhow::Result<Option<PidFile>> {
        let Some(path) = config.pid_file.as_deref() else { return Ok(None) };
        if let Some(why) = exposed::because(path) {
            let advice = "name a file in a folder that only root may write to";
            log::error("master", format_args!("PidFile: {}: not written: {why}; {advice}", path.display()));
            return Ok(None);
        }
        PidFile::write(path).map(Some)
    }

    /// Writes the file. Fails when its server runs, in whatever container; the stale file of a killed server is
    /// replaced.
    pub fn write(path: &Path) -> anyhow::Result<PidFile> {
        PidFile::replace(path).with_context(|| format!("PidFile: {}", path.display()))
    }

    fn replace(path: &Path) -> anyhow::Result<PidFile> {
        loop {
            let file = open(path)?;
            let mut locked = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(locked) => locked,
                Err((file, Errno::EWOULDBLOCK)) => bail!("{}; stop it, or name another file", who_runs(&file)),
                Err((_, error)) => return Err(error).context("cannot be locked"),
            };
            let about = locked.metadata()?;
            if exposed::is_planted(&about) {
                bail!("is a file of user {} with {} names; remove it", about.uid(), about.nlink());
            }
            let id = FileId::from(&about);
            // The server that held the lock until now has removed the file.
            if FileId::of(path) != Some(id) {
                continue;
            }
            locked.set_len(0)?;
            locked.write_all(format!("{}\n", std::process::id()).as_bytes()).context("cannot be written")?;
            return Ok(PidFile { path: path.to_owned(), id, _locked: locked });
        }
    }

    /// Identity of the file: device and inode.
    pub fn id(&self) -> FileId {
        self.id
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if FileId::of(&self.path) == Some(self.id) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn open(path: &Path) -> anyhow::Result<File> {
    let mut options = OpenOptions::new();
    // O_NONBLOCK: opening a FIFO to write waits for a reader. The mode is httpd's.
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_NOCTTY;
    options.read(true).write(true).create(true).truncate(false).mode(0o644).custom_flags(flags);
    let file = options.open(path).map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => anyhow::anyhow!("is a link; name the file itself"),
        _ => anyhow::Error::new(error).context("cannot be written"),
    })?;
    if !file.metadata()?.is_file() {
        bail!("is not a regular file; name another");
    }
    Ok(file)
}

fn who_runs(file: &File) -> String {
    match number(file) {
        Some(pid) => format!("already running as process {pid}"),
        None => "a server with this PID file is still starting".to_owned(),
    }
}

fn number(file: impl Read) -> Option<Pid> {
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    text.trim().parse().ok().filter(|pid| *pid > 0).map(Pid::from_raw)
}

/// The file's identity and the process id in it; `None`: no such file.
pub fn read(path: &Path) -> anyhow::Result<Option<(FileId, Option<Pid>)>> {
    let file = match OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.with_context(|| format!("PidFile: cannot read {}", path.display()))?,
    };
    let about = file.metadata()?;
    Ok(Some((FileId::from(&about), if about.is_file() { number(file) } else { None })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("cameleer-{name}-{}.pid", std::process::id()))
    }

    #[test]
    fn a_stale_pid_file_is_replaced_and_ours_is_removed_at_the_end() {
        let path = path("stale");
        fs::write(&path, "999999999\n").expect("written");
        let file = PidFile::write(&path).expect("replaced");
        assert_eq!(read(&path).expect("read"), Some((file.id(), Some(Pid::this()))));
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn a_pid_file_of_another_program_is_stale() {
        let path = path("other");
        fs::write(&path, "1\n").expect("written");
        drop(PidFile::write(&path).expect("process 1 is no server of ours"));
    }

    #[test]
    fn a_pid_file_whose_server_lives_is_left_alone_whatever_its_number_means_here() {
        let path = path("taken");
        let taken = PidFile::write(&path).expect("written");
        fs::write(&path, "999999999\n").expect("a number of another namespace");
        let error = format!("{:#}", PidFile::write(&path).expect_err("taken"));
        assert!(error.contains("already running as process 999999999"), "{error}");
        drop(taken);
    }

    #[test]
    fn the_target_of_a_link_is_left_alone() {
        let (path, victim) = (path("link"), path("victim"));
        fs::write(&victim, "important\n").expect("written");
        std::os::unix::fs::symlink(&victim, &path).expect("made");
        let error = format!("{:#}", PidFile::write(&path).expect_err("a link"));
        assert!(error.contains("is a link; name the file itself"), "{error}");
        assert_eq!(fs::read_to_string(&victim).expect("read"), "important\n");
        fs::remove_file(&path).expect("removed");
        fs::remove_file(&victim).expect("removed");
    }

    #[test]
    fn a_special_file_is_refused_at_once() {
        let path = path("fifo");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::from_bits_truncate(0o600)).expect("made");
        let error = format!("{:#}", PidFile::write(&path).expect_err("a FIFO"));
        assert!(error.contains("is not a regular file"), "{error}");
        assert_eq!(read(&path).expect("looked at").expect("there").1, None);
        fs::remove_file(&path).expect("removed");
    }
}
