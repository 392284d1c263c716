//! The folder of the control sockets where there is no `ControlSocket`, and the sockets that killed masters left there.

use std::fs::{DirBuilder, File, metadata, remove_file};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use nix::unistd::geteuid;

/// Timeout for the lock that another master holds while it searches for abandoned sockets. Any user may lock a folder
/// like /tmp.
const LOCK_WAITS: Duration = Duration::from_secs(2);

/// Advice where the default folder is read-only or full.
pub(super) const REMEDY: &str =
    "name a path with ControlSocket (run --control), or set TMPDIR to a folder that may be written to";

/// Prevents other masters from searching `folder` for abandoned sockets: a socket that is bound but does not listen yet
/// refuses connections as an abandoned one does. Without the lock the master continues, because the socket of a running
/// server still answers.
pub(super) fn lock(folder: &Path) -> Option<Flock<File>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut file = File::open(folder).ok()?;
    let by = Instant::now() + LOCK_WAITS;
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Err((unlocked, Errno::EWOULDBLOCK)) if Instant::now() < by => file = unlocked,
            locked => return locked.ok(),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The folder of the socket where there is no `ControlSocket`.
pub(super) fn our_folder() -> anyhow::Result<PathBuf> {
    let folder = default_folder();
    // Identified by its owner: in a shared TMPDIR any user may make a folder of this name.
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(error)
                .with_context(|| format!("{}: cannot make the control socket's folder; {REMEDY}", folder.display()));
        }
        _ => {}
    }
    if metadata(&folder)?.uid() != geteuid().as_raw() {
        bail!("{} belongs to another user; set TMPDIR or ControlSocket", folder.display());
    }
    Ok(folder)
}

/// Removes socket files of killed masters, on which no process listens. The process id in the name is no evidence: it
/// may be of another container.
pub(super) fn remove_abandoned(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in entries.filter(|path| path.extension().is_some_and(|extension| extension == "sock")) {
        if call(&path) == Err(Errno::ECONNREFUSED) {
            let _ = remove_file(&path);
        }
    }
}

/// Whether a process listens there. The call does not wait for accept.
pub(super) fn call(path: &Path) -> Result<(), Errno> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    connect(socket.as_raw_fd(), &UnixAddr::new(path)?)
}

/// `/run/cameleer` for root, else `$XDG_RUNTIME_DIR/cameleer` or `$TMPDIR/cameleer-UID`.
pub fn default_folder() -> PathBuf {
    if geteuid().is_root() && Path::new("/run").is_dir() {
        return "/run/cameleer".into();
    }
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir()) {
        Some(runtime) => runtime.join("cameleer"),
        None => std::env::temp_dir().join(format!("cameleer-{}", geteuid())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_sockets_without_a_listener_are_abandoned() {
        let folder = tempfile::tempdir().expect("a folder");
        // No process of this machine has this number; one in a container may.
        let lives = UnixListener::bind(folder.path().join("999999999.sock")).expect("bound");
        drop(UnixListener::bind(folder.path().join("1.sock")).expect("bound"));
        std::fs::write(folder.path().join("2.sock"), "").expect("a file of somebody's");
        remove_abandoned(folder.path());
        let left = |name: &str| folder.path().join(name).exists();
        assert!(left("999999999.sock") && !left("1.sock"));
        drop(lives);
    }
}
