//! `ReadinessCheck`: services that the server needs to be ready.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::spawn;

use crate::support::{Finished, Server, Site, alive, until};

const READYZ: &str = "<Location /readyz>\nSetHandler server-readyz\n</Location>\n\
    <Location /app>\nPsgiApp app.psgi\n</Location>\nPerlLib lib\n";
const APP: &str = "sub { [200, [], ['ok']] }";
const SOON: &str = "interval=100ms fail=1";

/// Subs of a site: the check named in the file `mode`.
const HEALTH: &str = r#"package My::Health;
sub check {
    open my $in, '<', '@DIR@/mode' or return;
    my $mode = <$in> // '';
    print "nonsense\n" x 1000;
    return 1 if $mode eq 'ok';
    die "the store is away\nwith a second line\n" if $mode eq 'die';
    die 'x' x 100_000 if $mode eq 'long';
    exit 3 if $mode eq 'exit';
    kill KILL => $$ if $mode eq 'kill';
    if ($mode eq 'fork' && !fork) {
        open my $out, '>', '@DIR@/child' or die;
        print $out $$;
        close $out;
        sleep 1 while 1;
    }
    if ($mode eq 'fork') { select undef, undef, undef, 0.01 until -s '@DIR@/child'; return 1 }
    1 while $mode eq 'loop';
    return 0;
}
1;
"#;

fn serve(conf: &str) -> Server {
    Site::new()
        .file("app.psgi", APP)
        .file("lib/My/Health.pm", HEALTH)
        .file("mode", "ok")
        .serve(&format!("{READYZ}{conf}"))
}

#[track_caller]
fn until_ready(server: &Server) {
    until("the server is ready", || server.get("/readyz").status == 200);
}

#[track_caller]
fn until_not_ready(server: &Server, name: &str, why: &str) {
    until(&format!("{name} fails with {why:?}"), || failure(server, name).contains(why));
    until(&format!("/readyz names {name}"), || {
        let page = server.get("/readyz");
        page.status == 503 && page.text() == format!("ReadinessCheck {name}: not ready\n")
    });
}

/// Why a check fails, as administrators see it; empty: it succeeds.
fn failure(server: &Server, name: &str) -> String {
    let status = server.status();
    let checks = status["node"]["checks"].as_array().expect("a list").iter();
    let found = checks.filter(|check| check["name"] == name).find_map(|check| check["failure"].as_str());
    found.unwrap_or_default().to_owned()
}

#[test]
fn a_server_is_ready_while_its_sub_of_perl_returns_a_true_value() {
    let server = serve(&format!("ReadinessCheck store perl:My::Health::check {SOON} timeout=30s\n"));
    until_ready(&server);
    for (mode, why) in [
        ("no", "My::Health::check returned a false value"),
        ("die", "the store is away"),
        ("exit", ""),
        ("kill", "the check was killed by SIGKILL"),
        ("long", "xxxxxxxx"),
    ] {
        server.site.write("mode", mode);
        until_not_ready(&server, "store", why);
        assert!(failure(&server, "store").len() < 300, "{mode}");
        server.control(["status", "--check", "readyz"]).failed(1, "ReadinessCheck store");
        server.get("/app").is(200);
        server.site.write("mode", "ok");
        until_ready(&server);
    }
    let log = server.log();
    assert_eq!(log.matches("ReadinessCheck store: not ready: the store is away").count(), 1, "{log}");
    server.logged("ReadinessCheck store: ready");
}

#[test]
fn a_check_that_loops_is_killed_and_no_request_waits_for_it() {
    let server = serve(&format!("ReadinessCheck store perl:My::Health::check {SOON} timeout=300ms\n"));
    until_ready(&server);
    server.site.write("mode", "loop");
    until_not_ready(&server, "store", "no result within 300 ms");
    assert_eq!(server.text("/app"), "ok");
    let Finished { out, .. } = server.control(["status"]).succeeded();
    assert!(out.contains("store: no result within 300 ms"), "{out}");
    server.site.write("mode", "ok");
    until_ready(&server);
}

#[test]
fn a_missing_sub_is_named() {
    let server =
        serve(&format!("ReadinessCheck a perl:My::Health::none {SOON}\nReadinessCheck b perl:No::Such::sub {SOON}\n"));
    until_not_ready(&server, "a", "My::Health::none");
    server.logged("ReadinessCheck a: not ready: ");
    server.logged("ReadinessCheck b: not ready: Can't locate No/Such.pm");
}

#[test]
fn a_server_is_ready_while_its_services_accept_and_answer() {
    let (listener, page) =
        (TcpListener::bind("127.0.0.1:0").expect("a port"), TcpListener::bind("127.0.0.1:0").expect("a port"));
    let port = |listener: &TcpListener| listener.local_addr().expect("bound").port();
    let (tcp, http) = (port(&listener), port(&page));
    let server = Site::new().file("app.psgi", APP).file("status", "HTTP/1.1 204 No Content\r\n\r\n");
    let status = server.path("status");
    spawn(move || {
        for stream in page.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let _ = stream.write_all(&std::fs::read(&status).unwrap_or_default());
        }
    });
    let server = server.serve(&format!(
        "{READYZ}ReadinessCheck db tcp://127.0.0.1:{tcp} {SOON}\nReadinessCheck search http://127.0.0.1:{http}/ping {SOON} timeout=30s\n"
    ));
    until_ready(&server);
    for (answer, why) in [
        ("HTTP/1.1 503 Busy\r\n\r\n".to_owned(), "/ping: status 503"),
        ("SSH-2.0-nonsense\r\n".to_owned(), "the response is not HTTP"),
        (String::new(), "the response is not HTTP"),
        ("x".repeat(1_000_000), ""),
    ] {
        server.site.write("status", &answer);
        until_not_ready(&server, "search", why);
        server.site.write("status", "HTTP/1.1 302 Found\r\n\r\n");
        until_ready(&server);
    }
    drop(listener);
    until_not_ready(&server, "db", &format!("127.0.0.1:{tcp}: Connection refused"));
}

#[test]
fn a_reload_changes_the_checks() {
    let server = serve(&format!("ReadinessCheck store perl:My::Health::check {SOON}\n"));
    server.site.write("mode", "no");
    until_not_ready(&server, "store", "false value");
    server.site.configure(READYZ);
    server.reload().succeeded();
    server.get("/readyz").is(200);
    server.site.configure(&format!("{READYZ}ReadinessCheck other perl:My::Health::check {SOON}\n"));
    server.reload().succeeded();
    until_not_ready(&server, "other", "false value");
    server.site.write("mode", "ok");
    until_ready(&server);
}

#[test]
fn processes_that_a_check_leaves_behind_end_with_it() {
    let server = serve(&format!("ReadinessCheck store perl:My::Health::check {SOON} timeout=30s\n"));
    until_ready(&server);
    server.site.write("mode", "fork");
    let mut child = None;
    until("the check has a child", || {
        child = server.site.read("child").parse::<i32>().ok();
        child.is_some()
    });
    until("the child is killed", || child.is_some_and(|pid| !alive(pid)));
    server.site.write("mode", "no");
    until_not_ready(&server, "store", "false value");
}

#[test]
fn a_reload_that_adds_or_renames_a_check_takes_no_node_out() {
    let server = serve(&format!("ReadinessCheck store perl:My::Health::check {SOON}\n"));
    until_ready(&server);
    server.site.write("mode", "no");
    // One failure an hour, of the three that are needed.
    let rare = "perl:My::Health::check interval=1h";
    server.site.configure(&format!("{READYZ}ReadinessCheck renamed {rare}\nReadinessCheck other {rare}\n"));
    server.reload().succeeded();
    server.get("/readyz").is(200);
    assert_eq!((failure(&server, "renamed"), failure(&server, "other")), (String::new(), String::new()));
}
