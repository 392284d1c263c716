//! Reloads of configuration and code without a lost request.

use nix::sys::signal::Signal;

use crate::support::{Load, Request, Server, Site, until};

#[track_caller]
fn serve(app: &str, conf: &str) -> Server {
    Site::new().file("app.psgi", app).serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

fn version(n: u32) -> String {
    format!("sub {{ [200, ['X-Pid', $$], ['version {n}']] }}")
}

#[test]
fn hup_serves_new_code_although_everything_is_preloaded() {
    let server = serve(&version(1), "");
    assert_eq!(server.text("/"), "version 1");
    server.site.write("app.psgi", &version(2));
    server.signal(Signal::SIGHUP);
    until("the new code answers", || server.text("/") == "version 2");
}

#[test]
fn a_module_that_the_application_uses_is_loaded_anew_too() {
    let server = Site::new()
        .file("lib/Version.pm", "package Version; sub text { 'module 1' } 1;")
        .file("app.psgi", "use Version; sub { [200, [], [Version::text()]] }")
        .serve("PerlLib lib\nPerlModule Version\n<Location />\nPsgiApp app.psgi\n</Location>");
    assert_eq!(server.text("/"), "module 1");
    server.site.write("lib/Version.pm", "package Version; sub text { 'module 2' } 1;");
    server.reload().succeeded();
    assert_eq!(server.text("/"), "module 2");
}

#[test]
fn reload_returns_when_the_new_code_answers() {
    let server = serve(&version(1), "");
    for n in 2..5 {
        server.site.write("app.psgi", &version(n));
        server.reload().succeeded();
        assert_eq!(server.text("/"), format!("version {n}"));
    }
}

#[test]
fn several_reloads_under_load_lose_no_request() {
    let server = serve(&version(1), "");
    let load =
        Load::start(&server, 4, "/", |response| response.status == 200 && response.text().starts_with("version "));
    for n in 2..6 {
        load.until_answered(100);
        server.site.write("app.psgi", &version(n));
        server.reload().succeeded();
    }
    load.until_answered(100);
    assert_eq!(load.failures(), Vec::<String>::new());
    assert_eq!(server.text("/"), "version 5");
    until("the old generations have left", || {
        server.status()["generations"].as_array().is_some_and(|all| all.len() == 1)
    });
}

#[test]
fn a_reload_under_load_without_keep_alive_refuses_no_connection() {
    let server = serve(&version(1), "KeepAlive Off");
    let load = Load::start(&server, 4, "/", |response| response.status == 200);
    for _ in 0..3 {
        load.until_answered(50);
        server.reload().succeeded();
    }
    assert_eq!(load.failures(), Vec::<String>::new());
}

#[test]
fn a_request_under_way_is_finished_by_the_old_code() {
    let server = serve(
        "sub { open my $f, '>', '@DIR@/begun'; close $f; select undef, undef, undef, 0.01 until -e '@DIR@/go'; [200, [], ['old']] }",
        "",
    );
    let mut slow = server.connect();
    slow.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the request runs", || server.site.has("begun"));
    server.site.write("app.psgi", &version(2));
    server.reload().succeeded();
    assert_eq!(server.text("/"), "version 2");
    server.site.write("go", "");
    assert_eq!(slow.response().text(), "old");
    assert_eq!(slow.ask(Request::get("/")).text(), "version 2", "on the same connection");
}

#[test]
fn a_reload_with_broken_perl_keeps_the_old_code_and_names_the_line() {
    let server = serve(&version(1), "");
    server.site.write("app.psgi", "use strict;\nmy $x = $undeclared;\nsub { }\n");
    let outcome = server.reload();
    assert_ne!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.err.contains("app.psgi line 2"), "{outcome:?}");
    server.logged("app.psgi line 2");
    assert_eq!(server.text("/"), "version 1");
    server.site.write("app.psgi", &version(2));
    server.reload().succeeded();
    assert_eq!(server.text("/"), "version 2");
}

#[test]
fn a_reload_with_a_broken_configuration_keeps_the_old_one_and_names_the_line() {
    let server = serve(&version(1), "");
    let good = server.site.read("site.conf");
    server.site.write("site.conf", &format!("{good}\n\nMaxClient 5\n"));
    let line = good.lines().count() + 3 - usize::from(good.ends_with('\n'));
    let outcome = server.reload();
    assert_ne!(outcome.code, 0, "{outcome:?}");
    assert!(
        outcome.err.contains("site.conf:") && outcome.err.contains("MaxClients"),
        "{outcome:?}, expected near line {line}"
    );
    assert_eq!(server.text("/"), "version 1");
    server.site.write("site.conf", &good);
    server.reload().succeeded();
}

#[test]
fn a_failed_reload_by_signal_is_in_the_log() {
    let server = serve(&version(1), "");
    server.site.write("app.psgi", "die 'no';");
    server.signal(Signal::SIGHUP);
    server.logged("no at ");
    assert_eq!(server.text("/"), "version 1");
}

#[test]
fn code_that_never_finishes_loading_fails_after_start_timeout() {
    let server = serve(&version(1), "");
    server.site.write("app.psgi", "1 while 1;");
    server.site.write("site.conf", &format!("{}\nStartTimeout 1s\n", server.site.read("site.conf")));
    let outcome = server.reload();
    assert_ne!(outcome.code, 0, "{outcome:?}");
    assert_eq!(server.text("/"), "version 1");
}

#[test]
fn a_new_configuration_takes_effect() {
    let server = Site::new().file("htdocs/a.txt", "old root\n").file("other/a.txt", "new root\n").serve("MaxClients 2");
    assert_eq!(server.text("/a.txt"), "old root\n");
    server.site.configure("DocumentRoot other\nCustomLog new.log common");
    server.reload().succeeded();
    assert_eq!(server.text("/a.txt"), "new root\n");
    until("the new log is written", || server.site.read("new.log").contains("/a.txt"));
}

#[test]
fn a_listener_may_come_and_go_with_a_reload() {
    let other = Site::new();
    let server = serve(&version(1), "");
    let conf = server.site.read("site.conf");
    server.site.write("site.conf", &format!("{conf}\nListen 127.0.0.1:{}\n", other.port));
    server.reload().succeeded();
    let open = || crate::support::Connection::open(&other.address());
    assert_eq!(open().expect("the new listener").ask(Request::get("/")).text(), "version 1");
    server.site.write("site.conf", &conf);
    server.reload().succeeded();
    until("the old listener is closed", || open().is_err());
    assert_eq!(server.text("/"), "version 1");
}

#[test]
fn a_listener_that_cannot_be_bound_fails_the_reload_only() {
    let server = serve(&version(1), "");
    let taken = Site::new();
    let _holder = std::net::TcpListener::bind(("127.0.0.1", taken.port)).expect("bound");
    let conf = server.site.read("site.conf");
    server.site.write("site.conf", &format!("{conf}\nListen 127.0.0.1:{}\n", taken.port));
    let outcome = server.reload();
    assert_ne!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.err.contains(&taken.port.to_string()), "{outcome:?}");
    assert_eq!(server.text("/"), "version 1");
}

#[test]
fn run_reloads_its_program_too() {
    let server = Site::new().file("app.psgi", &version(1)).run(["app.psgi"]);
    server.site.write("app.psgi", &version(2));
    server.reload().succeeded();
    assert_eq!(server.text("/"), "version 2");
}

#[test]
fn two_hups_at_once_end_with_the_newest_code() {
    let server = serve(&version(1), "");
    server.site.write("app.psgi", &version(2));
    server.signal(Signal::SIGHUP);
    server.site.write("app.psgi", &version(3));
    server.signal(Signal::SIGHUP);
    until("the newest answers", || server.text("/") == "version 3");
}
