//! Ends of streams and connections.

use nix::sys::signal::Signal;

use super::raw::{CANCEL, DATA, END_STREAM, GOAWAY, INTERNAL_ERROR, RST_STREAM, Raw};
use super::serve;
use crate::support::until;

const ONE_WORKER: &str = "MaxClients 1\nStartServers 1\nMinSpareServers 1\nMaxSpareServers 1\n";

#[test]
fn a_reset_stream_drops_its_queued_job() {
    let server = serve(ONE_WORKER);
    let mut raw = Raw::open(&server, &[]);
    raw.get(1, "/slow/one");
    until("the worker is busy", || server.site.read("begun").contains("one"));
    raw.get(3, "/slow/two");
    raw.get(5, "/slow/three");
    until("two wait", || server.status()["front"]["queued"] == 2);
    raw.send(RST_STREAM, 0, 3, &CANCEL.to_be_bytes());
    until("one waits", || server.status()["front"]["queued"] == 1);
    server.site.write("go", "");
    raw.until(|frame| frame.is_head_of(5));
    assert_eq!(server.site.read("begun"), "/slow/one\n/slow/three\n");
}

#[test]
fn a_client_that_vanishes_drops_all_its_queued_jobs() {
    let server = serve(ONE_WORKER);
    let mut raw = Raw::open(&server, &[]);
    (0..4).for_each(|n| raw.get(2 * n + 1, &format!("/slow/{n}")));
    until("three wait", || server.status()["front"]["queued"] == 3);
    drop(raw);
    until("none waits", || server.status()["front"]["queued"] == 0);
    server.site.write("go", "");
    server.until_idle(1);
    assert_eq!(server.site.read("begun").lines().count(), 1);
}

#[test]
fn a_program_that_dies_in_mid_stream_resets_it() {
    let server = serve("");
    let mut raw = Raw::open(&server, &[(4, 1 << 20)]);
    raw.get(1, "/die");
    raw.until(|frame| frame.is_head_of(1));
    let end = raw.until(|frame| frame.kind == RST_STREAM || (frame.kind == DATA && frame.flags & END_STREAM != 0));
    assert_eq!((end.kind, end.stream), (RST_STREAM, 1), "its end must not look like one");
    assert_eq!(end.reason(), INTERNAL_ERROR);
    raw.get(3, "/");
    raw.until(|frame| frame.is_head_of(3));
}

#[test]
fn a_stop_waits_for_requests_and_not_for_connections() {
    let mut server = serve("GracefulShutdownTimeout 30s");
    let mut idle = Raw::open(&server, &[]);
    idle.get(1, "/");
    idle.until(|frame| frame.kind == DATA);
    // A client that sends its preface and SETTINGS only.
    let _silent = Raw::open(&server, &[]);
    let mut busy = Raw::open(&server, &[]);
    busy.get(1, "/slow");
    until("the request runs", || server.site.read("begun").contains("slow"));
    server.signal(Signal::SIGQUIT);
    assert_eq!(idle.until(|frame| frame.kind == GOAWAY).stream, 0);
    while idle.next().is_some() {}
    server.site.write("go", "");
    busy.until(|frame| frame.is_head_of(1));
    assert_eq!(busy.until(|frame| frame.kind == DATA).stream, 1);
    assert_eq!(server.wait(), 0);
}

#[test]
fn a_stop_waits_for_a_client_that_reads_nothing_up_to_its_limit() {
    let mut server = serve("GracefulShutdownTimeout 2s\nTimeout 60s");
    let mut raw = Raw::open(&server, &[(4, 0)]);
    raw.get(1, "/bytes/1000");
    raw.until(|frame| frame.is_head_of(1));
    server.signal(Signal::SIGQUIT);
    assert_eq!(raw.until(|frame| frame.kind == GOAWAY).stream, 0);
    assert_eq!(server.wait(), 0);
}

/// The first stream is answered, and the connection ends with a GOAWAY, which may come before the answer.
#[track_caller]
fn is_answered_and_ends(mut raw: Raw) {
    let frames: Vec<_> = std::iter::from_fn(|| raw.next()).collect();
    assert!(frames.iter().any(|frame| frame.kind == GOAWAY), "{frames:?}");
    assert!(frames.iter().any(|frame| frame.stream == 1 && frame.flags & END_STREAM != 0), "{frames:?}");
}

#[test]
fn a_drain_sends_goaway_after_the_running_requests_and_serves_new_connections() {
    let server = serve("");
    let mut kept = Raw::open(&server, &[]);
    kept.get(1, "/");
    kept.until(|frame| frame.kind == DATA);
    let mut busy = Raw::open(&server, &[]);
    busy.get(1, "/slow");
    until("the request runs", || server.site.read("begun").contains("slow"));
    server.control(["drain", "--for", "1h", "--no-wait"]).succeeded();
    assert_eq!(kept.goodbye(), 0);
    let mut new = Raw::open(&server, &[]);
    new.get(1, "/");
    is_answered_and_ends(new);
    server.site.write("go", "");
    is_answered_and_ends(busy);
    server.control(["drain", "--cancel"]).succeeded();
    let mut later = Raw::open(&server, &[]);
    for stream in [1, 3] {
        later.get(stream, "/");
        later.until(|frame| frame.is_head_of(stream));
    }
}

#[test]
fn an_idle_http_2_connection_gets_a_goaway() {
    let server = serve("KeepAliveTimeout 200ms");
    let mut raw = Raw::open(&server, &[]);
    raw.get(1, "/");
    assert_eq!(raw.goodbye(), 0);
}

#[test]
fn max_keep_alive_requests_ends_a_connection_in_order() {
    let server = serve("MaxKeepAliveRequests 3");
    let mut raw = Raw::open(&server, &[]);
    for stream in [1, 3] {
        raw.get(stream, "/");
        raw.until(|frame| frame.is_head_of(stream));
    }
    raw.get(5, "/");
    let last: Vec<_> = std::iter::from_fn(|| raw.next()).collect();
    assert!(last.iter().any(|frame| frame.kind == GOAWAY), "{last:?}");
    assert!(last.iter().any(|frame| frame.stream == 5 && frame.flags & END_STREAM != 0), "{last:?}");
}

#[test]
fn a_connection_outlives_a_reload() {
    let server = serve("");
    let mut raw = Raw::open(&server, &[]);
    raw.get(1, "/");
    raw.until(|frame| frame.is_head_of(1));
    server.reload().succeeded();
    raw.get(3, "/");
    raw.until(|frame| frame.is_head_of(3));
    until("the old generation has gone", || server.status()["generations"].as_array().map(Vec::len) == Some(1));
}

#[test]
fn each_request_has_its_line_in_the_log() {
    let server = serve("CustomLog access.log \"%r %s %B %X\"");
    let mut both = Raw::open(&server, &[(4, 1 << 20)]);
    both.get(1, "/bytes/10");
    both.get(3, "/bytes/200000");
    until("both are logged", || server.site.read("access.log").lines().count() == 2);
    let log = server.site.read("access.log");
    for line in ["GET /bytes/10 HTTP/2.0 200 10 +", "GET /bytes/200000 HTTP/2.0 200 200000 +"] {
        assert!(log.contains(line), "{log}");
    }
    let mut raw = Raw::open(&server, &[(4, 0)]);
    raw.get(1, "/bytes/1000");
    raw.until(|frame| frame.is_head_of(1));
    drop(raw);
    until("who left is logged", || server.site.read("access.log").ends_with(" X\n"));
}

#[test]
fn a_handshake_that_never_becomes_one_is_given_up() {
    let server = serve("Timeout 300ms");
    let mut half = server.connect();
    half.raw("PRI * HTTP/2.0\r\n\r\nSM");
    half.rest();
}
