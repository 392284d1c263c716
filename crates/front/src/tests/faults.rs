//! Workers that die, break the protocol or stall, and clients that disconnect: each affects exactly its own request.

use std::sync::atomic::Ordering;

use wire::control::{FromFront, WorkerId, WorkerState};
use wire::frame::Field;
use wire::reply::{Reply, RequestEnd};
use wire::transport::{Inbound, WorkerPort};

use super::Server;
use super::client::Client;
use super::worker::{Script, head, port, say};

const APP: &str = "<Location />\nSetHandler perl-script\nPerlHandler X\n</Location>\n";

#[test]
fn a_worker_that_dies_costs_its_own_request_only() {
    let (script, gate) = Script::gated();
    let mut server = Server::with_workers(APP, 2, script);
    let mut client = server.client();
    assert_eq!(client.get("/app/die").status, 502);
    assert_eq!(client.get("/").text(), "hello");
    assert_eq!(client.send("GET /app/die-late HTTP/1.1\r\nHost: a\r\n\r\n").head().status, 200);
    gate.send(()).expect("opened");
    let answer = client.rest_of_chunks();
    assert_eq!((answer.text().as_str(), answer.cut), ("half", true));
    assert!(client.is_closed());
    server.worker(1, 2, Script::default());
    assert_eq!(server.client().get("/").text(), "hello");
}

#[test]
fn requests_that_were_sent_ahead_are_not_lost_with_their_worker() {
    let mut server = Server::with_workers(APP, 3, Script::default());
    let address = server.address();
    let busy = || {
        let mut client = Client::connect(address);
        (0..300).for_each(|_| assert_eq!(client.get("/").text(), "hello"));
    };
    std::thread::scope(|scope| {
        (0..8).for_each(|_| drop(scope.spawn(busy)));
        assert_eq!(Client::connect(address).get("/app/leave").text(), "bye");
        server.worker(1, 3, Script::default());
        assert_eq!(Client::connect(address).get("/app/leave").text(), "bye");
    });
    server.wait_for(|status| status.workers.len() == 2 && status.queued == 0);
}

#[test]
fn a_response_is_whole_before_its_worker_is_free() {
    let (script, gate) = Script::gated();
    let server = Server::with_workers(APP, 1, script);
    let mut client = server.client();
    let answer = client.get("/app/cleans-up");
    assert_eq!((answer.text().as_str(), answer.header("content-length")), ("done", "4"));
    assert_eq!(server.status().workers[0].state, WorkerState::Busy);
    gate.send(()).expect("opened");
    assert_eq!(client.get("/app/dies-cleaning").text(), "done");
    server.wait_for(|status| status.workers.is_empty());
}

#[test]
fn a_response_that_the_handler_broke_off_is_seen_to_be_cut() {
    let server = Server::with_workers(APP, 1, Script::default());
    for path in ["/app/truncated", "/app/long"] {
        let answer = server.client().get(path);
        assert!(answer.cut && !answer.body.is_empty(), "{path}: {answer:?}");
    }
    assert_eq!(server.client().get("/").text(), "hello");
}

#[test]
fn a_header_that_cannot_be_sent_is_an_error_of_the_application() {
    let server = Server::with_workers(APP, 1, Script::default());
    let mut client = server.client();
    let answer = client.get("/app/bad-header");
    assert_eq!((answer.status, answer.header("set-cookie")), (500, ""));
    assert_eq!(client.get("/").text(), "hello");
}

#[test]
fn a_worker_that_breaks_the_protocol_is_killed() {
    for path in ["/two-heads", "/body-first", "/wrong-id", "/ready-again", "/after-end", "/garbage", "/descriptors"] {
        let mut server = Server::with_workers(APP, 1, Script::default());
        let mut client = server.client();
        assert_eq!(client.get(&format!("/app{path}")).status, 502, "{path}");
        server.wait_for_message(|message| matches!(message, FromFront::Kill { worker: WorkerId { slot: 0, .. }, .. }));
        server.worker(1, 1, Script::default());
        assert_eq!(client.get("/").text(), "hello");
    }
}

#[test]
fn a_worker_that_informs_without_end_is_killed() {
    let server = Server::with_workers(APP, 1, Script::default());
    let mut client = server.client();
    client.send("GET /app/endless-hints HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for_message(|message| matches!(message, FromFront::Kill { worker: WorkerId { slot: 0, .. }, .. }));
    let last = std::iter::repeat_with(|| client.head().status).find(|status| *status != 103);
    assert_eq!(last, Some(502));
}

#[test]
fn a_worker_that_extends_its_timeout_without_end_is_killed() {
    let server = Server::with_workers(APP, 1, Script::default());
    assert_eq!(server.client().get("/app/endless-extends").status, 502);
    server.wait_for_message(|message| match message {
        FromFront::Kill { reason, .. } => reason.contains("too many messages without content"),
        _ => false,
    });
}

#[test]
fn a_worker_that_falls_silent_and_lives_is_killed() {
    let (script, gate) = Script::gated();
    let mut server = Server::with_workers(APP, 1, script);
    assert_eq!(server.client().get("/app/falls-silent").status, 502);
    server.wait_for_message(|message| matches!(message, FromFront::Kill { worker: WorkerId { slot: 0, .. }, .. }));
    gate.send(()).expect("opened");
    server.worker(1, 1, Script::default());
    assert_eq!(server.client().get("/").text(), "hello");
}

#[test]
fn no_worker_reads_files_that_only_the_front_has_open() {
    for options in ["FollowSymLinks", "SymLinksIfOwnerMatch", "None"] {
        let server = Server::with_workers(
            &format!("{APP}<Directory />\nOptions {options}\n</Directory>\n"),
            1,
            Script::default(),
        );
        let mut secret = tempfile::tempfile().expect("a file");
        std::io::Write::write_all(&mut secret, b"another client's upload").expect("written");
        let mut client = server.client();
        let answer = client.get(&format!("/app/our-descriptors?{}", std::os::fd::AsRawFd::as_raw_fd(&secret)));
        assert!([403, 404].contains(&answer.status), "{options}: {answer:?}");
    }
}

#[test]
fn a_request_that_runs_too_long_is_ended_with_its_worker() {
    let (script, _gate) = Script::gated();
    let mut server =
        Server::with_workers(&format!("{APP}RequestTimeout 100ms\nRequestTimeoutGrace 100ms\n"), 1, script);
    let mut client = server.client();
    assert_eq!(client.get("/app/wait").status, 504);
    server.wait_for_message(|message| matches!(message, FromFront::Kill { worker: WorkerId { slot: 0, .. }, .. }));
    drop(_gate);
    server.worker(1, 1, Script::default());
    assert_eq!(client.get("/").text(), "hello");
}

#[test]
fn a_queue_has_a_length_and_a_time() {
    let (script, gate) = Script::gated();
    let server = Server::with_workers(&format!("{APP}QueueTimeout 300ms\nQueueLength 1\n"), 1, script);
    let mut busy = server.client();
    busy.send("GET /app/wait HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for(|status| status.workers[0].state == WorkerState::Busy);
    let mut waits = server.client();
    waits.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let status = server.wait_for(|status| status.queued == 1);
    assert_eq!(status.workers[0].request, "GET /app/wait");
    let refused = server.client().get("/");
    assert_eq!((refused.status, refused.header("retry-after")), (503, "2"));
    let late = waits.answer();
    assert_eq!((late.status, late.header("retry-after")), (503, "2"));
    assert_eq!(server.status().shed.queue_timeout, 1);
    gate.send(()).expect("opened");
    assert_eq!(busy.answer().text(), "waited");
    assert_eq!(waits.get("/").text(), "hello");
}

#[test]
fn a_client_that_leaves_takes_its_request_out_of_the_queue() {
    let (script, gate) = Script::gated();
    let server = Server::with_workers(APP, 1, script.clone());
    let mut busy = server.client();
    busy.send("GET /app/wait HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for(|status| status.workers[0].state == WorkerState::Busy);
    let mut leaves = server.client();
    leaves.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for(|status| status.queued == 1);
    drop(leaves);
    server.wait_for(|status| status.queued == 0);
    gate.send(()).expect("opened");
    assert_eq!(busy.answer().text(), "waited");
    assert_eq!(busy.get("/").text(), "hello");
    assert_eq!(script.begun.load(Ordering::SeqCst), 2);
}

#[test]
fn a_worker_whose_client_left_finishes_and_serves_the_next() {
    let (script, gate) = Script::gated();
    let server = Server::with_workers(APP, 1, script);
    for path in ["/app/wait", "/app/late"] {
        let mut leaves = server.client();
        leaves.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        server.wait_for(|status| status.workers[0].state == WorkerState::Busy);
        leaves.reset();
        server.wait_for(|status| status.connections == 0);
        gate.send(()).expect("opened");
        assert_eq!(server.client().get("/").text(), "hello");
    }
    let mut leaves = server.client();
    leaves.send("GET /app/large HTTP/1.1\r\nHost: a\r\n\r\n");
    leaves.head();
    drop(leaves);
    assert_eq!(server.client().get("/").text(), "hello");
}

#[test]
fn a_client_that_left_is_logged_so() {
    let (script, gate) = Script::gated();
    let text = format!("{APP}LogFormat \"%s %X %r\" x\nCustomLog ROOT/log x\n");
    let mut server = Server::with_workers(&text, 1, script);
    let mut client = server.client();
    client.send("GET /app/late HTTP/1.1\r\nHost: a\r\n\r\n");
    client.head();
    client.reset();
    server.wait_for(|status| status.connections == 0);
    gate.send(()).expect("opened");
    assert_eq!(server.client().send("GET /app HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").answer().status, 200);
    assert_eq!(server.log(), "200 X GET /app/late HTTP/1.1\n200 - GET /app HTTP/1.1\n");
}

#[test]
fn a_worker_that_died_idle_is_passed_over() {
    let server = Server::with_workers(APP, 1, Script::default());
    let mut client = server.client();
    assert_eq!(client.get("/app/leave").text(), "bye");
    drop(server.socket(1, 7));
    server.send(wire::control::ToFront::Gone { slot: 7 });
    server.wait_for(|status| status.workers.is_empty());
    let mut server = server;
    server.worker(1, 3, Script::default());
    assert_eq!(client.get("/").text(), "hello");
}

#[test]
fn a_worker_that_ended_is_released_while_a_child_holds_its_socket() {
    let server = Server::with_workers(APP, 0, Script::default());
    let child = server.socket(1, 0);
    server.wait_for(|status| status.workers.len() == 1);
    server.send(wire::control::ToFront::Gone { slot: 0 });
    server.wait_for(|status| status.workers.is_empty());
    drop(child);
}

#[test]
fn the_master_is_notified_at_once_of_waiting_requests() {
    let (script, gate) = Script::gated();
    let server = Server::with_workers(APP, 1, script);
    let mut busy = server.client();
    busy.send("GET /app/wait HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for_message(|message| matches!(message, FromFront::Load(load) if load.busy == 1));
    let mut waits = server.client();
    waits.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for_message(|message| matches!(message, FromFront::Load(load) if load.queued == 1 && load.idle == 0));
    gate.send(()).expect("opened");
    assert_eq!(waits.answer().text(), "hello");
    server.wait_for_message(|message| matches!(message, FromFront::Load(load) if load.queued == 0 && load.idle == 1));
}

#[test]
fn a_client_may_hang_up_before_its_worker_has_begun() {
    let server = Server::with_workers(APP, 0, Script::default());
    let (socket, memory) = server.socket(1, 0);
    let mut worker = port(socket, &memory);
    worker.send_reply(&Reply::Ready { fork_us: 7 }).expect("said");
    let mut client = server.client();
    // Requests so quick that the next ones are sent ahead.
    for _ in 0..400 {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        answer_next(&mut worker);
        assert_eq!(client.answer().status, 200);
    }
    client.send("GET /last HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for(|status| status.workers[0].state == WorkerState::Busy);
    let [mut leaves, mut stays] = [server.client(), server.client()];
    leaves.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for(|status| status.queued == 1);
    stays.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for(|status| status.queued == 2);
    answer_next(&mut worker);
    assert_eq!(client.answer().status, 200);
    drop(leaves);
    server.wait_for(|status| status.connections == 2);
    // On a busy machine no request counts as quick: then /1 was begun before its client hung up.
    while answer_next(&mut worker) != b"/2" {}
    assert_eq!(stays.answer().status, 200);
}

/// Answers a request and returns its path. Messages about clients that have disconnected are skipped.
fn answer_next(worker: &mut WorkerPort) -> Vec<u8> {
    let frame = loop {
        match worker.next(Vec::new()) {
            Ok(Some(Inbound::Request(frame, None))) => break frame,
            Ok(Some(Inbound::HungUp(_) | Inbound::Abandoned(_))) => {}
            Ok(Some(Inbound::Bells(bells))) => worker.take_bells(bells).expect("bells"),
            other => panic!("no request: {}", other.is_ok()),
        }
    };
    say(worker, frame.id(), &[head(200, &[("Content-Length", "0")]), Reply::End(RequestEnd::default())]);
    frame.field(Field::Target).to_vec()
}
