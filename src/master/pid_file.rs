//! `PidFile`: the master's process id while it runs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use nix::unistd::Pid;

/// A written pid file; removed when dropped, if it is still ours.
#[derive(Debug)]
pub struct PidFile(PathBuf);

impl PidFile {
    /// Writes it. Fails when it names a living server; one that was killed left a stale file, which is replaced.
    pub fn write(path: &Path) -> anyhow::Result<PidFile> {
        if let Some(pid) = read(path)?.filter(|pid| is_a_server(*pid)) {
            bail!("PidFile {}: already running as process {pid}; stop it, or name another file", path.display());
        }
        let text = format!("{}\n", std::process::id());
        fs::write(path, text).with_context(|| format!("PidFile: cannot write {}", path.display()))?;
        Ok(PidFile(path.to_owned()))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if read(&self.0).ok().flatten() == Some(Pid::this()) {
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// The process that a pid file names; `None` when there is no file.
pub fn read(path: &Path) -> anyhow::Result<Option<Pid>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("PidFile: cannot read {}", path.display())),
        Ok(text) => Ok(text.trim().parse().ok().filter(|pid| *pid > 0).map(Pid::from_raw)),
    }
}

/// Whether it lives and is one of us: the number may have gone to another program since. A process that has ended and
/// was not reaped has no command line any more.
fn is_a_server(pid: Pid) -> bool {
    let of = |pid: Pid, what: &str| fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
    pid != Pid::this() && !of(pid, "cmdline").is_empty() && of(pid, "comm") == of(Pid::this(), "comm")
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
        assert_eq!(read(&path).expect("read"), Some(Pid::this()));
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn a_pid_file_of_another_program_is_stale() {
        let path = path("other");
        fs::write(&path, "1\n").expect("written");
        drop(PidFile::write(&path).expect("process 1 is no server of ours"));
    }
}
