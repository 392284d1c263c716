//! `cameleer drain`, `cameleer maint`, `ShutdownDelay`.

use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;

use crate::support::{Request, Server, Site, free_port, until};

const READYZ: &str = "<Location /readyz>\nSetHandler server-readyz\n</Location>\n";
/// An application that creates `begun` and waits at /slow until the file `go` exists.
const APP: &str = r#"sub {
    if ($_[0]{PATH_INFO} eq '/slow') {
        open my $begun, '>', '@DIR@/begun' or die;
        select undef, undef, undef, 0.01 until -e '@DIR@/go';
    }
    [200, [], ['ok']]
}"#;

fn serve(conf: &str) -> Server {
    let place = "<Location /app>\nPsgiApp app.psgi\n</Location>\n";
    Site::new().file("app.psgi", APP).serve(&format!("LogLevel notice\n{READYZ}{place}{conf}"))
}

/// A command for the server that runs beside the test.
fn spawn<const N: usize>(server: &Server, arguments: [&str; N]) -> Child {
    let mut command: Command = server.site.command(arguments);
    command.arg("--socket").arg(server.site.path("control.sock"));
    command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program can be started")
}

#[track_caller]
fn readyz_is(server: &Server, status: u16, text: &str) {
    let page = server.get("/readyz").is(status);
    assert_eq!(page.text(), text);
}

#[test]
fn a_draining_server_is_not_ready_answers_and_closes_connections_after_the_next_response() {
    let server = serve("");
    let mut kept = server.connect();
    assert_eq!(kept.ask(Request::get("/app")).header("connection"), None);
    server.control(["drain", "--for", "1h", "--no-wait"]).succeeded();
    until("the front knows", || server.get("/readyz").status == 503);
    readyz_is(&server, 503, "the server drains\n");
    server.control(["status", "--check", "readyz"]).failed(1, "the server drains");
    server.control(["status", "--check", "healthz"]).succeeded();
    assert!(server.control(["status"]).succeeded().out.contains("draining"));
    let last = kept.ask(Request::get("/app")).is(200);
    assert_eq!(last.header("connection").as_deref(), Some("close"));
    kept.is_closed();
    server.logged("draining for 3600 s before the stop");
    server.control(["drain", "--cancel"]).succeeded();
    until("the front knows", || server.get("/readyz").status == 200);
    assert_eq!(server.connect().ask(Request::get("/app")).header("connection"), None);
    server.control(["drain", "--cancel"]).failed(1, "the server does not drain");
}

#[test]
fn drain_returns_at_the_end_of_the_server_and_running_requests_are_answered() {
    let mut server = serve("");
    let mut slow = server.connect();
    slow.raw("GET /app/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    until("the request runs", || server.site.has("begun"));
    let mut drain = spawn(&server, ["drain", "--for", "10ms"]);
    server.logged("stopping gracefully");
    assert!(drain.try_wait().expect("our own child").is_none(), "a request runs");
    server.control(["drain", "--cancel"]).failed(1, "the server was told to stop");
    server.control(["maint", "on"]).failed(1, "the server was told to stop");
    server.site.write("go", "");
    assert_eq!(slow.response().is(200).text(), "ok");
    assert_eq!(server.wait(), 0);
    assert!(drain.wait().expect("our own child").success());
}

#[test]
fn a_drain_that_is_cancelled_ends_with_an_error() {
    let server = serve("");
    let drain = spawn(&server, ["drain", "--for", "1h"]);
    until("the server drains", || server.get("/readyz").status == 503);
    server.control(["drain", "--cancel"]).succeeded();
    let output = drain.wait_with_output().expect("our own child");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), message.contains("the drain was cancelled")), (Some(1), true), "{message}");
    assert_eq!(server.text("/app"), "ok");
}

#[test]
fn term_waits_for_shutdown_delay_and_a_second_term_does_not() {
    let mut server = serve("ShutdownDelay 1h\n");
    server.signal(Signal::SIGTERM);
    until("the server drains", || server.get("/readyz").status == 503);
    assert_eq!(server.text("/app"), "ok", "it accepts connections");
    server.control(["drain", "--cancel"]).failed(1, "told to stop");
    server.control(["maint", "off"]).failed(1, "told to stop");
    let mut slow = server.connect();
    slow.raw("GET /app/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    until("the request runs", || server.site.has("begun"));
    server.signal(Signal::SIGTERM);
    server.logged("stopping gracefully");
    server.site.write("go", "");
    slow.response().is(200);
    assert_eq!(server.wait(), 0);
}

#[test]
fn a_stop_after_shutdown_delay_ends_the_server() {
    let mut server = serve("ShutdownDelay 50ms\n");
    server.control(["stop"]).succeeded();
    assert_eq!(server.wait(), 0);
    let log = server.log();
    let lines = ["draining for 1 s before the stop", "stopping gracefully", "stopped"].map(|line| log.find(line));
    assert!(lines.is_sorted() && lines.iter().all(Option::is_some), "{log}");
}

#[test]
fn a_fast_stop_does_not_wait_for_shutdown_delay() {
    let mut server = serve("ShutdownDelay 1h\n");
    server.control(["stop", "--fast"]).succeeded();
    assert_eq!(server.wait(), 0);
}

#[test]
fn maintenance_lasts_until_it_is_ended_also_after_a_reload_and_a_new_front() {
    let server = serve("");
    server.control(["maint", "on"]).succeeded();
    until("the front knows", || server.get("/readyz").status == 503);
    readyz_is(&server, 503, "the server is in maintenance\n");
    assert_eq!(server.text("/app"), "ok");
    server.reload().succeeded();
    readyz_is(&server, 503, "the server is in maintenance\n");
    let front = server.status()["front_pid"].as_i64().expect("a pid") as i32;
    crate::support::signal(front, Signal::SIGKILL);
    until("another front serves", || {
        let status = server.status();
        status["front_pid"].as_i64().is_some_and(|pid| pid != 0 && pid != i64::from(front))
            && !status["front"].is_null()
    });
    readyz_is(&server, 503, "the server is in maintenance\n");
    server.control(["maint", "off"]).succeeded();
    until("the front knows", || server.get("/readyz").status == 200);
}

#[test]
fn the_monitor_reports_a_drain_too() {
    let port = free_port();
    let server = serve(&format!("AdminListen 127.0.0.1:{port}\n"));
    let ready = || {
        let mut connection = crate::support::Connection::open(&crate::support::Address::Tcp(port)).ok()?;
        connection.try_ask(&Request::get("/readyz").header("Connection", "close")).ok()
    };
    until("the monitor answers", || ready().is_some_and(|answer| answer.status == 200));
    server.control(["drain", "--for", "1h", "--no-wait"]).succeeded();
    until("the monitor knows", || ready().is_some_and(|answer| answer.text() == "the server drains\n"));
    server.control(["drain", "--cancel"]).succeeded();
}

#[test]
fn a_wait_that_is_no_time_is_refused() {
    let server = serve("");
    let long = "9".repeat(10_000);
    for wrong in ["", "-1s", "x", &long] {
        let refused = server.control(["drain", &format!("--for={wrong}")]);
        assert_eq!(refused.code, 2, "{wrong}: {refused:?}");
    }
    server.get("/readyz").is(200);
}
