//! A store that is away, frozen, slow or wrong: requests go on, and each server counts alone.

use std::sync::atomic::Ordering::SeqCst;

use nix::sys::signal::Signal;

use super::limits::{node, nodes};
use super::{Toxic, state, until_connected};
use crate::support::{Redis, Server, Site, free_port, until};

const STORE: &str = "LimitStore";
const AWAY: &str = "each server counts its own requests only until the store answers";

fn number(server: &Server, name: &str) -> u64 {
    state(server, STORE, name).as_u64().unwrap_or_default()
}

#[track_caller]
fn until_away(server: &Server) {
    until("the store is away", || state(server, STORE, "connected") == false);
}

/// Asks `count` times, and returns how many requests were admitted.
fn admitted(server: &Server, count: usize) -> usize {
    (0..count).filter(|_| server.get("/app/x").status == 200).count()
}

#[test]
fn without_the_store_each_server_counts_alone_and_reports_when_it_is_back() {
    let site = Site::new();
    let mut store = Redis::start(&site, &[]);
    let servers: [Server; 2] = nodes(&format!("redis://127.0.0.1:{}", store.port), "requests=10/600s");
    assert_eq!(admitted(&servers[0], 4), 4);
    store.stop();
    servers.iter().for_each(until_away);
    // The first has counted its own four requests, too.
    assert_eq!((admitted(&servers[0], 12), admitted(&servers[1], 8)), (6, 8));
    for server in &servers {
        server.logged(AWAY);
        assert_eq!(number(server, "late"), 0, "nobody waits for a store that is known to be away");
    }
    store.restart();
    until_connected(&servers.iter().collect::<Vec<_>>(), STORE);
    // 14 requests were admitted meanwhile, which the store learns now.
    assert_eq!(admitted(&servers[0], 1), 0);
    assert_eq!(admitted(&servers[1], 1), 0);
    for server in &servers {
        assert_eq!(server.log().matches(": connected").count(), 2, "{}", server.log());
    }
}

#[test]
fn a_store_that_was_never_there_holds_nobody() {
    let [port, limit] =
        [free_port().to_string(), "<Location /app>\nSpeedLimit requests=3/600s\n</Location>".to_owned()];
    let server = node(&format!("LimitStore redis://127.0.0.1:{port}\n{limit}"));
    until_away(&server);
    assert_eq!(admitted(&server, 5), 3);
    server.logged("Connection refused");
    assert_eq!(server.log().matches("LimitStore redis").count(), 1, "one line: {}", server.log());
}

#[test]
fn a_frozen_store_costs_one_wait() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let limit = "StoreTimeout 100ms\n<Location /app>\nSpeedLimit requests=1000/600s\n</Location>";
    let server = node(&format!("LimitStore redis://127.0.0.1:{}\nFrontThreads 1\n{limit}", store.port));
    until_connected(&[&server], STORE);
    store.signal(Signal::SIGSTOP);
    assert_eq!(admitted(&server, 50), 50);
    assert_eq!(number(&server, "late"), 1, "the others did not wait");
    let line = server.logged("does not answer within StoreTimeout 100ms");
    assert!(line.contains(AWAY), "{line}");
    store.signal(Signal::SIGCONT);
    until_connected(&[&server], STORE);
    let before = number(&server, "answered");
    until("the store counts again", || admitted(&server, 1) == 1 && number(&server, "answered") > before);
}

#[test]
fn a_slow_store_is_not_waited_for_until_it_is_fast_again() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let toxic = Toxic::before(store.port);
    let limit = "StoreTimeout 200ms\n<Location /app>\nSpeedLimit requests=1000/600s\n</Location>";
    let server = node(&format!("LimitStore redis://127.0.0.1:{}\nFrontThreads 1\n{limit}", toxic.port));
    until_connected(&[&server], STORE);
    toxic.delay.store(700, SeqCst);
    admitted(&server, 1);
    until_away(&server);
    let before = number(&server, "late");
    assert_eq!(admitted(&server, 50), 50);
    assert_eq!(number(&server, "late"), before, "nobody waits");
    toxic.delay.store(0, SeqCst);
    until_connected(&[&server], STORE);
    assert_eq!(server.log().matches("does not answer within StoreTimeout").count(), 1, "{}", server.log());
}

#[test]
fn errors_of_the_store_are_named_and_end_with_their_cause() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let url = format!("redis://127.0.0.1:{}", store.port);
    let [server]: [Server; 1] = nodes(&url, "requests=1000/600s");
    let nowhere = free_port();
    for (cause, end, error) in [
        (format!("REPLICAOF 127.0.0.1 {nowhere}"), "REPLICAOF NO ONE", "read only replica"),
        ("CONFIG SET maxmemory 1".to_owned(), "CONFIG SET maxmemory 0", "used memory > 'maxmemory'"),
        ("ACL SETUSER default -evalsha -eval".to_owned(), "ACL SETUSER default +@all", "no permission: this user"),
    ] {
        assert_eq!(store.ask(&cause), "+OK\r\n", "{cause}");
        until("the error is met", || admitted(&server, 1) == 1 && state(&server, STORE, "connected") == false);
        let line = server.logged(error);
        assert!(line.contains(AWAY), "{line}");
        assert_eq!(admitted(&server, 20), 20);
        assert_eq!(store.ask(end), "+OK\r\n", "{end}");
        until_connected(&[&server], STORE);
        assert_eq!(server.log().matches(error).count(), 1, "{}", server.log());
    }
}

#[test]
fn nonsense_of_the_store_ends_its_connection_and_no_request() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let toxic = Toxic::before(store.port);
    let [server]: [Server; 1] = nodes(&format!("redis://127.0.0.1:{}", toxic.port), "requests=1000/600s");
    toxic.garbles.store(true, SeqCst);
    assert_eq!(admitted(&server, 20), 20);
    until_away(&server);
    server.logged(AWAY);
    toxic.garbles.store(false, SeqCst);
    until_connected(&[&server], STORE);
    let before = number(&server, "answered");
    assert_eq!(admitted(&server, 1), 1);
    assert_eq!(number(&server, "answered"), before + 1);
}
