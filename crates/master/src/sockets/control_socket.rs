//! The control socket of `cameleer status | reload | stop | purge`: a JSON line for each command and each answer.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, metadata, remove_file};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use nix::unistd::geteuid;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use wire::control::{Inspection, LateCode};

use super::listeners::{remove_stale, with_mode};
use status::{FileId, Status};
use sys::exposed;

/// Maximum length of a command in bytes.
const MAX_LINE: usize = 64 * 1024;
/// Timeout for the lock that another master holds while it searches for abandoned sockets. Any user may lock a folder
/// like /tmp.
const LOCK_WAITS: Duration = Duration::from_secs(2);

/// A command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase")]
pub enum Command {
    /// Report the status.
    Status,
    /// Report the status with complete histograms, for programs that poll each second.
    Snapshot,
    /// Read configuration and code anew; answered at the end.
    Reload,
    /// Have the mold and the workers report on themselves.
    Inspect {
        /// Kind of inspection.
        what: Inspection,
    },
    /// Sample the stacks of workers; answered at the end.
    Record {
        /// Length of the recording.
        seconds: f64,
        /// Samples per second.
        hertz: f64,
    },
    /// Report the requests that `SlowLog` has found last.
    #[serde(rename = "slow")]
    SlowRequests,
    /// Report the current activity of a worker.
    Look {
        /// Slot of the worker.
        worker: u32,
    },
    /// Have the mold measure the memory that workers need to load this code.
    Weigh {
        /// Modules and scripts to load.
        code: LateCode,
    },
    /// Make a worker the mold and renew the pool from it; answered at the end.
    Refork,
    /// Ask a worker to leave when it is idle; it is replaced.
    Recycle {
        /// Slot of the worker.
        worker: u32,
    },
    /// Reopen the logs.
    Reopen,
    /// Fix the number of workers, and of busy ones, until the next reload: for measurements.
    Size {
        /// Number of workers.
        workers: u32,
        /// Number of workers that may have a request at one time.
        busy: u32,
    },
    /// Drop cached responses.
    Purge {
        /// The answers, as `cameleer purge` names them; `*`: all.
        url: String,
    },
    /// Stop the server. Answered immediately; the connection is closed when the last process has ended.
    Stop {
        /// Graceful or fast.
        #[serde(default)]
        how: How,
    },
}

/// How to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Finish the requests under way.
    #[default]
    Graceful,
    /// Finish no request.
    Fast,
}

/// The answer to a command.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ControlReply {
    /// Whether the command was carried out.
    pub ok: bool,
    /// Why the command failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Answer to `status`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<Status>,
    /// Answer to `purge`: the number of dropped answers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub purged: Option<u64>,
    /// Answer to `inspect`: the mold first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub told: Option<Vec<Told>>,
}

/// The report of one process on itself.
#[derive(Debug, Serialize, Deserialize)]
pub struct Told {
    /// Slot of the worker; `None` for the mold.
    pub worker: Option<u32>,
    /// Process id.
    pub pid: i32,
    /// JSON, which the site's code could have forged; empty when the process had no time.
    pub text: String,
}

impl Told {
    /// The report as a `T`; `None` if it is malformed, because the site's code could have forged it.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&self.text).ok()
    }
}

impl ControlReply {
    /// The answer for a command that was carried out.
    pub fn ok() -> ControlReply {
        ControlReply { ok: true, ..ControlReply::default() }
    }

    /// The command was not carried out.
    pub fn failed(error: impl ToString) -> ControlReply {
        ControlReply { error: Some(error.to_string()), ..ControlReply::default() }
    }
}

/// A connection, for as long as it is open.
pub type Client = u64;

/// The socket and its connections.
#[derive(Debug)]
pub struct ControlSocket {
    path: PathBuf,
    /// Identity of the socket's file.
    file: Option<FileId>,
    listener: UnixListener,
    clients: BTreeMap<Client, Connection>,
    next: Client,
}

#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl ControlSocket {
    /// Opens the socket at `path`, for this user alone.
    pub fn open(path: &Path) -> anyhow::Result<ControlSocket> {
        if let Some(why) = exposed::because(path) {
            bail!("ControlSocket {}: {why}; name one in a folder that only root may write to", path.display());
        }
        let _lock = path.parent().map(lock);
        ControlSocket::bind(path).with_context(|| format!("ControlSocket {}", path.display()))
    }

    /// Opens the socket in the default folder. The process id in its name is for people: where another container has the same one, the
    /// name contains the pid namespace too.
    pub fn open_default() -> anyhow::Result<ControlSocket> {
        let folder = our_folder()?;
        let _lock = lock(&folder);
        remove_abandoned(&folder);
        let pid = std::process::id();
        let path = folder.join(format!("{pid}.sock"));
        if !matches!(call(&path), Ok(()) | Err(Errno::EAGAIN)) {
            return ControlSocket::bind(&path).with_context(|| format!("the control socket {}", path.display()));
        }
        let namespace = metadata("/proc/self/ns/pid").map_or(0, |about| about.ino());
        let path = folder.join(format!("{pid}-{namespace}.sock"));
        ControlSocket::bind(&path).with_context(|| format!("the control socket {}", path.display()))
    }

    fn bind(path: &Path) -> anyhow::Result<ControlSocket> {
        remove_stale(path)?;
        let listener = with_mode(0o600, || UnixListener::bind(path))?;
        listener.set_nonblocking(true)?;
        let (path, file) = (path.to_owned(), FileId::of(path));
        Ok(ControlSocket { path, file, listener, clients: BTreeMap::new(), next: 0 })
    }

    /// All connections; the flag shows whether an answer is not sent yet.
    pub fn clients(&self) -> impl Iterator<Item = (Client, BorrowedFd<'_>, bool)> {
        self.clients.iter().map(|(client, c)| (*client, c.stream.as_fd(), !c.output.is_empty()))
    }

    /// Accepts all waiting connections.
    pub fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if stream.set_nonblocking(true).is_ok() {
                self.clients.insert(self.next, Connection { stream, input: Vec::new(), output: Vec::new() });
                self.next += 1;
            }
        }
    }

    /// Reads and writes, and returns the complete commands. A connection that was closed or sent an invalid command is dropped.
    pub fn serve(&mut self, client: Client) -> Vec<Command> {
        let Some(connection) = self.clients.get_mut(&client) else { return Vec::new() };
        match connection.read().and_then(|commands| connection.write().map(|()| commands)) {
            Ok(commands) => commands,
            Err(_) => {
                self.clients.remove(&client);
                Vec::new()
            }
        }
    }

    /// Answers `client`, if it is still connected.
    pub fn answer(&mut self, client: Client, answer: &ControlReply) {
        let Some(connection) = self.clients.get_mut(&client) else { return };
        let said = serde_json::to_writer(&mut connection.output, answer).map_err(io::Error::from);
        connection.output.push(b'\n');
        if said.and_then(|()| connection.write()).is_err() {
            self.clients.remove(&client);
        }
    }
}

impl Connection {
    fn read(&mut self) -> io::Result<Vec<Command>> {
        let mut buffer = [0; 4096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => self.input.extend_from_slice(&buffer[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
            if self.input.len() > MAX_LINE {
                return Err(ErrorKind::InvalidData.into());
            }
        }
        let mut commands = Vec::new();
        while let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(command) => commands.push(command),
                Err(error) => self.refuse(&error)?,
            }
        }
        Ok(commands)
    }

    fn refuse(&mut self, error: &serde_json::Error) -> io::Result<()> {
        let answer = ControlReply::failed(format!(
            "expected {{\"command\":\"status\"}}, reload, refork, recycle, reopen, stop or purge: {error}"
        ));
        serde_json::to_writer(&mut self.output, &answer)?;
        self.output.push(b'\n');
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(n) => drop(self.output.drain(..n)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl AsFd for ControlSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        if FileId::of(&self.path) == self.file {
            let _ = remove_file(&self.path);
        }
    }
}

/// Prevents other masters from searching `folder` for abandoned sockets: a socket that is bound but does not listen yet
/// refuses connections as an abandoned one does. Without the lock the master continues, because the socket of a running
/// server still answers.
fn lock(folder: &Path) -> Option<Flock<File>> {
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
fn our_folder() -> anyhow::Result<PathBuf> {
    let folder = default_folder();
    // Identified by its owner: in a shared TMPDIR any user may make a folder of this name.
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(error)
                .with_context(|| format!("{}: cannot make the control socket's folder", folder.display()));
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
fn remove_abandoned(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in entries.filter(|path| path.extension().is_some_and(|extension| extension == "sock")) {
        if call(&path) == Err(Errno::ECONNREFUSED) {
            let _ = remove_file(&path);
        }
    }
}

/// Whether a process listens there. The call does not wait for accept.
fn call(path: &Path) -> Result<(), Errno> {
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
    use std::io::{BufRead, BufReader};

    fn open(name: &str) -> ControlSocket {
        let path = std::env::temp_dir().join(format!("cameleer-{name}-{}.sock", std::process::id()));
        ControlSocket::open(&path).expect("opened")
    }

    #[test]
    fn commands_are_json_lines_and_so_are_answers() {
        let mut socket = open("lines");
        let mut stream = UnixStream::connect(&socket.path).expect("connected");
        stream.write_all(b"{\"command\":\"stop\",\"how\":\"fast\"}\n{\"command\":\"reload\"}\n{\"comm").expect("sent");
        socket.accept();
        assert_eq!(socket.serve(0), [Command::Stop { how: How::Fast }, Command::Reload]);
        socket.answer(0, &ControlReply::failed("no"));
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).expect("answered");
        assert_eq!(line, "{\"ok\":false,\"error\":\"no\"}\n");
    }

    #[test]
    fn only_sockets_that_nobody_listens_to_are_abandoned() {
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

    #[test]
    fn a_socket_that_another_server_has_made_in_our_place_stays() {
        let ours = open("moved");
        let path = ours.path.clone();
        remove_file(&path).expect("removed");
        let theirs = ControlSocket::open(&path).expect("opened");
        drop(ours);
        assert!(path.exists());
        drop(theirs);
        assert!(!path.exists());
    }

    #[test]
    fn nonsense_is_answered_and_a_client_that_left_is_forgotten() {
        let mut socket = open("nonsense");
        let mut stream = UnixStream::connect(&socket.path).expect("connected");
        stream.write_all(b"help\n").expect("sent");
        socket.accept();
        assert_eq!(socket.serve(0), []);
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).expect("answered");
        assert!(line.contains("\"ok\":false"), "{line}");
        drop(stream);
        socket.serve(0);
        assert_eq!(socket.clients().count(), 0);
    }
}
