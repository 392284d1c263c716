//! Every way to start: every message of the server is in its log, from the first to the last.

use nix::sys::signal::Signal;

use crate::support::{Connection, Finished, Request, Server, Site, alive, signal, until};

const APP: &str = "sub { warn 'a warning'; [200, [], [$$]] }";
const BROKEN: &str = "sub { [200, [] }";

/// Values of ErrorLog and `--error-log`.
const FILE: &str = "error.log";
const PIPE: &str = "|cat >> @DIR@/error.log";

/// A site for both `serve` and `run`. An empty `log` stands for the default.
fn site(log: &str) -> Site {
    let site = Site::new().file("app.psgi", APP);
    let log = if log.is_empty() { String::new() } else { format!("ErrorLog \"{log}\"\n") };
    let conf = format!(
        "\nServerRoot \"@DIR@\"\nListen 127.0.0.1:@PORT@\nPidFile run.pid\nStartServers 1\nMinSpareServers 1\nMaxSpareServers 1\n\
         MaxClients 1\n{log}LogLevel notice\n<Location />\nPsgiApp app.psgi\n</Location>\n"
    );
    site.file("site.conf", &conf)
}

/// `run` with the settings of [`site`].
fn run(site: &Site, log: &str, more: &[&str]) -> std::process::Command {
    let listen = format!("127.0.0.1:{}", site.port);
    let arguments = ["run", "--workers", "1", "-l", &listen, "--pid", "run.pid", "--log-level", "notice"];
    let mut command = site.command(arguments);
    if !log.is_empty() {
        command.args(["--error-log", &site.filled(log)]);
    }
    command.args(more).arg("app.psgi");
    command
}

/// Checks that `log` contains the messages of a dead worker, a failed reload, a stop, the application, and the start.
#[track_caller]
fn every_line_is_there(site: &Site, log: &str) {
    let read = || site.read(log);
    let logged = |what: &str| until(&format!("{log} says {what:?}"), || read().contains(what));
    logged(" serving");
    let mut connection = Connection::open(&site.address()).expect("it serves");
    let worker = connection.ask(Request::get("/").header("Connection", "close")).text();
    logged("a warning");
    signal(worker.parse().expect("a pid"), Signal::SIGKILL);
    logged(&format!("pid={worker} gen=1 killed signal=9"));
    site.write("app.psgi", BROKEN);
    site.cameleer(["reload", "--pid-file", "run.pid"]).failed(1, "syntax error");
    logged("reload failed");
    site.cameleer(["stop", "--pid-file", "run.pid"]).succeeded();
    logged(":notice] [pid");
    logged("stopping gracefully");
    logged("] stopped");
}

/// Starts `command` in the foreground, with standard error in `err.txt`.
#[track_caller]
fn in_the_foreground(site: Site, command: std::process::Command, log: &str) {
    let mut server = Server::start(site, command);
    every_line_is_there(&server.site, log);
    assert_eq!(server.wait(), 0);
}

/// Starts `command` in the background, with pipes as its output: the caller waits until no process holds them.
#[track_caller]
fn in_the_background(site: &Site, mut command: std::process::Command, log: &str) {
    Finished::of(&mut command).succeeded();
    let master: i32 = site.read("run.pid").trim().parse().expect("a pid file");
    every_line_is_there(site, log);
    until("the master has ended", || !alive(master));
}

#[test]
fn serve_in_the_foreground() {
    for (error_log, log) in [(FILE, "error.log"), (PIPE, "error.log"), ("", "err.txt")] {
        let site = site(error_log);
        let command = site.command(["serve", "-f", "site.conf"]);
        in_the_foreground(site, command, log);
    }
}

#[test]
fn serve_dash_k_start() {
    for (error_log, log) in [(FILE, "error.log"), (PIPE, "error.log"), ("", "error_log")] {
        let site = site(error_log);
        in_the_background(&site, site.command(["serve", "-f", "site.conf", "-k", "start"]), log);
    }
}

#[test]
fn run_in_the_foreground() {
    for (error_log, log) in [(FILE, "error.log"), (PIPE, "error.log"), ("", "err.txt")] {
        let site = site("");
        let command = run(&site, error_log, &[]);
        in_the_foreground(site, command, log);
    }
}

#[test]
fn run_with_dash_d_starts_in_the_background() {
    for (error_log, log) in [(FILE, "error.log"), (PIPE, "error.log"), ("", "error_log")] {
        let site = site("");
        in_the_background(&site, run(&site, error_log, &["-D"]), log);
    }
}

#[test]
fn a_background_start_whose_standard_error_is_a_file_keeps_it() {
    let site = site("");
    let mut command = run(&site, "", &["-D"]);
    command.stderr(std::fs::File::create(site.path("kept.txt")).expect("a file"));
    assert!(command.status().expect("started").success());
    every_line_is_there(&site, "kept.txt");
    assert!(!site.has("error_log"));
}

#[test]
fn below_systemd() {
    let site = site("");
    let notify = std::os::unix::net::UnixDatagram::bind(site.path("notify.sock")).expect("a socket");
    let mut command = site.command(["serve", "-f", "site.conf", "-D", "FOREGROUND", "-k", "start"]);
    command.env("NOTIFY_SOCKET", site.path("notify.sock"));
    in_the_foreground(site, command, "err.txt");
    drop(notify);
}

#[test]
fn dash_x_logs_to_the_error_log() {
    for (error_log, log) in [(FILE, "error.log"), (PIPE, "error.log"), ("", "err.txt")] {
        let site = site(error_log);
        let mut command = site.serve_command();
        command.arg("-X");
        let mut server = Server::start(site, command);
        server.text("/");
        until(&format!("{log} has it"), || server.site.read(log).contains("a warning"));
        server.signal(Signal::SIGTERM);
        assert_eq!(server.wait(), 0);
    }
}

#[test]
fn dash_x_that_cannot_load_writes_the_error_to_log_and_terminal() {
    let site = site(FILE).file("app.psgi", BROKEN);
    site.cameleer(["serve", "-f", "site.conf", "-X"]).failed(1, "syntax error");
    assert!(site.read("error.log").contains("syntax error"), "{}", site.read("error.log"));
}
