//! Generations: a new one takes over, the old one finishes.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use wire::control::{FromFront, ToFront, WorkerState};

use super::Server;
use super::worker::Script;

const APP: &str = "<Location />\nSetHandler perl-script\nPerlHandler X\n</Location>\n";

#[test]
fn a_reload_loses_nothing() {
    let (mut script, gate) = Script::gated();
    script.name = "old";
    let mut server = Server::with_workers(APP, 1, script);
    let mut kept = server.client();
    assert_eq!(kept.get("/app/who").text(), "old");
    let mut busy = server.client();
    busy.send("GET /app/wait HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for(|status| status.workers[0].state == WorkerState::Busy);
    let mut waits = server.client();
    waits.send("GET /app/who HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for(|status| status.queued == 1);

    server.configure(2, APP);
    server.worker(2, 1, Script::named("new"));
    server.activate(2);
    assert_eq!(kept.get("/app/who").text(), "new");

    gate.send(()).expect("opened");
    assert_eq!(busy.answer().text(), "waited");
    assert_eq!(waits.answer().text(), "old");
    server.wait_for_message(|message| matches!(message, FromFront::Retired { generation: 1 }));
    assert_eq!(busy.get("/app/who").text(), "new");
    assert_eq!(server.client().get("/app/who").text(), "new");
    assert_eq!(server.status().workers.len(), 1);
}

#[test]
fn a_reload_may_listen_on_more_sockets() {
    let mut server = Server::with_workers(APP, 1, Script::default());
    let mut kept = server.client();
    assert_eq!(kept.get("/").text(), "hello");
    let path = server.root().join("socket");
    server.unix = Some(UnixListener::bind(&path).expect("bound"));
    server.configure(2, APP);
    server.worker(2, 1, Script::default());
    server.activate(2);
    let mut unix = UnixStream::connect(&path).expect("connected");
    unix.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    unix.read_to_string(&mut answer).expect("answered");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("hello"), "{answer}");
    assert_eq!(kept.get("/").text(), "hello");
}

#[test]
fn a_generation_that_never_served_makes_room_for_the_next() {
    let mut server = Server::with_workers(APP, 1, Script::named("one"));
    server.configure(2, APP);
    server.configure(3, APP);
    server.worker(3, 1, Script::named("three"));
    server.activate(2);
    assert_eq!(server.client().get("/app/who").text(), "one");
    server.activate(3);
    assert_eq!(server.client().get("/app/who").text(), "three");
    server.wait_for_message(|message| matches!(message, FromFront::Retired { generation: 1 }));
}

#[test]
fn the_master_retires_idle_workers_longest_idle_first() {
    let server = Server::with_workers(APP, 3, Script::default());
    assert_eq!(server.client().get("/").text(), "hello");
    server.send(ToFront::Retire { pool: 0, count: 2 });
    let status = server.wait_for(|status| status.workers.len() == 1);
    assert_eq!((status.workers[0].slot, status.workers[0].requests), (2, 1));
    assert_eq!(server.client().get("/").text(), "hello");
}

#[test]
fn a_worker_that_announces_its_exit_gets_no_further_request() {
    let server = Server::with_workers(APP, 2, Script::default());
    let mut client = server.client();
    assert_eq!(client.get("/app/leave").text(), "bye");
    for _ in 0..3 {
        assert_eq!(client.get("/").text(), "hello");
    }
    assert_eq!(server.wait_for(|status| status.workers.len() == 1).workers[0].requests, 3);
}

#[test]
fn a_stop_answers_received_requests_and_closes_idle_connections() {
    let (script, gate) = Script::gated();
    let mut server = Server::with_workers(APP, 1, script);
    let mut idle = server.client();
    assert_eq!(idle.get("/").text(), "hello");
    let mut fresh = server.client();
    let mut busy = server.client();
    busy.send("GET /app/wait HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for(|status| status.workers[0].state == WorkerState::Busy && status.connections == 3);
    server.send(ToFront::Stop);
    assert!(idle.is_closed());
    assert!(fresh.is_closed());
    gate.send(()).expect("opened");
    let answer = busy.answer();
    assert_eq!((answer.text().as_str(), answer.header("connection")), ("waited", "close"));
    assert!(busy.is_closed());
    server.stop();
}

#[test]
fn a_front_whose_master_has_gone_ends() {
    let mut server = Server::start(APP);
    let thread = server.thread.take().expect("a thread");
    let (unused, _) = wire::channel::pair().expect("a pair");
    server.control = wire::channel::Channel::new(unused);
    assert!(thread.join().expect("no panic").is_err());
}
