//! `RequestTimeout`: a program that exceeds the limit dies with its stack in the log. If it continues, its worker is
//! killed.

use super::serve;
use crate::support::{Server, Site, alive, until};

/// An application with an endless loop three subs deep.
const LOOPS: &str = "package Report;
sub lines { my $n = shift;
    while (1) { $n++ }
}
sub page { lines(1) }
package main;
my $app = sub { $_[0]{PATH_INFO} eq '/loop' ? Report::page() : [200, [], [$$]] };
$app";

#[test]
fn a_request_that_takes_too_long_dies_with_its_perl_stack_in_the_log() {
    let server = serve(LOOPS, "MaxClients 1\nStartServers 1\n<Location /loop>\nRequestTimeout 300ms\n</Location>");
    let worker = server.text("/");
    server.get("/loop").is(504);
    assert_eq!(server.text("/"), worker, "its worker goes on");
    server.logged("RequestTimeout has passed for GET /loop");
    for frame in ["  Report::lines at ", "  Report::page at ", "app.psgi line 5"] {
        server.logged(frame);
    }
    assert!(server.logged("  Report::lines at ").ends_with("app.psgi line 3"), "{}", server.log());
    assert!(server.logged("the request took longer than RequestTimeout at ").contains("app.psgi line 3."));
}

#[test]
fn a_late_request_dies_regardless_of_earlier_changes_of_signals() {
    let soils = [
        "POSIX::sigprocmask(POSIX::SIG_SETMASK, do { my $s = POSIX::SigSet->new; $s->fillset; $s })",
        "$SIG{$_} = 'IGNORE' for keys %SIG",
    ];
    for soil in soils {
        let app = LOOPS.replace(
            "my $app = sub {",
            &format!("use POSIX (); my $app = sub {{ if ($_[0]{{PATH_INFO}} eq '/soil') {{ {soil} }}"),
        );
        let server = serve(
            &app,
            "MaxClients 1\nStartServers 1\n<Location /loop>\nRequestTimeout 300ms\n</Location>\nRequestTimeoutGrace 10000s",
        );
        let worker = server.text("/soil");
        server.get("/loop").is(504);
        assert_eq!(server.text("/"), worker, "it was not killed after {soil}");
    }
}

#[test]
fn a_sleep_and_a_read_are_interrupted_too() {
    let server = serve(
        "sub { my $p = $_[0]{PATH_INFO}; sleep 10000 if $p eq '/sleep'; select undef, undef, undef, 10000 if $p eq '/select';
         if ($p eq '/read') { pipe my $r, my $w; readline $r } [200, [], [$$]] }",
        "MaxClients 1\nStartServers 1\n<LocationMatch ^/(sleep|select|read)>\nRequestTimeout 300ms\n</LocationMatch>\nRequestTimeoutGrace 10000s",
    );
    let worker = server.text("/");
    for path in ["/sleep", "/select", "/read"] {
        server.get(path).is(504);
    }
    assert_eq!(server.text("/"), worker);
}

#[test]
fn an_eval_catches_the_timeout_once_and_the_grace_period_kills_the_worker() {
    let app = "sub { my $p = $_[0]{PATH_INFO};
        if ($p eq '/rolls-back') { eval { sleep 60 }; return [200, [], [\"caught: $@\"]] }
        while ($p eq '/stubborn') { eval { 1 while 1 } }
        [200, [], [$$]] }";
    let server = serve(
        app,
        "MaxClients 1\nStartServers 1\n<LocationMatch ^/(rolls-back|stubborn)>\nRequestTimeout 300ms\n</LocationMatch>\nRequestTimeoutGrace 4s",
    );
    assert!(server.text("/rolls-back").starts_with("caught: the request took longer than RequestTimeout at "));
    let worker = server.text("/").parse().expect("a pid");
    server.get("/stubborn").is(504);
    until("the worker is killed", || !alive(worker));
    assert!(server.logged("still running after its die, at ").contains("app.psgi line 3"), "{}", server.log());
    server.logged("has worked on one request for too long");
}

#[test]
fn a_request_that_is_stuck_in_c_is_killed_and_logged_with_its_place() {
    let app = r"package Search;
        sub find { my $secret = 'secret'; crypt $secret, '$6$rounds=999999999$salt' }
        package main;
        sub { Search::find() if $_[0]{PATH_INFO} eq '/stuck'; [200, [], ['ok']] }";
    let server = serve(
        app,
        "MaxClients 1\nStartServers 1\n<Location /stuck>\nRequestTimeout 300ms\n</Location>\nRequestTimeoutGrace 4s",
    );
    server.get("/stuck").is(504);
    let line = server.logged("still inside one operation, at ");
    assert!(line.ends_with("app.psgi line 2, in Search::find"), "{line}");
    let shape = regex::Regex::new(r"^\[\w{3} \w{3} \d\d \d\d:\d\d:\d\d\.\d{6} \d{4}\] \[perl:error\] \[pid \d+\] ");
    assert!(shape.expect("a pattern").is_match(&line), "{line}");
    let before = server.logged("RequestTimeout has passed for GET /stuck");
    assert_eq!(line[..11], before[..11], "the handler's own calendar is right");
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn without_grace_a_late_request_is_killed_at_once() {
    let server = serve(
        LOOPS,
        "MaxClients 1\nStartServers 1\n<Location /loop>\nRequestTimeout 300ms\n</Location>\nRequestTimeoutGrace 0",
    );
    let worker = server.text("/").parse().expect("a pid");
    server.get("/loop").is(504);
    until("the worker is killed", || !alive(worker));
    assert!(!server.log().contains("Report::lines"), "nobody asked it");
}

#[test]
fn a_late_word_does_not_hit_the_next_request() {
    let app = "use Time::HiRes 'sleep'; sub { sleep 0.1; [200, [], ['ok']] }";
    let server = serve(app, "MaxClients 1\nStartServers 1\nRequestTimeout 102ms\nRequestTimeoutGrace 30s");
    let mut connection = server.connect();
    let answers = (0..20).map(|_| connection.ask(crate::support::Request::get("/")).status);
    let wrong: Vec<u16> = answers.filter(|status| !matches!(status, 200 | 504)).collect();
    assert_eq!(wrong, Vec::<u16>::new());
    assert!(!server.log().contains("killed"), "{}", server.log());
}

#[track_caller]
fn extends(app: &str, conf: &str) {
    let server = Site::new().file("app.psgi", app).file("lib/Slow.pm", app).serve(&format!(
        "MaxClients 1\nStartServers 1\nRequestTimeout 1s\nRequestTimeoutGrace 200ms\nPerlLib lib\n{conf}"
    ));
    // A worker that had no CPU time for a second could not ask for more time before the limit.
    until("more time was asked for in time", || server.get("/more").status == 200);
    server.get("/").is(504);
}

#[test]
fn a_psgi_application_may_ask_for_more_time() {
    extends(
        "sub { my $e = shift; $e->{'cameleer.extend_timeout'}->(30) if $e->{PATH_INFO} eq '/more';
         select undef, undef, undef, 2.2; [200, [], ['done']] }",
        "<Location />\nPsgiApp app.psgi\n</Location>",
    );
}

#[test]
fn a_handler_may_ask_for_more_time() {
    extends(
        "package Slow; sub handler { my $r = shift; $r->extend_timeout(30) if $r->uri eq '/more';
         select undef, undef, undef, 2.2; $r->send_http_header('text/plain'); $r->print('done'); 0 } 1;",
        "<Location />\nSetHandler perl-script\nPerlHandler Slow\n</Location>",
    );
}

/// The programs ask for more time in a loop and catch the exception of the timeout.
#[test]
fn request_timeout_limit_ends_requests_that_extend_without_end() {
    let psgi = "sub { my $e = shift; return [200, [], ['ok']] if $e->{PATH_INFO} eq '/';
        while (1) { eval { $e->{'cameleer.extend_timeout'}->(1000); select undef, undef, undef, 0.01 } } }";
    let handler = "package Slow; sub handler { my $r = shift; $r->send_http_header('text/plain'); if ($r->uri eq '/') { $r->print('ok'); return 0 }
        while (1) { eval { $r->extend_timeout(1000); select undef, undef, undef, 0.01 } } } 1;";
    for (app, conf) in [
        (psgi, "<Location />\nPsgiApp app.psgi\n</Location>"),
        (handler, "<Location />\nSetHandler perl-script\nPerlHandler Slow\n</Location>"),
    ] {
        let server = Site::new().file("app.psgi", app).file("lib/Slow.pm", app).serve(&format!(
            "MaxClients 1\nStartServers 1\nQueueTimeout 10000s\nRequestTimeout 200ms\nRequestTimeoutLimit 600ms\nRequestTimeoutGrace 200ms\n\
             PerlLib lib\n{conf}"
        ));
        server.get("/more").is(504);
        assert_eq!(server.text("/"), "ok");
    }
}

#[test]
fn request_timeout_limit_shortens_no_request_timeout() {
    extends(
        "sub { my $e = shift; $e->{'cameleer.extend_timeout'}->(30) if $e->{PATH_INFO} eq '/more';
         select undef, undef, undef, $e->{PATH_INFO} eq '/more' ? 0.7 : 2.2; [200, [], ['done']] }",
        "RequestTimeoutLimit 300ms\n<Location />\nPsgiApp app.psgi\n</Location>",
    );
}

#[test]
fn a_programs_own_alarm_keeps_working() {
    let app = "sub { my $said = eval { local $SIG{ALRM} = sub { die \"alarm\\n\" }; alarm 1; sleep 30; 'slept' } // $@; alarm 0; [200, [], [$said]] }";
    let server = serve(app, "RequestTimeout 20s");
    assert_eq!(server.text("/"), "alarm\n");
}

#[test]
fn a_location_has_a_time_limit_of_its_own() {
    let server: Server = serve(
        "sub { select undef, undef, undef, $_[0]{PATH_INFO} eq '/quick' ? 10_000 : 0.7; [200, [], ['done']] }",
        "<Location /quick>\nRequestTimeout 200ms\n</Location>",
    );
    server.get("/quick").is(504);
    assert_eq!(server.text("/"), "done");
}
