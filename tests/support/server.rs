//! A running server, stopped and checked when dropped.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::processes::of_site;
use super::{Address, Connection, Finished, Request, Response, Site, alive, eventually, signal, until};

/// A server process and its site.
pub struct Server {
    /// The served site.
    pub site: Site,
    /// The address on which the server listens.
    pub address: Address,
    child: Child,
    ended: bool,
}

impl Server {
    /// Starts `command` and waits until the server prints its URL.
    #[track_caller]
    pub fn start(site: Site, command: Command) -> Server {
        let mut server = Server::spawn(site, command);
        server.until_ready();
        server
    }

    /// Serves the site's configuration with a limit of `files` descriptors for each process.
    #[track_caller]
    pub fn start_with_files(site: Site, files: u32) -> Server {
        let limit = format!("ulimit -n {files}; exec \"$0\" \"$@\"");
        Server::start_by(site, &["sh", "-c", &limit])
    }

    /// Serves the site's configuration through `launcher`, which starts the program whose command line follows its own.
    #[track_caller]
    pub fn start_by(site: Site, launcher: &[&str]) -> Server {
        let serve = site.serve_command();
        let mut command = Command::new(launcher[0]);
        command
            .args(&launcher[1..])
            .arg(serve.get_program())
            .args(serve.get_args())
            .current_dir(site.folder())
            .env("TMPDIR", site.path("tmp"))
            .env("LC_ALL", "C");
        Server::start(site, command)
    }

    /// Starts `command` without waiting.
    #[track_caller]
    pub fn spawn(site: Site, command: Command) -> Server {
        let (child, address) = (launch(&site, command), site.address());
        Server { site, address, child, ended: false }
    }

    /// Serves the site's configuration again, after the server has ended.
    #[track_caller]
    pub fn restart(&mut self) {
        let command = self.site.serve_command();
        self.restart_by(command);
    }

    /// Starts `command` after the server has ended.
    #[track_caller]
    pub fn restart_by(&mut self, command: Command) {
        assert!(self.ended, "it still runs");
        self.child = launch(&self.site, command);
        self.until_ready();
    }

    /// Waits for the line with the URL, which the server prints when the first worker responds.
    #[track_caller]
    pub fn until_ready(&mut self) {
        until("the server says where it answers", || {
            let status = self.child.try_wait().expect("our own child");
            self.ended = status.is_some();
            assert!(!self.ended, "the server ended: {status:?}");
            let contents = self.site.read("out.txt") + &self.site.read("err.txt");
            ["http://", "https://", "unix:"].iter().any(|url| contents.contains(url))
        });
    }

    /// The pid of the master.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Sends a GET request on a new connection.
    #[track_caller]
    pub fn get(&self, target: &str) -> Response {
        self.send(Request::get(target))
    }

    /// The body of a GET request whose status must be 200.
    #[track_caller]
    pub fn text(&self, target: &str) -> String {
        let response = self.get(target);
        assert_eq!(response.status, 200, "{target}: {response:?}");
        response.text()
    }

    /// POSTs a form on a new connection.
    #[track_caller]
    pub fn post(&self, target: &str, body: &str) -> Response {
        self.send(Request::post(target, body))
    }

    /// Sends `request` on a new connection.
    #[track_caller]
    pub fn send(&self, request: Request) -> Response {
        self.connect().ask(request.header("Connection", "close"))
    }

    /// Opens a connection for several requests.
    #[track_caller]
    pub fn connect(&self) -> Connection {
        Connection::open(&self.address).expect("the server accepts")
    }

    /// Sends `request` from the address `client`. The server must listen on TCP.
    #[track_caller]
    pub fn send_as(&self, client: &str, request: Request) -> Response {
        let client = client.parse().expect("an IPv4 address");
        let mut connection = Connection::open_as(client, self.site.port).expect("the server accepts");
        connection.ask(request.header("Connection", "close"))
    }

    /// The error log so far, after the messages that were printed before the log was opened.
    pub fn log(&self) -> String {
        self.site.read("err.txt") + &self.site.read("error.log")
    }

    /// Waits until a line of the error log contains `what`, and returns that line.
    #[track_caller]
    pub fn logged(&self, what: &str) -> String {
        eventually(&format!("the log says {what:?}"), || {
            self.log().lines().find(|line| line.contains(what)).map(str::to_owned)
        })
    }

    /// Runs a subcommand that connects to this server's control socket.
    #[track_caller]
    pub fn control<const N: usize>(&self, arguments: [&str; N]) -> Finished {
        let mut command = self.site.command(arguments);
        Finished::of(command.arg("--socket").arg(self.socket()))
    }

    /// The control socket: the configured path, or the default path of `run`.
    pub(super) fn socket(&self) -> PathBuf {
        let configured = self.site.path("control.sock");
        if configured.exists() { configured } else { format!("/run/cameleer/{}.sock", self.pid()).into() }
    }

    /// Sends a signal to the master.
    pub fn signal(&self, which: Signal) {
        signal(self.pid(), which);
    }

    /// `cameleer reload`.
    #[track_caller]
    pub fn reload(&self) -> Finished {
        self.control(["reload"])
    }

    /// Waits until the master ends. Returns its exit code, or −1 for a signal.
    #[track_caller]
    pub fn wait(&mut self) -> i32 {
        let status = eventually("the master ends", || self.child.try_wait().expect("our own child"));
        self.ended = true;
        status.code().unwrap_or(-1)
    }

    /// Waits until no process of this site is left.
    #[track_caller]
    pub fn until_gone(&self) {
        let mut left = of_site(self.site.folder());
        while !left.is_empty() {
            until(&format!("processes {left:?} have ended"), || !left.iter().any(|pid| alive(*pid)));
            left = of_site(self.site.folder());
        }
    }

    fn end(&mut self) {
        if !self.ended {
            self.signal(Signal::SIGTERM);
            assert_eq!(self.wait(), 0, "a stop that was asked for is a success");
        }
        self.until_gone();
    }

    fn abandon(&mut self) {
        let name = |name: &str| format!("--- {name}\n{}", self.site.read(name));
        eprintln!("{}{}{}", name("out.txt"), name("err.txt"), name("error.log"));
        let _ = killpg(Pid::from_raw(self.pid()), Signal::SIGKILL);
        for pid in of_site(self.site.folder()) {
            let _ = nix::sys::signal::kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        let _ = self.child.wait();
    }
}

#[track_caller]
fn launch(site: &Site, mut command: Command) -> Child {
    let log = |name| File::create(site.path(name)).expect("a file in TMPDIR");
    let child = command.process_group(0).stdout(log("out.txt")).stderr(log("err.txt")).spawn();
    child.expect("the program can be started")
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return self.abandon();
        }
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.end()));
        if let Err(panic) = ended {
            self.abandon();
            std::panic::resume_unwind(panic);
        }
    }
}
