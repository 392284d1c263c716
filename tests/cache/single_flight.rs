//! `CacheLock`: one of several requests for the same response goes to a worker; the others wait for a limited time.

use std::thread::{JoinHandle, spawn};

use super::{Counting, serve};
use crate::support::{Connection, Request, Response, until};

const MINUTE: &str = "200|Cache-Control: max-age=60";

/// Sends `count` requests at the same time, each from its own client.
#[track_caller]
fn together(site: &Counting, count: usize, answer: &str, wants: &str) -> Vec<JoinHandle<Response>> {
    let client = |_| {
        let (address, request) =
            (site.0.address.clone(), Request::get("/a").header("X-Do", wants).header("X-Answer", answer));
        spawn(move || Connection::open(&address).expect("it listens").ask(request))
    };
    (0..count).map(client).collect()
}

fn texts(clients: Vec<JoinHandle<Response>>) -> Vec<String> {
    clients.into_iter().map(|client| client.join().expect("clients do not panic").text()).collect()
}

/// Waits until the server counts `count` requests in progress. Connections without a response count.
fn until_all_wait(site: &Counting, count: u64) {
    until("all are there", || site.0.status()["front"]["requests"].as_u64().is_some_and(|requests| requests >= count));
}

#[test]
fn one_worker_makes_the_response_for_many_requests() {
    let site = serve("FrontThreads 3\nCacheLockMaxAge 60");
    let clients = together(&site, 30, MINUTE, "wait");
    until_all_wait(&site, 30);
    until("a worker has begun", || site.runs() > 0);
    site.0.site.write("go", "");
    assert_eq!(texts(clients), vec!["run 1"; 30]);
    assert_eq!(site.runs(), 1);
}

#[test]
fn requests_that_cannot_use_the_response_do_not_wait_for_it() {
    let site = serve("CacheLockMaxAge 60");
    let clients = together(&site, 4, "200|Cache-Control: private", "wait");
    until_all_wait(&site, 4);
    until("a worker has begun", || site.runs() > 0);
    assert_eq!(site.runs(), 1, "nobody knows yet");
    site.0.site.write("go", "");
    let mut all = texts(clients);
    all.sort();
    all.dedup();
    assert_eq!((all.len(), site.runs()), (4, 4), "each has his own");
    // The cache now knows that the response is private, so concurrent requests no longer wait for each other.
    std::fs::remove_file(site.0.site.path("go")).expect("our file");
    let clients = together(&site, 4, "200|Cache-Control: private", "wait");
    until("four workers work at once", || site.runs() == 8);
    site.0.site.write("go", "");
    assert_eq!(texts(clients).len(), 4);
}

#[test]
fn no_request_waits_longer_than_the_lock_lasts() {
    let site = serve("CacheLockMaxAge 200ms");
    let clients = together(&site, 3, MINUTE, "wait");
    until("the others have gone themselves", || site.runs() == 3);
    site.0.site.write("go", "");
    assert_eq!(texts(clients).len(), 3);
}

/// The worker has started: its response goes to the clients that still wait.
#[test]
fn a_leader_that_leaves_leaves_its_answer_to_the_others() {
    let site = serve("CacheLockMaxAge 60\nRequestTimeout 60");
    let mut leader = site.0.connect();
    leader.raw(format!("GET /a HTTP/1.1\r\nHost: localhost\r\nX-Do: wait\r\nX-Answer: {MINUTE}\r\n\r\n"));
    until("the program runs", || site.runs() == 1);
    let clients = together(&site, 5, MINUTE, "wait");
    until_all_wait(&site, 6);
    drop(leader);
    site.0.site.write("go", "");
    let texts = texts(clients);
    assert!(texts.iter().all(|text| *text == texts[0]) && site.runs() <= 2, "{texts:?}");
}

#[test]
fn a_leader_that_fails_delays_no_waiting_request() {
    let site = serve("CacheLockMaxAge 60");
    let clients = together(&site, 3, "500", "wait");
    until_all_wait(&site, 3);
    site.0.site.write("go", "");
    assert_eq!(texts(clients).len(), 3);
    assert_eq!(site.runs(), 3);
    assert!(site.keeps("/a", MINUTE));
}

#[test]
fn without_cache_lock_each_request_is_sent_to_a_worker() {
    let site = serve("CacheLock Off");
    let clients = together(&site, 4, MINUTE, "wait");
    until("all are asked", || site.runs() == 4);
    site.0.site.write("go", "");
    assert_eq!(texts(clients).len(), 4);
}

/// Waiting clients get the response at the worker's speed, not at the speed of a slow reader.
#[test]
fn a_slow_reader_delays_no_other_request() {
    let site = serve("CacheLockMaxAge 60\nCacheSocacheMaxSize 8M");
    let mut slow = site.0.connect();
    slow.raw(format!("GET /a HTTP/1.1\r\nHost: localhost\r\nX-Do: long\r\nX-Answer: {MINUTE}\r\n\r\n"));
    slow.head();
    let others = together(&site, 3, MINUTE, "long");
    for text in texts(others) {
        assert_eq!((text.starts_with("run 1\n"), text.len()), (true, "run 1\n".len() + 40 * 65536));
    }
    assert_eq!(site.runs(), 1);
}

/// A client that bypasses the cache does not wait for another request.
#[test]
fn a_reload_requests_late_code_at_once() {
    let site = serve("CacheLockMaxAge 60");
    let leader = together(&site, 1, MINUTE, "wait");
    until("the program runs", || site.runs() == 1);
    let reload = Request::get("/a").header("Cache-Control", "no-cache").header("X-Answer", MINUTE);
    assert_eq!(site.0.send(reload).text(), "run 2");
    site.0.site.write("go", "");
    texts(leader);
}
