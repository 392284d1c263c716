//! Client of the control socket: finds a running server and sends commands.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::{Pid, Uid, User};
use serde::de::DeserializeOwned;
use wire::control::Inspection;

use crate::conf::Conf;
use base::printable;
use master::configuration::ConfigReading;
use master::pid_file;
use master::sockets::control_socket::{Command, ControlReply, SelfReport, default_folder};
use status::{FileId, ServerStatus};

/// Timeout of a quick command, after which the master counts as stuck.
const PATIENCE: Duration = Duration::from_secs(5);

/// Options that select a server; without them, the only running one.
#[derive(Debug, Default, Args)]
pub struct ServerChoice {
    /// Control socket of the server
    #[arg(long, value_name = "PATH", env = "CAMELEER_SOCKET", hide_env = true)]
    pub socket: Option<PathBuf>,
    /// Configuration of the server
    #[arg(short = 'f', value_name = "FILE")]
    pub conf: Option<PathBuf>,
    /// Pid file of the server
    #[arg(long, value_name = "FILE")]
    pub pid_file: Option<PathBuf>,
}

impl ServerChoice {
    /// Connects to the selected server.
    pub fn connect(&self) -> anyhow::Result<Server> {
        if let Some(path) = &self.socket {
            return Server::connect(path).with_context(|| format!("no server answers at {}", path.display()));
        }
        if let Some(file) = &self.pid_file {
            return by_pid_file(file);
        }
        match &self.conf {
            Some(file) => by_configuration(&Conf::of(file)),
            None => {
                // Servers in other containers must be named explicitly.
                let servers = running().into_iter().filter(|(server, _)| server.is_visible()).collect();
                only(servers, "no running server accepts commands of this user")
            }
        }
    }
}

/// A connection to a master.
pub struct Server {
    stream: BufReader<UnixStream>,
    path: PathBuf,
}

impl Server {
    /// Connects to the server of a configuration, with the lines that the command line adds to it. Without a
    /// configuration that is the only running server.
    pub fn of_configuration(conf: &Conf) -> anyhow::Result<Server> {
        if conf.path().is_err() {
            return ServerChoice::default().connect();
        }
        by_configuration(conf)
    }

    fn connect(path: &Path) -> std::io::Result<Server> {
        Ok(Server { stream: BufReader::new(UnixStream::connect(path)?), path: path.to_owned() })
    }

    /// Whether the server's process is visible here, that is, not hidden in another pid namespace.
    pub fn is_visible(&self) -> bool {
        self.pid().is_some()
    }

    /// Pid of the server, as seen from this process.
    pub fn pid(&self) -> Option<i32> {
        let peer = getsockopt(self.stream.get_ref(), PeerCredentials).ok()?;
        Some(peer.pid()).filter(|pid| *pid > 0)
    }

    /// Whether the server is in the same pid namespace, so that its pids are valid here.
    pub fn shares_our_numbers(&self) -> bool {
        let namespace = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let theirs = self.pid().and_then(|pid| namespace(&pid.to_string()));
        theirs.is_some() && theirs == namespace("self")
    }

    /// Sends a command and waits for the answer. An answer with an error is returned as an error.
    pub fn request(&mut self, command: Command) -> anyhow::Result<ControlReply> {
        // No timeout for long commands: a reload loads the site's code, up to StartTimeout; a refork waits for
        // current requests.
        let waits = !matches!(
            command,
            Command::Status
                | Command::Snapshot
                | Command::Recycle { .. }
                | Command::Reopen
                | Command::Purge { .. }
                | Command::Drain { .. }
                | Command::CancelDrain
                | Command::Maintain { .. }
                | Command::Stop { .. }
        );
        let patience = if waits { None } else { Some(PATIENCE) };
        let mut line = serde_json::to_string(&command)?;
        line.push('\n');
        let stream = self.stream.get_mut();
        stream.set_read_timeout(patience)?;
        stream.write_all(line.as_bytes())?;
        let answer = self.read()?;
        match answer.error {
            Some(error) => Err(anyhow!("{error}")),
            None => Ok(answer),
        }
    }

    /// Returns the reports of the mold and the workers.
    pub fn inspect(&mut self, what: Inspection) -> anyhow::Result<Vec<SelfReport>> {
        self.request(Command::Inspect { what })?.reports.context("the server sent an invalid answer")
    }

    /// Fails if the profiler ended or was late.
    pub fn request_from_profiler<T: DeserializeOwned>(&mut self, command: Command) -> anyhow::Result<T> {
        let reports = self.request(command)?.reports.context("the server sent an invalid answer")?;
        let report = reports.iter().find_map(SelfReport::read);
        report.context("the profiler ended, or did not answer in time; see the server's error log")
    }

    fn status(&mut self) -> Option<ServerStatus> {
        self.request(Command::Status).ok()?.status
    }

    fn read(&mut self) -> anyhow::Result<ControlReply> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => bail!("the server ended before it answered"),
            Ok(_) => serde_json::from_str(&line).context("the server sent an invalid answer"),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                bail!("the server at {} does not answer", self.path.display())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the server has ended after a drain. An error if the drain is cancelled.
    pub fn wait_for_drain(&mut self) -> anyhow::Result<()> {
        self.stream.get_mut().set_read_timeout(None)?;
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => Ok(()),
            Ok(_) => {
                let answer: ControlReply = serde_json::from_str(&line).context("the server sent an invalid answer")?;
                Err(anyhow!("{}", answer.error.unwrap_or_default()))
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the server has ended.
    pub fn wait_for_end(&mut self) -> anyhow::Result<()> {
        self.stream.get_mut().set_read_timeout(None)?;
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Err(error) if error.kind() != ErrorKind::ConnectionReset => Err(error.into()),
            _ => Ok(()),
        }
    }
}

fn by_pid_file(file: &Path) -> anyhow::Result<Server> {
    let (id, pid) = pid_file::read(file)?
        .ok_or_else(|| anyhow!("{}: no such pid file; the server is not running", file.display()))?;
    let pid = pid.ok_or_else(|| anyhow!("{}: contains no process id", file.display()))?;
    // The pid may belong to another process here, so the server is identified by the pid file that it holds.
    let mut servers = running();
    servers.retain_mut(|(server, _)| server.status().is_some_and(|status| status.pid_file == Some(id)));
    only(servers, &out_of_reach(file, pid))
}

/// The error message if no reachable server holds the pid file. Each user's control sockets are in a separate folder.
fn out_of_reach(file: &Path, pid: Pid) -> String {
    let file = file.display();
    let owner = std::fs::metadata(format!("/proc/{pid}")).map(|about| Uid::from_raw(about.uid()));
    match owner {
        Ok(owner) if owner != Uid::effective() => {
            let known = User::from_uid(owner).ok().flatten();
            let user = known.map_or_else(|| format!("user {owner}"), |user| user.name);
            format!(
                "process {pid}, which {file} names, belongs to {user}, and the server does not run as the user of this command; run the \
                 command as {user}, or name the server's ControlSocket with --socket"
            )
        }
        _ => format!("process {pid}, which {file} names, does not run or has another ControlSocket"),
    }
}

fn by_configuration(conf: &Conf) -> anyhow::Result<Server> {
    let (file, origin) = (conf.path()?, conf.origin()?);
    // Even a broken configuration may belong to a running server, which serves an older version.
    let socket = ConfigReading::of(&origin).ok().and_then(|reading| reading.sketch().control_socket);
    if let Some(server) = socket.and_then(|path| Server::connect(&path).ok()) {
        return Ok(server);
    }
    let name = file.display().to_string();
    let id = FileId::of(&file);
    let mut servers = running();
    // Other containers may have another file with this name, or another server of this file.
    let serves = |status: ServerStatus| match id {
        Some(_) => status.origin_file == id,
        None => status.origin == name,
    };
    servers.retain_mut(|(server, _)| server.is_visible() && server.status().is_some_and(serves));
    only(servers, &format!("no server of {name} is running"))
}

/// All servers that answer in the default folder of control sockets.
fn running() -> Vec<(Server, PathBuf)> {
    let Ok(folder) = std::fs::read_dir(default_folder()) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "sock"));
    paths.sort();
    paths.into_iter().filter_map(|path| Some((Server::connect(&path).ok()?, path))).collect()
}

fn only(mut servers: Vec<(Server, PathBuf)>, none: &str) -> anyhow::Result<Server> {
    match servers.len() {
        0 => bail!("{none}"),
        1 => Ok(servers.remove(0).0),
        _ => bail!("several servers are running; name one:\n{}", list(&mut servers)),
    }
}

fn list(servers: &mut [(Server, PathBuf)]) -> String {
    let line = |(server, path): &mut (Server, PathBuf)| {
        let origin = server.status().map_or_else(|| "?".to_string(), |status| status.origin);
        printable::line(&format!("  --socket {}   ({origin})", path.display()))
    };
    servers.iter_mut().map(line).collect::<Vec<_>>().join("\n")
}
