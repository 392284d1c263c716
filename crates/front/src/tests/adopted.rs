//! Workers that come from a front that has died.

use std::io::IoSlice;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;

use wire::channel::{pair, send_packet};
use wire::control::{FromFront, WorkerId, WorkerState};
use wire::frame::Request;
use wire::reply::Reply;
use wire::transport::{SocketFront, WorkerOrder};

use super::Server;
use super::worker::{BLOCKS, Script, head, port, run};

const APP: &str = "<Location />\nSetHandler perl-script\nPerlHandler X\n</Location>\n";

#[test]
fn messages_of_the_previous_front_are_skipped() {
    let server = Server::with_workers(APP, 0, Script::default());
    let (front, worker) = pair().expect("a pair");
    let memory = wire::memory::create().expect("a memfd");
    // A partial response for the previous front, and a request of that front that was not begun.
    let mut half = Vec::new();
    Reply::Ready { fork_us: 1 }.put(0, &mut half);
    head(200, &[("X-Of", "the dead")]).put(1, &mut half);
    Reply::Body(b"of the dead").put(1, &mut half);
    send_packet(worker.as_fd(), &[IoSlice::new(&half)], &[]).expect("said");
    let mut frame = Vec::new();
    Request { id: 2, ..Default::default() }.encode(&mut frame);
    let ends = (front.try_clone().expect("a copy"), worker.try_clone().expect("a copy"));
    let map = sys::map_memory(&memory).expect("mapped");
    let old = SocketFront::new(ends.0, ends.1, map, BLOCKS).expect("a port");
    old.send(&WorkerOrder::Request { frame: &frame, body: None, reply_to: 0 }).map(drop).expect("sent");

    // The request has the same number as one of the previous front.
    let mut waits = server.client();
    waits.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_for(|status| status.queued == 1);
    server.hand_over(1, 0, [&front, &worker, &memory], true);
    let status = server.wait_for(|status| status.workers.len() == 1);
    assert_eq!(status.workers[0].state, WorkerState::Busy, "it has not greeted");
    let script = Script::default();
    let begun = script.begun.clone();
    let runs = std::thread::spawn(move || run(port(worker, &memory), &script));
    server.wait_for_message(|message| {
        matches!(message, FromFront::Ready { worker: WorkerId { slot: 0, .. }, fork_us: 7 })
    });
    assert_eq!(waits.answer().text(), "hello");
    assert_eq!(begun.load(Ordering::SeqCst), 1, "the request of the dead was begun");
    assert_eq!(server.client().get("/app/leave").text(), "bye");
    runs.join().expect("no panic");
}

#[test]
fn an_adopted_worker_that_breaks_the_protocol_is_killed() {
    let server = Server::with_workers(APP, 0, Script::default());
    let (front, worker) = pair().expect("a pair");
    server.hand_over(1, 0, [&front, &worker, &wire::memory::create().expect("a memfd")], true);
    send_packet(worker.as_fd(), &[IoSlice::new(b"no message")], &[]).expect("said");
    server.wait_for_message(|message| matches!(message, FromFront::Kill { worker: WorkerId { slot: 0, .. }, .. }));
    server.wait_for(|status| status.workers.is_empty());
}
