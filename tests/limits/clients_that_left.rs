//! Clients that disconnect: which work the server drops, and how a program learns of the disconnect.

use std::time::Duration;

use super::serve;
use crate::support::{Connection, Server, Site, cpu_time, descriptors, let_pass, until};

const APP: &str = "sub { my $p = $_[0]{PATH_INFO};
    return [200, [], ['ok']] if $p eq '/';
    if ($p eq '/slow') { select undef, undef, undef, 0.02; return [200, [], ['slow']] }
    sub { my $w = $_[0]->([200, []]); $w->write('x' x 50_000) for 1 .. 20; $w->close } }";

fn cpu(processes: &[i32]) -> Duration {
    processes.iter().map(|pid| cpu_time(*pid)).sum()
}

#[track_caller]
fn vanish(server: &Server, count: usize, what: &str, until_it: impl Fn(&mut Connection)) {
    for _ in 0..count {
        let mut connection = server.connect();
        connection.raw(what);
        until_it(&mut connection);
    }
}

#[test]
fn clients_that_vanish_leave_no_descriptor_and_no_work_behind() {
    let server = serve(APP, "");
    assert_eq!(server.text("/"), "ok");
    server.until_idle(2);
    let front = server.status()["front_pid"].as_i64().expect("a front") as i32;
    let processes: Vec<i32> = server.workers().iter().map(|(pid, _)| *pid).chain([front]).collect();
    let before: Vec<usize> = processes.iter().map(|pid| descriptors(*pid)).collect();

    vanish(&server, 100, "GET /half HTTP/1.1\r\nHo", |_| {});
    vanish(&server, 100, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\nhalf", |_| {});
    vanish(&server, 100, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n", |_| {});
    vanish(&server, 100, "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n", |connection| {
        connection.head();
    });

    until("everything is quiet", || {
        let status = server.status();
        status["front"]["connections"] == 0 && status["front"]["queued"] == 0
    });
    server.until_idle(2);
    let now = || processes.iter().map(|pid| descriptors(*pid)).collect::<Vec<usize>>();
    until("no descriptor is left", || now() == before);
    until("no CPU is used any more", || {
        let used = cpu(&processes);
        let_pass(Duration::from_millis(500));
        cpu(&processes) - used < Duration::from_millis(50)
    });
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn a_psgi_application_that_streams_to_a_disconnected_client_gets_an_error() {
    let app = "sub { return [200, [], ['ok']] if $_[0]{PATH_INFO} eq '/';
        sub { my $w = $_[0]->([200, []]); my $n = 0;
              while ($w->write('x' x 1000)) { last if ++$n > 1_000_000 }
              open my $f, '>', '@DIR@/told'; print $f $n > 1_000_000 ? 'never' : 'told'; close $f; $w->close } }";
    let server = serve(app, "MaxClients 1\nStartServers 1");
    let mut connection = server.connect();
    connection.raw("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.head();
    assert!(!connection.chunk().is_empty());
    drop(connection);
    until("the program has noticed that its client left", || !server.site.read("told").is_empty());
    assert_eq!(server.site.read("told"), "told");
    assert_eq!(server.text("/"), "ok", "the same worker goes on");
    assert!(!server.log().contains("[front:error]") && !server.log().contains("[perl:error]"), "{}", server.log());
}

#[test]
fn a_handler_that_prints_to_a_disconnected_client_gets_an_error() {
    let handler = "package Long; sub handler { my $r = shift; $r->send_http_header('text/plain');
        return $r->print('ok') && 0 if $r->uri eq '/';
        my $n = 0; while ($r->print('x' x 1000)) { last if ++$n > 1_000_000 }
        open my $f, '>', '@DIR@/told'; print $f $n > 1_000_000 ? 'never' : 'told ', $r->connection->aborted; close $f; 0 } 1;";
    let server = Site::new().file("lib/Long.pm", handler).serve(
        "MaxClients 1\nStartServers 1\nPerlLib lib\n<Location />\nSetHandler perl-script\nPerlHandler Long\n</Location>",
    );
    let mut connection = server.connect();
    connection.raw("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(connection.head().status, 200);
    drop(connection);
    until("the program has noticed that its client left", || !server.site.read("told").is_empty());
    assert_eq!(server.site.read("told"), "told 1");
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn a_handler_that_computes_learns_by_asking_that_its_client_has_left() {
    let handler = "package Long; sub handler { my $r = shift; $r->send_http_header('text/plain');
        return $r->print('ok') && 0 if $r->uri eq '/';
        open my $g, '>', '@DIR@/begun'; print $g 1; close $g;
        for (1 .. 1000) { last if $r->connection->aborted; select undef, undef, undef, 0.02 }
        open my $f, '>', '@DIR@/told'; print $f $r->connection->aborted; close $f; $r->print('nobody'); 0 } 1;";
    let server = Site::new().file("lib/Long.pm", handler).serve(
        "MaxClients 1\nStartServers 1\nPerlLib lib\n<Location />\nSetHandler perl-script\nPerlHandler Long\n</Location>",
    );
    let mut connection = server.connect();
    connection.raw("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the request runs", || !server.site.read("begun").is_empty());
    drop(connection);
    until("the program has noticed that its client left", || !server.site.read("told").is_empty());
    assert_eq!(server.site.read("told"), "1");
    assert_eq!(server.text("/"), "ok", "the worker has kept to the protocol");
}
