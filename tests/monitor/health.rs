//! `/healthz` and `/readyz` at `AdminListen`, `SetHandler server-healthz` and `server-readyz`, and
//! `cameleer status --check`.

use std::process::Command;

use nix::sys::signal::Signal;

use crate::support::{Address, Connection, Finished, Request, Response, Server, Site, free_port, signal, until};

const HANDLERS: &str = "<Location /healthz>\nSetHandler server-healthz\n</Location>\n\
    <Location /readyz>\nSetHandler server-readyz\n</Location>\n";

/// An application that waits at /slow until the file `go` exists.
const APP: &str = "sub { if ($_[0]{PATH_INFO} eq '/slow') { until (-e '@DIR@/go') { select undef, undef, undef, 0.01 } } [200, [], ['ok']] }";

fn ask(port: u16, target: &str) -> Option<Response> {
    let request = Request::get(target).header("Host", "10.0.0.7:9180").header("Connection", "close");
    Connection::open(&Address::Tcp(port)).ok()?.try_ask(&request).ok()
}

fn says(port: u16, target: &str, status: u16, text: &str) -> bool {
    ask(port, target).is_some_and(|answer| answer.status == status && answer.text() == text)
}

/// A server whose one worker is at /slow, and the monitor's port.
fn full() -> (Server, u16, Connection) {
    let port = free_port();
    let server = Site::new().file("app.psgi", APP).serve(&format!(
        "MaxClients 1\nStartServers 1\nMaxSpareServers 1\nAdminListen 127.0.0.1:{port}\n{HANDLERS}\
         <Location /app>\nPsgiApp app.psgi\n</Location>\n"
    ));
    let mut slow = server.connect();
    slow.raw("GET /app/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    until("the worker is busy", || server.workers().iter().any(|(_, state)| state == "Busy"));
    (server, port, slow)
}

#[test]
fn a_server_whose_workers_are_all_busy_lives_and_is_ready() {
    let (server, port, mut slow) = full();
    for target in ["/healthz", "/readyz"] {
        until("the monitor answers ok", || says(port, target, 200, "ok\n"));
        let page = server.get(target).is(200);
        assert_eq!((page.text().as_str(), page.header("cache-control").as_deref()), ("ok\n", Some("no-store")));
    }
    assert_eq!(server.control(["status", "--check", "healthz"]).succeeded().out, "ok\n");
    assert_eq!(server.control(["status", "--check", "readyz"]).succeeded().out, "ok\n");
    assert_eq!(ask(port, "/status.json").expect("an answer").status, 421, "only probes are for every host");
    server.site.write("go", "");
    slow.response().is(200);
}

#[test]
fn a_server_without_a_worker_is_not_ready_and_lives() {
    let port = free_port();
    let init = "package Wait; sub child { until (-e '@DIR@/born') { select undef, undef, undef, 0.01 } 0 } 1;";
    let site = Site::new().file("lib/Wait.pm", init).file("born", "").file("app.psgi", APP);
    let server = site.serve(&format!(
        "PerlLib lib\nPerlModule Wait\nPerlChildInitHandler Wait::child\nMaxClients 1\nStartServers 1\nMaxSpareServers 1\n\
         AdminListen 127.0.0.1:{port}\n{HANDLERS}<Location /app>\nPsgiApp app.psgi\n</Location>\n"
    ));
    server.until_idle(1);
    std::fs::remove_file(server.site.path("born")).expect("our own file");
    signal(server.workers()[0].0, Signal::SIGKILL);
    until("readyz names the reason", || {
        let page = server.get("/readyz");
        page.status == 503 && page.text() == "no worker is ready\n"
    });
    until("the monitor says so, too", || says(port, "/readyz", 503, "no worker is ready\n"));
    server.control(["status", "--check", "readyz"]).failed(1, "no worker is ready");
    server.get("/healthz").is(200);
    assert!(says(port, "/healthz", 200, "ok\n"));
    server.site.write("born", "");
    until("the server is ready again", || server.get("/readyz").status == 200);
}

#[test]
fn a_server_that_starts_or_stops_is_not_ready() {
    let port = free_port();
    let load = "package Load; until (-e '@DIR@/loaded') { select undef, undef, undef, 0.01 } 1;";
    let site = Site::new().file("lib/Load.pm", load).file("app.psgi", APP);
    site.configure(&format!(
        "PerlLib lib\nPerlModule Load\nMaxClients 1\nStartServers 1\nMaxSpareServers 1\nAdminListen 127.0.0.1:{port}\n\
         <Location /app>\nPsgiApp app.psgi\n</Location>\n"
    ));
    let command = site.serve_command();
    let mut server = Server::spawn(site, command);
    until("the monitor says that the server starts", || says(port, "/readyz", 503, "the server starts\n"));
    assert!(says(port, "/healthz", 200, "ok\n"));
    server.site.write("loaded", "");
    server.until_ready();
    until("the server is ready", || says(port, "/readyz", 200, "ok\n"));
    let mut slow = server.connect();
    slow.raw("GET /app/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    until("the worker is busy", || server.workers().iter().any(|(_, state)| state == "Busy"));
    server.signal(Signal::SIGTERM);
    until("the server says that it stops", || server.control(["status", "--check", "readyz"]).code == 1);
    server.control(["status", "--check", "readyz"]).failed(1, "the server stops");
    assert_eq!(server.control(["status", "--check", "healthz"]).succeeded().out, "ok\n");
    until("AdminListen is closed, for the next server", || ask(port, "/readyz").is_none());
    server.site.write("go", "");
    slow.response().is(200);
    assert_eq!(server.wait(), 0);
}

#[test]
fn run_has_a_control_socket_of_its_own() {
    let server = Site::new().file("app.psgi", "sub { [200, [], ['ok']] }").run(["app.psgi", "--control", "own.sock"]);
    let output = server.site.cameleer(["status", "--check", "readyz", "--socket", "own.sock"]).succeeded();
    assert_eq!(output.out, "ok\n");
}

#[test]
fn a_folder_that_takes_no_control_socket_is_named_with_the_remedy() {
    let site = Site::new().file("app.psgi", "sub { [200, [], ['ok']] }");
    let run = site.command(["run", "app.psgi", "--listen", &format!("127.0.0.1:{}", site.port)]);
    // root has its sockets in /run.
    let mut command = match nix::unistd::geteuid().is_root() {
        true => {
            let mut as_nobody = Command::new("setpriv");
            as_nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(run.get_program());
            as_nobody.args(run.get_args()).current_dir(site.folder());
            as_nobody
        }
        false => run,
    };
    command.env("TMPDIR", "/proc").env_remove("XDG_RUNTIME_DIR");
    Finished::of(&mut command).failed(1, "name a path with ControlSocket (run --control), or set TMPDIR");
}
