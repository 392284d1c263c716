//! The control socket of `cameleer status | reload | stop | purge`: a JSON line for each command and each answer.

mod folder;
mod messages;

use std::collections::BTreeMap;
use std::fs::{metadata, remove_file};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use nix::errno::Errno;

use self::folder::{REMEDY, call, lock, our_folder, remove_abandoned};
use super::listeners::{remove_stale, with_mode};
use status::FileId;
use sys::exposed;

pub use self::folder::default_folder;
pub use self::messages::{Command, ControlReply, SelfReport, StopMode};

/// Maximum length of a command in bytes.
const MAX_LINE: usize = 64 * 1024;

/// A connection, for as long as it is open.
pub type ControlClient = u64;

/// The socket and its connections.
#[derive(Debug)]
pub struct ControlSocket {
    path: PathBuf,
    /// Identity of the socket's file.
    file: Option<FileId>,
    listener: UnixListener,
    clients: BTreeMap<ControlClient, Connection>,
    next: ControlClient,
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
            bail!("ControlSocket: {}: {why}; name one in a folder that only root may write to", path.display());
        }
        let _lock = path.parent().map(lock);
        ControlSocket::bind(path).with_context(|| format!("ControlSocket: {}", path.display()))
    }

    /// Opens the socket in the default folder. The process id in its name is for people: where another container has
    /// the same one, the name contains the pid namespace too.
    pub fn open_default() -> anyhow::Result<ControlSocket> {
        let folder = our_folder()?;
        let _lock = lock(&folder);
        remove_abandoned(&folder);
        let pid = std::process::id();
        let path = folder.join(format!("{pid}.sock"));
        if !matches!(call(&path), Ok(()) | Err(Errno::EAGAIN)) {
            return ControlSocket::bind(&path)
                .with_context(|| format!("the control socket {}; {REMEDY}", path.display()));
        }
        let namespace = metadata("/proc/self/ns/pid").map_or(0, |about| about.ino());
        let path = folder.join(format!("{pid}-{namespace}.sock"));
        ControlSocket::bind(&path).with_context(|| format!("the control socket {}; {REMEDY}", path.display()))
    }

    fn bind(path: &Path) -> anyhow::Result<ControlSocket> {
        remove_stale(path)?;
        let listener = with_mode(0o600, || UnixListener::bind(path))?;
        listener.set_nonblocking(true)?;
        let (path, file) = (path.to_owned(), FileId::of(path));
        Ok(ControlSocket { path, file, listener, clients: BTreeMap::new(), next: 0 })
    }

    /// All connections; the flag shows whether a response is not sent yet.
    pub fn clients(&self) -> impl Iterator<Item = (ControlClient, BorrowedFd<'_>, bool)> {
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

    /// Reads and writes, and returns the complete commands. A connection that was closed or sent an invalid command is
    /// dropped.
    pub fn serve(&mut self, client: ControlClient) -> Vec<Command> {
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
    pub fn answer(&mut self, client: ControlClient, answer: &ControlReply) {
        let Some(connection) = self.clients.get_mut(&client) else { return };
        let serialized = serde_json::to_writer(&mut connection.output, answer).map_err(io::Error::from);
        connection.output.push(b'\n');
        if serialized.and_then(|()| connection.write()).is_err() {
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
            "expected {{\"command\":\"status\"}}, reload, refork, recycle, reopen, drain, maint, stop or purge: {error}"
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
        assert_eq!(socket.serve(0), [Command::Stop { how: StopMode::Fast }, Command::Reload]);
        socket.answer(0, &ControlReply::failed("no"));
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).expect("answered");
        assert_eq!(line, "{\"ok\":false,\"error\":\"no\"}\n");
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
