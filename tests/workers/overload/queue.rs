//! The request queue under growing load.

use super::{hold, release, serve, until_begun};
use crate::support::{Load, Server, until};

/// Clients that repeat their request after every response, so that the overload lasts until they stop.
fn insistent(server: &Server) -> Load {
    Load::start(server, 5, "/more", |response| matches!(response.status, 200 | 503))
}

#[test]
fn requests_that_wait_too_long_in_an_overload_are_refused_and_newer_ones_answered() {
    let server = serve(2, "QueueStale 200ms\nQueueTimeout 60s");
    let held = hold(&server, "/hold", 2);
    until_begun(&server, 2);
    // Stale requests wait in the queue while more clients arrive, until the server reports an overload.
    let stale = hold(&server, "/old", 20);
    until("the first wait", || server.status()["front"]["queued"] == 20);
    let mut loads = Vec::new();
    until("the server calls it an overload", || {
        loads.push(insistent(&server));
        server.status()["front"]["overloaded"] == true
    });
    for mut connection in stale {
        let answer = connection.response().is(503);
        let after: u32 = answer.header("retry-after").and_then(|after| after.parse().ok()).expect("Retry-After");
        assert!((1..=30).contains(&after), "{answer:?}");
    }
    let line = server.logged("is overloaded");
    assert!(line.contains("requests wait for 2 busy workers") && line.contains("QueueStale"), "{line}");
    let status = server.status();
    assert!(status["front"]["shed"]["queue_full"].as_u64() >= Some(20), "{status}");
    let table = server.control(["status"]).succeeded().out;
    assert!(table.contains("overloaded: the newest requests are served first"), "{table}");
    release(&server);
    held.into_iter().for_each(|mut connection| drop(connection.response().is(200)));
    assert_eq!(loads.into_iter().flat_map(Load::failures).collect::<Vec<_>>(), Vec::<String>::new());
    // A request that waits for some milliseconds is refused until the overload ends.
    let ending = Load::start(&server, 2, "/after", |response| matches!(response.status, 200 | 503));
    let line = server.logged("is no longer overloaded");
    assert!(line.contains("requests were refused"), "{line}");
    assert_eq!(ending.failures(), Vec::<String>::new());
    assert_eq!(server.status()["front"]["overloaded"], false);
    let load = Load::start(&server, 2, "/after", |response| response.status == 200);
    load.until_answered(20);
    assert_eq!(load.failures(), Vec::<String>::new());
}

#[test]
#[ignore = "measures time: `make timing`"]
fn many_clients_that_wait_for_their_answers_are_no_overload() {
    let server = serve(2, "QueueStale 100ms");
    let load = Load::start(&server, 40, "/slow", |response| response.status == 200);
    load.until_answered(400);
    assert_eq!(load.failures(), Vec::<String>::new());
    assert!(!server.log().contains("overloaded"), "{}", server.log());
}

#[test]
fn requests_refused_by_a_full_queue_are_counted() {
    let server = serve(1, "QueueLength 1");
    let held = hold(&server, "/hold", 2);
    until("one works and one waits", || server.status()["front"]["queued"] == 1);
    let after = server.get("/").is(503).header("retry-after");
    assert!(after.is_some_and(|after| after.parse::<u32>().is_ok_and(|after| (1..=30).contains(&after))));
    assert_eq!(server.status()["front"]["shed"]["queue_full"], 1);
    let table = server.control(["status"]).succeeded().out;
    assert!(table.contains("shed: 0 queue_timeout, 1 queue_full, 0 speed_limit, 0 max_concurrent"), "{table}");
    release(&server);
    held.into_iter().for_each(|mut connection| drop(connection.response().is(200)));
}
