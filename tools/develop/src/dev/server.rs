//! The server, a child process, and what it prints.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use anyhow::{Context, anyhow};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::message::Message;
use super::terminal::Terminal;
use master::sockets::control_socket::{self, StopMode};
use toolkit::client::ServerChoice;

/// Exit code of a server whose configuration or Perl is wrong.
const WRONG_CODE: i32 = 78;
/// Longest part of a line that is shown at once.
const MAX_LINE_BYTES: u64 = 64 * 1024;
/// Lines that are stored until the server is ready.
const MAX_EARLY_LINES: usize = 1000;
/// Start of the line that the server prints when it is ready.
const READY: &str = "Cameleer serves ";
/// Variables that name the files of another server.
const OF_OTHERS: [&str; 6] =
    ["CAMELEER_CONF", "CAMELEER_SERVER_ROOT", "CAMELEER_SOCKET", "NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS"];

/// Why the server did not start.
pub enum StartFailure {
    /// The configuration or the program is wrong, as this text says.
    Code(String),
    /// Another reason, such as a port in use. The message was printed already, or is here.
    Other(anyhow::Error),
}

impl StartFailure {
    /// The failure as an error of the command.
    pub fn into_error(self) -> anyhow::Error {
        match self {
            StartFailure::Code(text) => anyhow!("{text}"),
            StartFailure::Other(error) => error,
        }
    }
}

/// The server's process.
pub struct DevServer {
    folder: PathBuf,
    root: PathBuf,
    environment: Option<String>,
    sender: Sender<Message>,
    running: Option<Running>,
    /// URL of the first address, once the server is ready.
    pub url: Option<String>,
}

struct Running {
    pid: Pid,
    ended: JoinHandle<()>,
}

/// Lines of standard error before the server is ready; `None` afterwards, when lines are printed at once.
type Early = Arc<Mutex<Option<Vec<String>>>>;

impl DevServer {
    /// A server with its files in `folder`.
    pub fn new(folder: &Path, root: &Path, sender: Sender<Message>) -> DevServer {
        DevServer {
            folder: folder.to_owned(),
            root: root.to_owned(),
            environment: None,
            sender,
            running: None,
            url: None,
        }
    }

    /// Sets PLACK_ENV of the program.
    pub fn in_environment(self, name: &str) -> DevServer {
        DevServer { environment: Some(name.to_owned()), ..self }
    }

    /// Whether the process runs.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Starts the process, and waits until it serves.
    pub fn start(&mut self, messages: &Receiver<Message>) -> Result<(), StartFailure> {
        let mut child = self.command().spawn().context("the server cannot be started").map_err(StartFailure::Other)?;
        let early: Early = Arc::new(Mutex::new(Some(Vec::new())));
        let output = self.read_output(&mut child, &early).map_err(StartFailure::Other)?;
        let pid = Pid::from_raw(child.id().cast_signed());
        let sender = self.sender.clone();
        let ended = std::thread::spawn(move || {
            let status = child.wait();
            // The reader of the output ends first, so that the last lines precede the message about the exit.
            output.into_iter().for_each(|thread| drop(thread.join()));
            let _ = sender.send(Message::Ended(status.ok().and_then(|status| status.code()).unwrap_or(-1)));
        });
        self.running = Some(Running { pid, ended });
        self.wait_until_ready(messages, &early)
    }

    fn wait_until_ready(&mut self, messages: &Receiver<Message>, early: &Early) -> Result<(), StartFailure> {
        loop {
            match messages.recv().map_err(|error| StartFailure::Other(error.into()))? {
                Message::Ready(url) => {
                    self.url = Some(url);
                    taken(early).iter().for_each(|line| Terminal::of_this_process().log(line));
                    return Ok(());
                }
                Message::Ended(code) => {
                    self.running = None;
                    let text = taken(early).join("\n");
                    return Err(match code {
                        WRONG_CODE => StartFailure::Code(text),
                        _ => StartFailure::Other(anyhow!("{}", text.trim_start_matches("cameleer: "))),
                    });
                }
                Message::Stop => {
                    self.stop();
                    return Err(StartFailure::Other(anyhow!("interrupted before the server was ready")));
                }
                // The program is being read just now; a later change is reported again by the editor at the latest.
                Message::Changed(_) => {}
            }
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new("/proc/self/exe");
        command.args(["serve", "-f"]).arg(self.folder.join("dev.conf")).arg("-d").arg(&self.root);
        command.arg("--owner").arg(std::process::id().to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(self.environment.iter().map(|name| ("PLACK_ENV", name)));
        for name in OF_OTHERS {
            command.env_remove(name);
        }
        // Ctrl-C is for this process, which then stops the server.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        sys::with_signals_unblocked(&mut command);
        command
    }

    fn read_output(&self, child: &mut Child, early: &Early) -> anyhow::Result<[JoinHandle<()>; 2]> {
        let out = child.stdout.take().context("the standard output of the server process is no pipe")?;
        let err = child.stderr.take().context("the standard error of the server process is no pipe")?;
        let (sender, early) = (self.sender.clone(), Arc::clone(early));
        let terminal = Terminal::of_this_process();
        Ok([
            std::thread::spawn(move || each_line(out, |line| print_or_report(line, &sender))),
            std::thread::spawn(move || {
                each_line(err, |line| match &mut *early.lock().unwrap_or_else(PoisonError::into_inner) {
                    Some(lines) if lines.len() < MAX_EARLY_LINES => lines.push(line.to_owned()),
                    Some(_) => {}
                    None => terminal.log(line),
                });
            }),
        ])
    }

    /// Loads configuration and program again. An error is the message of the mistake.
    pub fn reload(&self) -> Result<(), String> {
        let reload = || self.choice().connect()?.request(control_socket::Command::Reload);
        reload().map(drop).map_err(|error| format!("{error:#}"))
    }

    /// Stops the process, and waits for its end.
    pub fn stop(&mut self) {
        let Some(running) = self.running.take() else { return };
        let stop = || self.choice().connect()?.request(control_socket::Command::Stop { how: StopMode::Fast });
        if stop().is_err() {
            // A server that is still starting has no control socket.
            let _ = kill(running.pid, Signal::SIGTERM);
        }
        let _ = running.ended.join();
    }

    fn choice(&self) -> ServerChoice {
        ServerChoice { socket: Some(self.folder.join("control.sock")), ..ServerChoice::default() }
    }
}

fn taken(early: &Early) -> Vec<String> {
    early.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
}

/// Prints a line of the server's standard output, unless it says that the server is ready.
fn print_or_report(line: &str, sender: &Sender<Message>) {
    let url = line.strip_prefix(READY).and_then(|rest| rest.rsplit_once(" at ")).map(|(_, urls)| urls);
    match url {
        Some(urls) => {
            let first = urls.split(" and ").next().unwrap_or_default().to_owned();
            let _ = toolkit::print(&format!("Cameleer serves for development at {urls}\n"));
            let _ = sender.send(Message::Ready(first));
        }
        None => Terminal::of_this_process().log(line),
    }
}

fn each_line(pipe: impl Read, mut with: impl FnMut(&str)) {
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => with(String::from_utf8_lossy(&line).trim_end_matches('\n')),
        }
    }
}
