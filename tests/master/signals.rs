//! Stopping, reopening logs, systemd.

use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;

use nix::sys::signal::Signal;

use crate::support::{Connection, Server, Site, until};

/// `/slow` creates a file and waits for the file `go`.
const APP: &str = r#"sub { if ($_[0]{PATH_INFO} eq '/slow') {
        open my $f, '>', '@DIR@/begun'; close $f; select undef, undef, undef, 0.01 until -e '@DIR@/go' }
    warn "a line\n" if $_[0]{PATH_INFO} eq '/warn'; [200, [], ['answered']] }"#;

#[track_caller]
fn serve(conf: &str) -> Server {
    Site::new().file("app.psgi", APP).serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

/// Starts a request to `/slow` and waits until a worker has it.
fn begin_slow(server: &Server) -> Connection {
    let mut slow = server.connect();
    slow.raw("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the request is at work", || server.site.has("begun"));
    slow
}

#[test]
fn term_and_quit_finish_the_request_under_way() {
    for stop in [Signal::SIGTERM, Signal::SIGQUIT, Signal::SIGWINCH] {
        let mut server = serve("");
        let mut slow = begin_slow(&server);
        server.signal(stop);
        until("nobody is let in any more", || Connection::open(&server.address).is_err());
        server.site.write("go", "");
        assert_eq!(slow.response().text(), "answered", "{stop}");
        slow.is_closed();
        assert_eq!(server.wait(), 0, "{stop}");
    }
}

#[test]
fn a_graceful_stop_has_a_deadline() {
    let mut server = serve("GracefulShutdownTimeout 500ms");
    let _slow = begin_slow(&server);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
}

/// A graceful stop would outlast the test: the slow request waits for a file that is never created.
const ENDLESS: &str = "GracefulShutdownTimeout 10000s";

#[test]
fn int_ends_at_once() {
    let mut server = serve(ENDLESS);
    let _slow = begin_slow(&server);
    server.signal(Signal::SIGINT);
    assert_eq!(server.wait(), 0);
}

#[test]
fn a_second_term_ends_at_once() {
    let mut server = serve(ENDLESS);
    let _slow = begin_slow(&server);
    server.signal(Signal::SIGTERM);
    until("the server closes its listener", || Connection::open(&server.address).is_err());
    server.signal(Signal::SIGTERM);
    server.wait();
}

#[test]
fn an_idle_keep_alive_connection_does_not_hold_up_a_stop() {
    let mut server = serve("KeepAliveTimeout 10000s\nGracefulShutdownTimeout 10000s");
    let mut idle = server.connect();
    idle.ask(crate::support::Request::get("/"));
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    idle.is_closed();
}

#[test]
fn end_blocks_and_cleanups_of_the_workers_run_at_a_stop() {
    let mut server = Site::new()
        .file("app.psgi", "END { open my $f, '>>', '@DIR@/ended'; print $f \"$$\\n\" } sub { [200, [], [$$]] }")
        .run_with_one_worker(["app.psgi"]);
    let pid = server.text("/");
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    assert!(server.site.read("ended").lines().any(|line| line == pid), "{:?}", server.site.read("ended"));
}

fn errors(server: &Server, log: &str) -> usize {
    server.site.read(log).matches("a line").count()
}

#[test]
fn usr1_opens_access_and_error_logs_anew_for_the_workers_too() {
    let server = serve("CustomLog access.log common");
    server.get("/warn");
    server.logged("a line");
    until("the request is logged", || server.site.read("access.log").lines().count() == 1);
    for log in ["access.log", "error.log"] {
        std::fs::rename(server.site.path(log), server.site.path(&format!("{log}.1"))).expect("moved");
    }
    server.signal(Signal::SIGUSR1);
    until("the new files are there", || server.site.has("access.log") && server.site.has("error.log"));
    let moved = server.site.read("access.log.1");
    for _ in 0..6 {
        server.get("/warn");
    }
    until("all lines are in the new files", || {
        server.site.read("access.log").lines().count() + server.site.read("access.log.1").lines().count()
            - moved.lines().count()
            == 6
            && errors(&server, "error.log") + errors(&server, "error.log.1") == 1 + 6
    });
    assert_eq!(server.site.read("access.log").lines().count(), 6);
    // A worker that got the signal later may have written a line to the old file.
    until("a worker writes to the new error log", || {
        server.get("/warn");
        errors(&server, "error.log") > 0
    });
}

#[test]
fn systemd_gets_ready_when_the_first_worker_is_ready() {
    let site = Site::new()
        .file("app.psgi", "select undef, undef, undef, 0.01 until -e '@DIR@/load'; sub { [200, [], ['ok']] }");
    let socket = UnixDatagram::bind(site.path("notify")).expect("bound");
    socket.set_nonblocking(true).expect("nonblocking");
    site.configure("<Location />\nPsgiApp app.psgi\n</Location>");
    let mut command = site.serve_command();
    command.env("NOTIFY_SOCKET", site.path("notify"));
    let mut server = Server::spawn(site, command);
    until("the ports are bound", || Connection::open(&server.address).is_ok());
    let before = messages(&socket);
    assert!(!before.contains("READY=1"), "{before}");
    server.site.write("load", "");
    let mut received = String::new();
    until("READY=1", || {
        received += &messages(&socket);
        received.contains("READY=1")
    });
    assert!(received.contains(&format!("MAINPID={}", server.pid())), "{received}");
    assert_eq!(server.text("/"), "ok");
    server.signal(Signal::SIGTERM);
    server.wait();
    assert!(messages(&socket).contains("STOPPING=1"));
}

fn messages(socket: &UnixDatagram) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while let Ok(n) = socket.recv(&mut buffer) {
        text += &String::from_utf8_lossy(&buffer[..n]);
        text.push('\n');
    }
    text
}

/// Starts the program with `arguments`, with `listener` as systemd passes a socket.
fn start_with(site: Site, listener: &TcpListener, arguments: &[&str]) -> Server {
    // The listening descriptor must be 3 and LISTEN_PID the program's pid, which only a shell between test and program
    // knows.
    let script = format!("exec 3<&{}; export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$0\" \"$@\"", listener.as_raw_fd());
    nix::fcntl::fcntl(listener, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).expect("inheritable");
    let mut command = std::process::Command::new("bash");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_cameleer")]).args(arguments).current_dir(site.folder());
    command.env("TMPDIR", site.path("tmp")).env_remove("PORT");
    Server::start(site, command)
}

#[test]
fn sockets_of_systemd_are_served() {
    let site = Site::new().file("app.psgi", APP);
    let listener = TcpListener::bind(("127.0.0.1", site.port)).expect("bound");
    let server = start_with(site, &listener, &["run", "--workers", "1", "app.psgi"]);
    drop(listener);
    assert_eq!(server.text("/"), "answered");
}

/// systemd makes one socket of `ListenStream=80`, for IPv6 and IPv4.
#[test]
fn a_socket_of_systemd_for_both_families_is_that_of_listen_with_a_port() {
    let site = Site::new().file("app.psgi", APP);
    let listener = TcpListener::bind(("::", site.port)).expect("bound");
    let listen = format!("Listen {}", site.port);
    let app = "<Location />\nPsgiApp app.psgi\n</Location>";
    let site =
        site.file("site.conf", &format!("{listen}\nMaxClients 1\nStartServers 1\nPidFile cameleer.pid\n{app}\n"));
    let server = start_with(site, &listener, &["serve", "-f", "site.conf"]);
    drop(listener);
    assert_eq!(server.text("/"), "answered");
}

#[test]
fn the_unit_file_has_notify_and_no_restart_on_a_broken_configuration() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/pkg/systemd/cameleer.service");
    let unit = std::fs::read_to_string(file).expect("the unit file is there");
    for line in ["Type=notify", "RestartPreventExitStatus=78", "KillMode=mixed"] {
        assert!(unit.contains(line), "{line}");
    }
}

#[test]
fn usr2_is_harmless() {
    let server = serve("");
    server.signal(Signal::SIGUSR2);
    until("the server answers", || server.get("/").status == 200);
}
