//! A separate folder for each test: configuration, scripts, documents, logs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::channel;
use std::thread::spawn;
use std::time::{Duration, SystemTime};

use nix::sys::signal::Signal;

use super::port::Port;
use super::processes::signal;
use super::wait::patience;
use super::{Address, Server};

/// The configuration before each test's own lines: two workers, and all files in the site's folder.
const BASE: &str = r#"
ServerRoot "@DIR@"
Listen 127.0.0.1:@PORT@
ServerName localhost
DocumentRoot htdocs
PidFile cameleer.pid
ErrorLog error.log
ControlSocket control.sock
StartServers 2
MinSpareServers 1
MaxSpareServers 2
MaxClients 2
"#;

/// A configuration with one worker, the site's modules, and the site's scripts under Apache::Registry at /perl.
pub const REGISTRY: &str = r#"
MaxClients 1
StartServers 1
MinSpareServers 1
PerlLib lib
Alias /perl/ "@DIR@/scripts/"
<Location /perl>
SetHandler perl-script
PerlHandler Apache::Registry
PerlSendHeader On
Options +ExecCGI
</Location>
"#;

/// A folder in TMPDIR with the site's files, and a TCP port reserved for the site.
pub struct Site {
    folder: PathBuf,
    /// The port to listen on, reserved as long as the site exists.
    pub port: u16,
    _reserved: Port,
}

/// The result of a command that ended.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The exit code; −1 when a signal ended the command.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Site {
    /// An empty site.
    pub fn new() -> Site {
        static NUMBER: AtomicU16 = AtomicU16::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("cameleer-test-{}-{number}", std::process::id()));
        let reserved = Port::reserve();
        let site = Site { folder, port: reserved.number, _reserved: reserved };
        for name in ["htdocs", "tmp", "lib", "scripts"] {
            fs::create_dir_all(site.path(name)).expect("a folder in TMPDIR");
        }
        fs::set_permissions(&site.folder, fs::Permissions::from_mode(0o755)).expect("our own folder");
        let switch = if is_tainted() { "PerlTaintCheck On\n" } else { "" };
        site.file("base.conf", &format!("{BASE}{switch}"))
    }

    /// Writes a file. `@DIR@` and `@PORT@` in the text are replaced.
    pub fn file(self, name: &str, text: &str) -> Site {
        self.write(name, text);
        self
    }

    /// Writes an executable file.
    pub fn script(self, name: &str, text: &str) -> Site {
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).expect("our own file");
        self
    }

    /// Writes a file while the server runs.
    pub fn write(&self, name: &str, text: &str) {
        self.write_bytes(name, self.filled(text).as_bytes());
    }

    /// Writes a file without replacements.
    pub fn write_bytes(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the site's folder")).expect("a folder in TMPDIR");
        fs::write(path, bytes).expect("written in TMPDIR");
    }

    /// Sets a file's mtime to `age` before now.
    pub fn age(&self, name: &str, age: Duration) {
        let file = fs::File::options().append(true).open(self.path(name)).expect("the file is there");
        file.set_modified(SystemTime::now() - age).expect("our own file");
    }

    /// The contents of a file; empty when the file does not exist.
    pub fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.path(name)).unwrap_or_default()).into_owned()
    }

    /// Whether the file exists.
    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The absolute path of the file `name`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The site's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Replaces `@DIR@` and `@PORT@`.
    pub fn filled(&self, text: &str) -> String {
        text.replace("@DIR@", &self.folder.to_string_lossy()).replace("@PORT@", &self.port.to_string())
    }

    /// Writes `site.conf`: the base, then `conf`. A `conf` that begins with a newline keeps its line numbers.
    pub fn configure(&self, conf: &str) {
        self.write("site.conf", &format!("Include base.conf{}", begun_anew(conf)));
    }

    /// Starts `cameleer serve` with `conf` after the base configuration.
    #[track_caller]
    pub fn serve(self, conf: &str) -> Server {
        self.configure(conf);
        let command = self.serve_command();
        Server::start(self, command)
    }

    /// The command that serves `site.conf`.
    pub fn serve_command(&self) -> Command {
        self.command(["serve", "-f", &self.filled("@DIR@/site.conf")])
    }

    /// `cameleer run` with these arguments, on the site's port, with two workers.
    #[track_caller]
    pub fn run<const N: usize>(self, arguments: [&str; N]) -> Server {
        let command = self.run_command("2", arguments);
        Server::start(self, command)
    }

    /// `cameleer run` with one worker, for tests of the state that a worker retains between requests.
    #[track_caller]
    pub fn run_with_one_worker<const N: usize>(self, arguments: [&str; N]) -> Server {
        let command = self.run_command("1", arguments);
        Server::start(self, command)
    }

    fn run_command<const N: usize>(&self, workers: &str, arguments: [&str; N]) -> Command {
        let mut command = self.command(["run", "--workers", workers, "--listen", &format!("127.0.0.1:{}", self.port)]);
        command.args(["--error-log", &self.filled("@DIR@/error.log")]).args(arguments.map(|a| self.filled(a)));
        command
    }

    /// `cameleer` with these arguments, in the site's folder, with a clean environment.
    pub fn command<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cameleer"));
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        let ours = |name: &str| name.starts_with("CAMELEER_") || name.starts_with("PERL") || name.starts_with("PLACK_");
        for (name, _) in std::env::vars().filter(|(name, _)| ours(name)) {
            command.env_remove(name);
        }
        command.env_remove("PORT").env("TMPDIR", self.path("tmp")).env("LC_ALL", "C");
        command
    }

    /// Runs `cameleer` to its end.
    #[track_caller]
    pub fn cameleer<const N: usize>(&self, arguments: [&str; N]) -> Finished {
        Finished::of(&mut self.command(arguments))
    }

    /// The address in `base.conf`.
    pub fn address(&self) -> Address {
        Address::Tcp(self.port)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the site is kept: {}", self.folder.display());
        } else {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

impl Finished {
    /// Runs `command`; fails the test when the command has not ended after five times [`patience`].
    #[track_caller]
    pub fn of(command: &mut Command) -> Finished {
        Finished::within(5 * patience(), command)
    }

    /// Runs `command` without a time limit, for commands that run many tests.
    #[track_caller]
    pub fn without_limit(command: &mut Command) -> Finished {
        Finished::within(Duration::MAX, command)
    }

    #[track_caller]
    fn within(limit: Duration, command: &mut Command) -> Finished {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("the program can be started");
        let pid = child.id() as i32;
        let (done, end) = channel();
        spawn(move || done.send(child.wait_with_output()));
        let Ok(output) = end.recv_timeout(limit) else {
            signal(pid, Signal::SIGKILL);
            panic!("waited {limit:?} in vain until {command:?} ends");
        };
        let output = output.expect("our own child");
        Finished {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Fails the test when the command has failed.
    #[track_caller]
    pub fn succeeded(self) -> Finished {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// Fails the test unless the exit code is `code` and a line of standard error contains `what`.
    #[track_caller]
    pub fn failed(self, code: i32, what: &str) -> Finished {
        assert_eq!(self.code, code, "{self:?}");
        assert!(self.err.lines().any(|line| line.contains(what)), "no line says {what:?}: {self:?}");
        self
    }
}

/// The environment variable that turns on PerlTaintCheck for every site of a test run.
pub const TAINT: &str = "CAMELEER_TEST_TAINT";

/// Whether sites of the current test use PerlTaintCheck: in a run with [`TAINT`], and in tests of `perl_api::tainted`.
pub fn is_tainted() -> bool {
    std::env::var_os(TAINT).is_some()
        || std::thread::current().name().is_some_and(|name| name.starts_with("perl_api::tainted::"))
}

fn begun_anew(conf: &str) -> String {
    if conf.starts_with('\n') { conf.to_owned() } else { format!("\n{conf}") }
}
