//! Programs that misbehave: only their own request suffers. Starts that cannot succeed: one clear line.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::support::{Load, Request, Server, Site, alive, children, signal, until};

#[track_caller]
fn serve(app: &str, conf: &str) -> Server {
    Site::new().file("app.psgi", app).serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

/// `/pid` says who answers, `/hang` says so and never ends.
const HANGS: &str = "sub { my $p = $_[0]{PATH_INFO}; if ($p eq '/hang') { open my $f, '>', '@DIR@/hanging'; print $f $$; close $f; 1 while 1 } [200, [], [$$]] }";

#[test]
fn a_worker_killed_in_mid_request_is_a_502_within_two_seconds_and_nobody_else_notices() {
    let server = serve(HANGS, "MaxClients 3\nStartServers 3\nMinSpareServers 3\nMaxSpareServers 3");
    let load = Load::start(&server, 2, "/", |response| response.status == 200);
    let mut victim = server.connect();
    victim.raw("GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("it hangs", || !server.site.read("hanging").is_empty());
    let pid: i32 = server.site.read("hanging").parse().expect("a pid");
    let killed = Instant::now();
    signal(pid, Signal::SIGKILL);
    assert_eq!(victim.response().status, 502);
    assert!(killed.elapsed() < Duration::from_secs(2), "{:?}", killed.elapsed());
    load.until_answered(50);
    assert_eq!(load.failures(), Vec::<String>::new());
    until("it is replaced", || {
        server.workers().len() == 3 && server.workers().iter().all(|(worker, _)| *worker != pid)
    });
    assert!(server.logged("signal=9").contains(&format!("pid={pid}")));
}

#[test]
fn a_segfault_costs_its_own_request() {
    let server = serve("sub { unpack \"p\", pack \"J\", 1 if $_[0]{PATH_INFO} eq '/crash'; [200, [], ['ok']] }", "");
    server.get("/crash").is(502);
    assert_eq!(server.text("/"), "ok");
    server.logged("signal=11");
}

#[test]
fn a_crash_in_mid_response_is_visibly_cut_short() {
    let server = serve("sub { sub { my $w = $_[0]->([200, []]); $w->write('begun'); kill KILL => $$ } }", "");
    let mut connection = server.connect();
    connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.head();
    let rest = String::from_utf8_lossy(&connection.rest()).into_owned();
    assert!(!rest.contains("\r\n0\r\n\r\n"), "{rest:?}");
}

#[test]
fn an_endless_loop_is_a_504_and_its_worker_is_killed() {
    let server = serve(HANGS, "RequestTimeout 500ms\nRequestTimeoutGrace 0");
    let response = server.get("/hang").is(504);
    assert!(!response.body.is_empty());
    let pid = server.site.read("hanging").parse().expect("a pid");
    until("it is killed", || !alive(pid));
    server.logged("/hang");
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn a_loop_that_ignores_term_is_killed_too() {
    let server = serve(
        "sub { if ($_[0]{PATH_INFO} eq '/hang') { $SIG{TERM} = $SIG{INT} = 'IGNORE'; 1 while 1 } [200, [], ['ok']] }",
        "RequestTimeout 500ms",
    );
    server.get("/hang").is(504);
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn a_hundred_megabyte_upload_that_nobody_reads_harms_nobody() {
    let server = serve("sub { [200, [], ['not read']] }", "");
    let piece = vec![b'x'; 1 << 20];
    let mut connection = server.connect();
    connection.raw(format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", 100 << 20));
    for _ in 0..100 {
        connection.raw(&piece);
    }
    assert_eq!(connection.response().text(), "not read");
    assert_eq!(connection.ask(Request::get("/")).text(), "not read");
    let left = std::fs::read_dir(server.site.path("tmp")).expect("TMPDIR").count();
    assert_eq!(left, 0, "the upload's file has no name");
}

#[test]
fn a_worker_that_writes_nonsense_to_the_front_is_killed_and_its_request_is_a_502() {
    let server = serve(
        "sub { if ($_[0]{PATH_INFO} eq '/lie') {
                 for my $fd (3 .. 60) { -S \"/proc/self/fd/$fd\" or next; open my $s, '>&=', $fd or next; send $s, \"\\xff\" x 5000, 0 }
               } [200, [], ['ok']] }",
        "",
    );
    let status = server.get("/lie").status;
    assert_eq!(status, 502);
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn a_worker_that_closes_all_its_descriptors_costs_its_own_request() {
    let server = serve(
        "use POSIX (); sub { if ($_[0]{PATH_INFO} eq '/close') { POSIX::close($_) for 3 .. 100 } [200, [], ['ok']] }",
        "",
    );
    server.get("/close").is(502);
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn workers_that_cannot_boot_are_tried_less_and_less_often_and_do_not_flood() {
    let startup = "Apache->push_handlers(PerlChildInitHandler => sub { -e '@DIR@/broken' or return 0;
        open my $f, '>>', '@DIR@/boots'; print $f \"x\"; close $f; kill KILL => $$; });
        package My; sub handler { $_[0]->send_http_header('text/plain'); $_[0]->print($$); 0 } 1;";
    let server = Site::new().file("startup.pl", startup).serve(
        "MaxClients 1\nStartServers 1\nPerlRequire startup.pl\n<Location />\nSetHandler perl-script\nPerlHandler My\n</Location>",
    );
    let pid = server.text("/").parse().expect("a pid");
    server.site.write("broken", "");
    signal(pid, Signal::SIGKILL);
    server.logged("next try in 0.8 s");
    let boots = server.site.read("boots").len();
    assert!((3..=6).contains(&boots), "{boots} boots");
    std::fs::remove_file(server.site.path("broken")).expect("it was there");
    assert_eq!(server.get("/").status, 200, "the request waited until a worker came up");
}

#[test]
fn a_front_that_dies_is_replaced_and_the_port_never_refuses() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    let front = server.status()["front_pid"].as_i64().expect("a front") as i32;
    signal(front, Signal::SIGKILL);
    until("another one answers", || {
        let status = server.status();
        status["front_pid"].as_i64().is_some_and(|pid| pid > 0 && pid as i32 != front)
    });
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn a_mold_that_dies_is_replaced_and_requests_go_on() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    let mold = server.status()["generations"][0]["mold_pid"].as_i64().expect("a mold") as i32;
    signal(mold, Signal::SIGKILL);
    until("another one forks", || {
        let status = server.status();
        let molds = status["generations"].as_array().cloned().unwrap_or_default();
        molds.iter().any(|g| g["state"] == "Serving" && g["mold_pid"].as_i64() != Some(i64::from(mold)))
    });
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn a_master_that_is_killed_takes_front_and_workers_along() {
    let mut server = serve(HANGS, "");
    let mut busy = server.connect();
    busy.raw("GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("it hangs", || !server.site.read("hanging").is_empty());
    assert!(!children(server.pid()).is_empty());
    server.signal(Signal::SIGKILL);
    assert_eq!(server.wait(), -1);
    server.until_gone();
}

#[test]
fn a_port_in_use_is_one_line() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    let said = server.site.cameleer([
        "serve",
        "-f",
        "site.conf",
        "-c",
        "PidFile other.pid",
        "-c",
        "ControlSocket other.sock",
        "-c",
        "ErrorLog other.log",
    ]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
    assert!(said.err.contains(&server.site.port.to_string()) && said.err.contains("in use"), "{said:?}");
    assert_eq!(server.text("/"), "ok", "the first one is unharmed");
}

#[test]
fn a_second_start_of_the_same_site_is_refused_and_names_the_first() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    let said = server.site.cameleer(["serve", "-f", "site.conf"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(server.text("/"), "ok");
    assert_eq!(server.site.read("cameleer.pid").trim(), server.pid().to_string());
}

#[test]
fn an_unwritable_log_is_one_line() {
    let site = Site::new().file("app.psgi", "sub { }");
    site.configure("ErrorLog /nowhere/error.log\n<Location />\nPsgiApp app.psgi\n</Location>");
    let said = site.cameleer(["serve", "-f", "site.conf"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
    assert!(said.err.contains("/nowhere/error.log"), "{said:?}");
}

#[test]
fn a_missing_program_is_one_line_that_names_it() {
    let said = Site::new().cameleer(["run", "none.psgi"]);
    assert_ne!(said.code, 0);
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
    assert!(said.err.contains("none.psgi"), "{said:?}");
}

#[test]
fn a_missing_configuration_is_one_line_that_names_it() {
    let said = Site::new().cameleer(["serve", "-f", "none.conf"]).failed(78, "none.conf");
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
}

#[test]
fn broken_perl_at_the_start_ends_with_78_and_names_file_and_line() {
    let site = Site::new().file("app.psgi", "use strict;\n\nmy $x = $undeclared;\nsub { }\n");
    let port = site.port.to_string();
    let said = site.cameleer(["run", "-p", &port, "app.psgi"]);
    assert_eq!(said.code, 78, "{said:?}");
    assert!(said.err.contains("app.psgi line 3"), "{said:?}");
}

#[test]
fn a_broken_module_at_the_start_ends_with_78_and_names_the_directive_too() {
    let site = Site::new().file("lib/Broken.pm", "package Broken;\nsub {\n");
    site.configure("\nPerlLib lib\nPerlModule Broken\n");
    let said = site.cameleer(["serve", "-f", "site.conf"]);
    assert_eq!(said.code, 78, "{said:?}");
    assert!(said.err.contains("site.conf:3") && said.err.contains("Broken.pm line"), "{said:?}");
}

#[test]
fn code_that_exits_while_it_is_loaded_is_a_failed_start() {
    let said = Site::new().file("app.psgi", "exit 0;").cameleer(["run", "-p", "1", "app.psgi"]);
    assert_ne!(said.code, 0, "{said:?}");
}
