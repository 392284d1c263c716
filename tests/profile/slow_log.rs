//! `SlowLog` and `cameleer why`.

use std::thread;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::{held, release, serve};
use crate::support::{Server, eventually, signal};

fn slow(server: &Server) -> Vec<Value> {
    let output: Value = serde_json::from_str(&server.control(["why", "--json"]).succeeded().out).expect("JSON");
    output.as_array().expect("a list").clone()
}

/// The first slow request in the log whose end state is `is_over`.
fn first(server: &Server, is_over: bool) -> Value {
    eventually("a slow request", || slow(server).into_iter().find(|slow| slow["is_over"] == is_over))
}

#[test]
fn a_slow_request_is_logged_with_its_stack() {
    let server = serve("SlowLog 200ms");
    thread::scope(|scope| {
        let client = held(scope, &server, "/waits?q=1");
        let under_way = first(&server, false);
        assert_eq!(under_way["target"], "/waits?q=1");
        release(&server);
        client.join().expect("an answer").is(200);
    });
    let slow = first(&server, true);
    assert_eq!((&slow["method"], &slow["host"]), (&"GET".into(), &"localhost".into()));
    assert_eq!((&slow["worker"], &slow["generation"]), (&0.into(), &1.into()));
    assert!(slow["took_ms"].as_u64() >= Some(200), "{slow}");
    let frames = slow["stacks"][0]["frames"].as_array().expect("frames");
    let names: Vec<&str> = frames.iter().filter_map(|frame| frame["name"].as_str()).collect();
    assert_eq!(names, ["sselect", "My::Page::waits", "My::Page::__ANON__"]);
    let line = server.logged("[slow:warn]");
    let app = server.site.path("app.psgi");
    assert!(line.contains("GET localhost/waits?q=1 took ") && line.contains(" client=127.0.0.1 "), "{line}");
    assert!(
        line.contains(&format!("(sselect) at {0} line 5 < My::Page::waits at {0} line 5 < ", app.display())),
        "{line}"
    );
    let shown = server.control(["why", "/waits"]).succeeded().out;
    assert!(shown.contains("127.0.0.1  GET localhost/waits?q=1") && shown.contains("My::Page::waits at "), "{shown}");
    assert_eq!(server.control(["why", "/other"]).succeeded().out, "no request was slower than SlowLog\n");
}

#[test]
fn the_slow_log_has_the_time_of_each_phase() {
    // Each phase waits until its file exists.
    let module = "package My::Doors; use v5.36;
        sub until_there ($name) { until (-e \"@DIR@/$name\") { select undef, undef, undef, 0.02 } }
        sub enter ($r) { until_there('enter'); 0 }
        sub page ($r) { until_there('page'); $r->send_http_header('text/plain'); $r->print('ok'); 0 }
        1;";
    let site = crate::support::Site::new().file("lib/My/Doors.pm", module);
    let server = site.serve(
        "SlowLog 200ms\nStartServers 1\nMinSpareServers 1\nMaxSpareServers 1\nMaxClients 1\nPerlLib lib\nPerlModule My::Doors\n\
         <Location />\nSetHandler perl-script\nPerlAccessHandler My::Doors::enter\nPerlHandler My::Doors::page\n</Location>",
    );
    let phase = |slow: &Value, name: &str| {
        let phases = slow["phases"].as_array().expect("a list").clone();
        phases.into_iter().find(|of| of["phase"] == name).and_then(|of| of["took_ms"].as_u64())
    };
    let seen = |name: &str, ms: u64| {
        eventually("it is seen there", || slow(&server).into_iter().find(|slow| phase(slow, name) > Some(ms)))
    };
    thread::scope(|scope| {
        let client = held(scope, &server, "/page");
        let at_the_door = seen("PerlAccessHandler", 600);
        assert_eq!(phase(&at_the_door, "PerlHandler"), None, "{at_the_door}");
        server.site.write("enter", "");
        let inside = seen("PerlHandler", 300);
        assert!(phase(&inside, "PerlAccessHandler") >= Some(500), "{inside}");
        server.site.write("page", "");
        client.join().expect("an answer").is(200);
    });
    let over = first(&server, true);
    let of: u64 = over["phases"].as_array().expect("a list").iter().filter_map(|of| of["took_ms"].as_u64()).sum();
    let took = over["took_ms"].as_u64().expect("a time");
    assert!((900..=took).contains(&of), "{over}");
    let output = server.control(["why"]).succeeded().out;
    assert!(output.contains("\n  phases PerlAccessHandler ") && output.contains(" s  PerlHandler "), "{output}");
}

#[test]
fn work_and_waiting_are_told_apart() {
    let server = serve("SlowLog 300ms");
    thread::scope(|scope| {
        let works = held(scope, &server, "/works");
        let waits = held(scope, &server, "/waits");
        let of = |target: &str| slow(&server).into_iter().find(|slow| slow["target"] == target);
        let used = |slow: &Value| slow["cpu_ms"].as_u64();
        let worked = eventually("work", || of("/works").filter(|slow| used(slow) > Some(200)));
        let waited = eventually("waiting", || of("/waits").filter(|slow| slow["took_ms"].as_u64() > Some(1000)));
        assert!(used(&waited) < Some(200), "{worked} {waited}");
        release(&server);
        [works, waits].into_iter().for_each(|client| drop(client.join().expect("an answer").is(200)));
    });
}

#[test]
fn a_slow_request_whose_worker_ended_is_logged() {
    let server = serve("SlowLog 200ms");
    thread::scope(|scope| {
        let client = held(scope, &server, "/waits");
        let pid = first(&server, false)["pid"].as_i64().expect("a number");
        signal(pid as i32, Signal::SIGKILL);
        client.join().expect("an answer").is(502);
    });
    assert_eq!(first(&server, true)["worker_ended"], true);
    assert!(server.logged("[slow:warn]").contains(", and its worker ended ("));
}

#[test]
fn quick_requests_are_not_in_the_slow_log() {
    let server = serve("SlowLog 30s");
    server.get("/none").is(200);
    assert_eq!(slow(&server).len(), 0);
}

#[test]
fn why_without_a_slow_log_names_the_directive() {
    let server = serve("");
    server.control(["why"]).failed(1, "SlowLog is off");
}

#[test]
fn a_reload_turns_the_slow_log_on_and_off() {
    let server = serve("");
    let conf = server.site.read("site.conf");
    server.site.write("site.conf", &format!("{conf}\nSlowLog 200ms\n"));
    server.reload().succeeded();
    thread::scope(|scope| {
        let client = held(scope, &server, "/waits");
        first(&server, false);
        release(&server);
        client.join().expect("an answer").is(200);
    });
    server.site.write("site.conf", &conf);
    server.reload().succeeded();
    server.control(["why"]).failed(1, "SlowLog is off");
}
