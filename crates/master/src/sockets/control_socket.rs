//! The socket that `cameleer status | reload | stop | purge` talk to: a JSON line each way.

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

/// Longer than any command.
const MAX_LINE: usize = 64 * 1024;
/// How long another master may look for abandoned sockets. Anybody may lock a folder like /tmp.
const LOCK_WAITS: Duration = Duration::from_secs(2);

/// What one asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase")]
pub enum Command {
    /// Describe yourself.
    Status,
    /// The same, with all times that were counted: for who asks each second.
    Snapshot,
    /// Read configuration and code anew; answered when it is done.
    Reload,
    /// Have the mold and the workers tell about themselves.
    Inspect {
        /// What.
        what: Inspection,
    },
    /// Take samples of what workers are at; answered when that is done.
    Record {
        /// For so long.
        seconds: f64,
        /// So many a second.
        hertz: f64,
    },
    /// Tell the requests that `SlowLog` has found last.
    #[serde(rename = "slow")]
    SlowRequests,
    /// Tell what a worker is at now.
    Look {
        /// Its place in the pool.
        worker: u32,
    },
    /// Have the mold find out what this would cost workers that load it.
    Weigh {
        /// Which code.
        code: LateCode,
    },
    /// Make a worker the mold and renew the pool from it; answered when that is done.
    Refork,
    /// Ask a worker to leave when it has no request; another takes its place.
    Recycle {
        /// Its place in the pool.
        worker: u32,
    },
    /// Open the logs anew.
    Reopen,
    /// Have so many workers, of which so many have a request at one time, until the next reload: for measurements.
    Size {
        /// How many there are.
        workers: u32,
        /// How many have a request at one time.
        busy: u32,
    },
    /// Make the cache forget.
    Purge {
        /// Which answers, as `cameleer purge` takes it; `*`: all.
        url: String,
    },
    /// End; answered at once, and the connection closes when the last process has ended.
    Stop {
        /// In what manner.
        #[serde(default)]
        how: How,
    },
}

/// How to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Requests under way are finished.
    #[default]
    Graceful,
    /// They are not.
    Fast,
}

/// What one is told.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ControlReply {
    /// It was done.
    pub ok: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Answer to `status`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<Status>,
    /// Answer to `purge`: how many answers were forgotten.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub purged: Option<u64>,
    /// Answer to `inspect`: the mold first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub told: Option<Vec<Told>>,
}

/// What one process has told about itself.
#[derive(Debug, Serialize, Deserialize)]
pub struct Told {
    /// Its place in the pool; `None` for the mold.
    pub worker: Option<u32>,
    /// Its process.
    pub pid: i32,
    /// JSON that the site's own code could have written; empty when it had no time.
    pub text: String,
}

impl Told {
    /// What it says, if it is that: the site's own code could have written it.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&self.text).ok()
    }
}

impl ControlReply {
    /// It was done.
    pub fn ok() -> ControlReply {
        ControlReply { ok: true, ..ControlReply::default() }
    }

    /// It was not.
    pub fn failed(error: impl ToString) -> ControlReply {
        ControlReply { error: Some(error.to_string()), ..ControlReply::default() }
    }
}

/// A connection, for as long as it is open.
pub type Client = u64;

/// The socket and those who are connected to it.
#[derive(Debug)]
pub struct ControlSocket {
    path: PathBuf,
    /// The file that we made there.
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
    /// Opens it at `path`, for our user alone.
    pub fn open(path: &Path) -> anyhow::Result<ControlSocket> {
        if let Some(why) = exposed::because(path) {
            bail!("ControlSocket {}: {why}; name one in a folder that only root may write to", path.display());
        }
        let _lock = path.parent().map(lock);
        ControlSocket::bind(path).with_context(|| format!("ControlSocket {}", path.display()))
    }

    /// Opens it in the usual place. The number in its name is for people: another container may have the same one, and
    /// then ours has its namespace's too.
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

    /// Who is connected, and whether an answer waits for him to read.
    pub fn clients(&self) -> impl Iterator<Item = (Client, BorrowedFd<'_>, bool)> {
        self.clients.iter().map(|(client, c)| (*client, c.stream.as_fd(), !c.output.is_empty()))
    }

    /// Lets those in who wait.
    pub fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if stream.set_nonblocking(true).is_ok() {
                self.clients.insert(self.next, Connection { stream, input: Vec::new(), output: Vec::new() });
                self.next += 1;
            }
        }
    }

    /// Moves bytes both ways and returns the commands that are complete. Who left, or talks nonsense, is closed.
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

    /// Tells `client`, if he is still there.
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

/// While it is held no other master looks for abandoned sockets in `folder`: one that is bound and does not listen yet
/// refuses as an abandoned one does. Where a folder cannot be locked, or somebody keeps it, we go on: what lives still
/// answers.
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

/// Where the master puts its socket unless `ControlSocket` says otherwise.
fn our_folder() -> anyhow::Result<PathBuf> {
    let folder = default_folder();
    // Known by all its processes' user only: in a shared TMPDIR anybody may make a folder of this name.
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(error)
                .with_context(|| format!("{}: cannot make the control socket's folder", folder.display()));
        }
        _ => {}
    }
    if metadata(&folder)?.uid() != geteuid().as_raw() {
        bail!("{} belongs to somebody else; set TMPDIR or ControlSocket", folder.display());
    }
    Ok(folder)
}

/// What masters left that were killed: sockets that nobody listens to. Whose number is in the name says nothing, because
/// it may be of another container's processes.
fn remove_abandoned(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in entries.filter(|path| path.extension().is_some_and(|extension| extension == "sock")) {
        if call(&path) == Err(Errno::ECONNREFUSED) {
            let _ = remove_file(&path);
        }
    }
}

/// Whether somebody listens there. He need not be quick to accept: we do not wait for it.
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
        // No process here has this number; a container's may.
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
