//! Starts, reloads and stops while clients send requests.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::serve;
use crate::support::{Connection, Load, Server, Site, let_pass, signal, until};

/// `/hold` creates a file and waits for the file `go`.
const HOLDS: &str = "sub { if ($_[0]{PATH_INFO} eq '/hold') { open my $f, '>', \"@DIR@/held-$$\"; close $f;
    select undef, undef, undef, 0.01 until -e '@DIR@/go' } [200, [], ['answered']] }";

/// Sends a request to `/hold` and waits until one more worker works on it.
fn hold(server: &Server) -> Connection {
    let held = || {
        let files = std::fs::read_dir(server.site.folder()).expect("its folder").flatten();
        files.filter(|file| file.file_name().to_string_lossy().starts_with("held-")).count()
    };
    let before = held();
    let mut connection = server.connect();
    connection.raw("GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the worker is busy", || held() > before);
    connection
}

fn answered(server: &Server) -> Load {
    Load::start(server, 4, "/", |response| response.status == 200 && response.text() == "answered")
}

fn wait_for_one_generation(server: &Server) {
    until("the old generations have left", || {
        server.status()["generations"].as_array().is_some_and(|all| all.len() == 1)
    });
}

#[test]
fn five_reloads_under_load_lose_nothing_and_a_long_request_outlives_them() {
    let server = serve(HOLDS, "GracefulShutdownTimeout 60s");
    let mut long = hold(&server);
    let load = answered(&server);
    for _ in 0..5 {
        load.until_answered(100);
        server.reload().succeeded();
    }
    load.until_answered(100);
    assert_eq!(load.failures(), Vec::<String>::new());
    server.site.write("go", "");
    assert_eq!(long.response().is(200).text(), "answered");
    wait_for_one_generation(&server);
}

#[test]
fn forty_reload_signals_in_a_second_leave_one_generation_and_lose_nothing() {
    let server = serve(HOLDS, "");
    let load = answered(&server);
    let begun = Instant::now();
    for n in 1..=40 {
        server.signal(Signal::SIGHUP);
        let_pass((n * Duration::from_millis(30)).saturating_sub(begun.elapsed()));
    }
    wait_for_one_generation(&server);
    load.until_answered(50);
    assert_eq!(load.failures(), Vec::<String>::new());
    until("no more than two workers are left", || server.workers().len() <= 2);
}

#[test]
fn code_that_cannot_be_loaded_costs_no_request_and_is_reported() {
    let startup = "package Warm; sub handler { 0 } 1;";
    let server = Site::new().file("app.psgi", HOLDS).file("startup.pl", startup).serve(
        "PerlRequire startup.pl\nPerlChildInitHandler Warm\n<Location />\nPsgiApp app.psgi\n</Location>\nStartTimeout 20s",
    );
    let conf = server.site.read("site.conf");
    let load = answered(&server);
    let breaks = [
        ("app.psgi", "use strict; my $x = $undeclared;", "app.psgi line 1"),
        ("site.conf", "MaxClient 5\n", "MaxClients"),
        (
            "startup.pl",
            "package Warm; sub warm_up { die \"the database is away\\n\" } warm_up();",
            "the database is away",
        ),
        ("startup.pl", "package Warm; sub handler { kill KILL => $$ } 1;", "no worker became ready"),
    ];
    for (file, text, reason) in breaks {
        let good = if file == "site.conf" { conf.clone() } else { server.site.read(file) };
        let text = if file == "site.conf" { format!("{good}\n{text}") } else { text.to_owned() };
        server.site.write(file, &text);
        let outcome = server.reload();
        assert_ne!(outcome.code, 0, "{file}: {outcome:?}");
        assert!(outcome.err.contains(reason), "{reason}: {outcome:?}");
        server.logged(reason);
        load.until_answered(50);
        server.site.write(file, &good);
    }
    server.reload().succeeded();
    assert_eq!(load.failures(), Vec::<String>::new());
}

#[test]
fn a_stop_answers_what_was_accepted_and_leaves_nothing() {
    let mut server = serve(HOLDS, "MaxClients 2\nStartServers 2\nGracefulShutdownTimeout 10000s");
    let busy: Vec<Connection> = (0..2).map(|_| hold(&server)).collect();
    let mut waiting = server.connect();
    waiting.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("one waits", || server.status()["front"]["queued"].as_u64() >= Some(1));
    server.signal(Signal::SIGTERM);
    until("nobody is let in any more", || Connection::open(&server.address).is_err());
    server.site.write("go", "");
    busy.into_iter().for_each(|mut connection| assert_eq!(connection.response().is(200).text(), "answered"));
    assert_eq!(waiting.response().is(200).text(), "answered");
    assert_eq!(server.wait(), 0);
    server.until_gone();
    std::net::TcpListener::bind(("127.0.0.1", server.site.port)).expect("the port is free");
}

#[test]
fn scripts_that_are_deaf_to_term_are_killed_at_the_limit() {
    let app = "sub { if ($_[0]{PATH_INFO} eq '/hold') { $SIG{$_} = 'IGNORE' for qw(TERM INT HUP QUIT);
        open my $f, '>', \"@DIR@/held-$$\"; close $f; 1 while 1 } [200, [], ['answered']] }";
    let mut server = serve(app, "GracefulShutdownTimeout 1s");
    let _busy = hold(&server);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    server.until_gone();
}

#[test]
fn after_a_killed_master_everything_is_gone_and_a_start_works() {
    let mut server = serve(HOLDS, "");
    let _busy = hold(&server);
    server.signal(Signal::SIGKILL);
    assert_eq!(server.wait(), -1);
    let stale = server.site.read("cameleer.pid");
    assert_eq!(stale.trim(), server.pid().to_string(), "its pid file is still there");
    until("the port is free", || Connection::open(&server.address).is_err());
    server.until_gone();
    let site = Site::new().file("app.psgi", HOLDS).file("cameleer.pid", &stale);
    let again = site.serve("<Location />\nPsgiApp app.psgi\n</Location>");
    assert_eq!(again.text("/"), "answered");
    assert_ne!(again.site.read("cameleer.pid"), stale);
}

#[test]
fn a_killed_front_is_replaced_while_the_port_takes_connections() {
    let server = serve(HOLDS, "");
    let front = server.status()["front_pid"].as_i64().expect("a front") as i32;
    signal(front, Signal::SIGKILL);
    // The kernel queues the connections until the next front accepts them, so that none is refused.
    let early: Vec<Connection> = (0..20).map(|_| server.connect()).collect();
    for mut connection in early {
        connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(connection.response().is(200).text(), "answered");
    }
    let next = server.status()["front_pid"].as_i64().expect("a front") as i32;
    assert_ne!(next, front);
    assert_eq!(server.text("/"), "answered");
}
