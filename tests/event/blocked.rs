//! Code that does not return to its event loop: interruption, and the end of the worker.

use std::time::Duration;

use serde_json::Value;

use super::psgi::{ANYEVENT, IO_ASYNC};
use super::{APP, noted, serve_with};
use crate::support::{Connection, Server, Site, eventually, let_pass, until};

/// The line of the application that blocks.
fn line() -> usize {
    1 + APP.lines().position(|line| line.ends_with("# blocks")).expect("a line")
}

/// Sends a request that blocks the loop, then another one.
fn blocked(server: &Server, target: &str, note: &str) -> [Connection; 2] {
    let mut blocking = server.connect();
    blocking.raw(format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
    until("the loop is blocked", || noted(server, note));
    let mut other = server.connect();
    other.raw("GET /pid HTTP/1.1\r\nHost: x\r\n\r\n");
    [blocking, other]
}

#[test]
fn a_loop_that_is_blocked_is_interrupted_and_its_worker_goes_on() {
    let server = serve_with("RequestTimeout 1s\nRequestTimeoutGrace 1000s\n");
    let pid = server.text("/pid");
    for target in ["/block/never", "/later/never"] {
        let [mut blocking, mut other] = blocked(&server, target, "blocks never");
        assert_eq!(blocking.response().status, 504, "{target}");
        assert!([200, 504].contains(&other.response().status), "{target}");
        server.logged(&format!("RequestTimeout has passed: its event loop is blocked; waiting requests: GET {target}"));
        until("the worker answers again", || server.get("/pid").status == 200);
        assert_eq!(server.text("/pid"), pid, "{target}");
        std::fs::remove_file(server.site.path("noted")).expect("removed");
    }
    let at = format!("{} line {}", server.site.path("app.pl").display(), line());
    server.logged(&format!("the request took longer than RequestTimeout at {at}."));
    server.logged(&format!("::until_there at {at}"));
}

#[test]
fn a_sleep_is_interrupted() {
    let server = serve_with("RequestTimeout 1s\nRequestTimeoutGrace 1000s\n");
    let pid = server.text("/pid");
    let [mut blocking, _] = blocked(&server, "/sleep", "blocks");
    assert_eq!(blocking.response().status, 504);
    until("the worker answers again", || server.get("/pid").status == 200);
    assert_eq!(server.text("/pid"), pid);
}

#[test]
fn a_loop_that_does_not_end_its_work_costs_its_worker() {
    let server = serve_with("RequestTimeout 1s\nRequestTimeoutGrace 100ms\n");
    let pid = server.text("/pid");
    let [mut blocking, mut other] = blocked(&server, "/stubborn", "blocks");
    assert_eq!(blocking.response().status, 504);
    assert!([502, 504].contains(&other.response().status));
    until("the next worker answers", || server.get("/pid").status == 200);
    assert_ne!(server.text("/pid"), pid);
    server.logged("its event loop is blocked; waiting requests: GET /stubborn");
    server.logged("has not come back to its event loop for too long");
}

#[test]
fn a_request_that_waits_does_not_block() {
    let server = serve_with("RequestTimeout 1s\nRequestTimeoutGrace 0\n");
    let pid = server.text("/pid");
    server.get("/wait/never").is(504);
    assert_eq!(server.text("/pid"), pid);
    assert!(!server.log().contains("event loop is blocked"));
}

/// A program that blocks, for a loop of `PSGI` or of PAGI.
const PROGRAMS: [&str; 2] = [
    "sub ($env) { return [200, [], [$$]] if $env->{PATH_INFO} ne '/block'; note(); 1 while 1 };\n",
    "use Future::AsyncAwait;\nasync sub app ($scope, $receive, $send) {\ndie 'no' if $scope->{type} ne 'http';\n\
     if ($scope->{path} eq '/block') { note(); 1 while 1 }\n\
     await $send->({ type => 'http.response.start', status => 200, headers => [] });\n\
     await $send->({ type => 'http.response.body', body => $$ });\n}\n\\&app;\n",
];

#[test]
fn loops_of_psgi_and_pagi_are_interrupted() {
    for (event_loop, program) in [(ANYEVENT, PROGRAMS[0]), (IO_ASYNC, PROGRAMS[0]), ("", PROGRAMS[1])] {
        let note =
            "sub note () { open my $log, '>>', '@DIR@/noted' or die $!; print $log \"blocks\\n\"; close $log }\n";
        let site = Site::new().file("app.pl", &format!("use v5.36;\n{event_loop}{note}{program}"));
        let server = site.serve(
            "PsgiMode event\nStartServers 1\nRequestTimeout 1s\nRequestTimeoutGrace 1000s\n\
             <Location />\nPsgiApp @DIR@/app.pl\n</Location>\n",
        );
        let pid = server.text("/pid");
        let [mut blocking, mut other] = blocked(&server, "/block", "blocks");
        assert_eq!(blocking.response().status, 504, "{event_loop}");
        assert!([200, 504].contains(&other.response().status), "{event_loop}");
        until("the worker answers again", || server.get("/pid").status == 200);
        assert_eq!(server.text("/pid"), pid, "{event_loop}");
        server.logged("the request took longer than RequestTimeout at ");
    }
}

#[test]
fn the_slow_log_has_the_stack_of_the_callback_of_a_delayed_response() {
    let program = "sub slowly ($file) { 1 until -e $file; return [200, [], ['slow']] }\n\
         sub ($env) { sub ($respond) { $respond->(slowly('@DIR@/gate')) } };\n";
    let site = Site::new().file("app.pl", &format!("use v5.36;\n{ANYEVENT}{program}"));
    let server = site.serve(
        "PsgiMode event\nStartServers 1\nSlowLog 200ms\nRequestTimeout 1000s\n\
         <Location />\nPsgiApp @DIR@/app.pl\n</Location>\n",
    );
    let mut client = server.connect();
    client.raw("GET /delayed HTTP/1.1\r\nHost: x\r\n\r\n");
    let seen = eventually("a sample", || slow(&server, "/delayed").filter(|slow| slow["looks"] != 0));
    let frames = seen["stacks"][0]["frames"].to_string();
    assert!(frames.contains("::slowly"), "{frames}");
    server.site.write("gate", "");
    assert_eq!(client.response().is(200).text(), "slow");
}

fn slow(server: &Server, target: &str) -> Option<Value> {
    let output: Value = serde_json::from_str(&server.control(["why", "--json", target]).succeeded().out).expect("JSON");
    output.as_array().expect("a list").first().cloned()
}

#[test]
fn the_slow_log_has_the_stack_of_a_blocked_loop_and_the_waits_of_others() {
    let server = serve_with("SlowLog 200ms\nRequestTimeout 1000s\n");
    let [mut blocking, _] = blocked(&server, "/block/gate", "blocks gate");
    let seen = eventually("a sample", || slow(&server, "/block/gate"));
    assert_eq!((&seen["is_over"], &seen["method"]), (&false.into(), &"GET".into()));
    server.site.write("gate", "");
    blocking.response().is(200);
    let over = eventually("its end", || slow(&server, "/block/gate").filter(|slow| slow["is_over"] == true));
    let names: Vec<&str> =
        over["stacks"][0]["frames"].as_array().expect("frames").iter().filter_map(|f| f["name"].as_str()).collect();
    assert!(names.iter().any(|name| name.ends_with("::until_there")), "{names:?}");
    let mut waiting = server.connect();
    waiting.raw("GET /wait/open HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request waits", || noted(&server, "waits open"));
    let_pass(Duration::from_millis(300));
    server.site.write("open", "");
    waiting.response().is(200);
    let waited = eventually("the wait", || slow(&server, "/wait/open"));
    assert!(waited["took_ms"].as_u64() >= Some(200) && waited["stacks"] == serde_json::json!([]), "{waited}");
    server.logged("/wait/open took ");
}
