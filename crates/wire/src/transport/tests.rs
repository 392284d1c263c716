use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd};

use nix::sys::eventfd::EventFd;

use super::*;
use crate::channel::{first_byte, pair, send_packet};
use crate::frame::{Field, Request};
use crate::memory::{self, replies};
use crate::reply::{Outgoing, PacketMessages, Reply};

/// A path so long that its request travels in a packet.
const TOO_LONG_FOR_A_SLOT: [u8; 5000] = [b'x'; 5000];

fn ask(path: &[u8]) -> (Frame, Option<OwnedFd>) {
    let (front, mut worker) = ends(1);
    let mut request = Request { id: 3, ..Default::default() };
    request.fields[Field::Path as usize] = path;
    let mut frame = Vec::new();
    request.encode(&mut frame);
    front.send(&WorkerOrder::Request { frame: &frame, body: None, reply_to: 0 }).map(drop).expect("sent");
    match worker.next(Vec::new()).expect("received") {
        Some(Inbound::Request(frame, body)) => (frame, body),
        other => panic!("{other:?}"),
    }
}

#[test]
fn small_and_large_frames_arrive_alike() {
    for length in [10, MAX_INLINE - 500, MAX_INLINE + 1, 3_000_000] {
        let path = vec![b'x'; length];
        let (frame, body) = ask(&path);
        assert_eq!(frame.field(Field::Path), path);
        assert!(body.is_none());
    }
}

#[test]
fn requests_not_begun_can_be_taken_back_and_other_orders_stay() {
    let (front, mut worker) = ends(1);
    (1..=3).for_each(|id| ask_for(&front, id, &TOO_LONG_FOR_A_SLOT));
    front.send(&WorkerOrder::Leave).map(drop).expect("sent");
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Request(frame, None))) if frame.id() == 1));
    let mut buffer = vec![0; MAX_ORDER];
    let taken = front.take_back(&mut buffer).expect("taken");
    assert_eq!(taken, [2, 3]);
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Leave))));
    assert!(front.take_back(&mut buffer).expect("nothing").is_empty());
}

#[test]
fn descriptors_from_a_worker_are_an_error() {
    let (front, worker) = ends(1);
    let (_reading, writing) = nix::unistd::pipe().expect("a pipe");
    send_packet(worker.as_fd(), &[IoSlice::new(b"hello")], &[writing.as_raw_fd()]).expect("sent");
    assert_eq!(front.receive(&mut [0; 16]).expect_err("refused").kind(), io::ErrorKind::InvalidData);
}

#[test]
fn a_descriptor_that_is_no_file_is_not_read() {
    let (reading, _writing) = nix::unistd::pipe().expect("a pipe");
    assert_eq!(read_frame(reading).expect_err("refused").kind(), io::ErrorKind::InvalidData);
    let memory = in_memory("test", b"text").expect("a memfd");
    assert_eq!(read_frame(memory.into()).expect("read"), b"text");
}

#[test]
fn a_worker_learns_during_a_request_that_its_client_has_gone_and_leaves_other_orders() {
    let (front, mut worker) = ends(1);
    assert_eq!(worker.presence(1).expect("nothing was said"), Presence::Here);
    let log = in_memory("log", b"").expect("a memfd");
    front.send(&WorkerOrder::Abandoned { request: 7 }).map(drop).expect("sent");
    front.send(&WorkerOrder::Logs { first: 2, logs: &[log.as_fd(), log.as_fd()] }).map(drop).expect("sent");
    front.send(&WorkerOrder::Abandoned { request: 8 }).map(drop).expect("sent");
    assert_eq!(worker.presence(8).expect("well formed"), Presence::Gone);
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Logs { first: 2, logs })) if logs.len() == 2));
    ask_for(&front, 9, &TOO_LONG_FOR_A_SLOT);
    front.send(&WorkerOrder::Abandoned { request: 8 }).map(drop).expect("sent");
    assert_eq!(worker.presence(8).expect("it lies behind a request"), Presence::Here);
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Request(frame, None))) if frame.id() == 9));
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Abandoned(8)))));
}

#[test]
fn a_new_fronts_greeting_means_that_the_client_has_gone() {
    let (front, mut worker) = ends(1);
    front.send(&WorkerOrder::Greet).map(drop).expect("sent");
    assert_eq!(worker.presence(5).expect("well formed"), Presence::Gone);
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Greet))), "it is still to be answered");
}

#[test]
fn a_closed_peer_is_seen_as_the_end() {
    let (front, mut worker) = ends(1);
    drop(front);
    assert!(worker.next(Vec::new()).expect("end").is_none());
}

#[test]
fn a_client_that_has_hung_up_can_later_be_reported_gone() {
    let (front, mut worker) = ends(1);
    front.send(&WorkerOrder::HungUp { request: 4 }).map(drop).expect("sent");
    assert_eq!(worker.presence(5).expect("another's"), Presence::Here);
    front.send(&WorkerOrder::HungUp { request: 5 }).map(drop).expect("sent");
    front.send(&WorkerOrder::Abandoned { request: 5 }).map(drop).expect("sent");
    assert_eq!(worker.presence(5).expect("well formed"), Presence::Gone, "the worse of the two");
    front.send(&WorkerOrder::HungUp { request: 5 }).map(drop).expect("sent");
    assert_eq!(worker.presence(5).expect("well formed"), Presence::HungUp);
}

/// A front, and a worker that has no bells yet.
fn ends(blocks: usize) -> (SocketFront, WorkerPort) {
    let (ours, theirs) = pair().expect("a pair");
    let memory = memory::tests::memory();
    let worker = WorkerPort::new(theirs.try_clone().expect("a copy"), packet_buffer(), memory.clone(), blocks);
    (SocketFront::new(ours, theirs, memory, blocks).expect("a port"), worker)
}

/// A front and a worker, with the reader of the only ring.
fn connected(blocks: usize) -> (SocketFront, WorkerPort, replies::RingReader) {
    let (front, mut worker) = ends(blocks);
    let bell = EventFd::new().expect("an eventfd");
    front.send(&WorkerOrder::Bells { bells: &[bell.as_fd()] }).map(drop).expect("sent");
    match worker.next(Vec::new()) {
        Ok(Some(Inbound::Bells(bells))) => worker.take_bells(bells).expect("taken"),
        other => panic!("{other:?}"),
    }
    let reader = front.memory().reader(0);
    (front, worker, reader)
}

fn ask_for(front: &SocketFront, id: u64, path: &[u8]) {
    let mut request = Request { id, ..Default::default() };
    request.fields[Field::Path as usize] = path;
    let mut frame = Vec::new();
    request.encode(&mut frame);
    front.send(&WorkerOrder::Request { frame: &frame, body: None, reply_to: 0 }).map(drop).expect("sent");
    front.wake_if_asleep();
}

fn begin(worker: &mut WorkerPort) -> u64 {
    match worker.next(Vec::new()) {
        Ok(Some(Inbound::Request(frame, None))) => frame.id(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_worker_that_is_awake_needs_no_packet() {
    let (front, mut worker, mut ring) = connected(4);
    (1..=3).for_each(|id| ask_for(&front, id, b"/"));
    assert_eq!(first_byte(worker.as_fd()).expect("readable"), None, "no packet was sent");
    assert_eq!(begin(&mut worker), 1);
    worker.send(&Outgoing { id: 1, before: b"head,", body: b"", after: b"end" }).expect("sent");
    let mut packet = Vec::new();
    assert!(ring.read(&mut packet).expect("well formed"));
    assert_eq!(packet, b"head,end");
    assert_eq!(front.take_back(&mut vec![0; MAX_ORDER]).expect("taken"), [2, 3]);
}

#[test]
fn large_orders_and_orders_with_descriptors_arrive() {
    let (front, mut worker, _ring) = connected(4);
    ask_for(&front, 1, &[b'x'; 10_000]);
    ask_for(&front, 2, &vec![b'x'; MAX_INLINE + 1]);
    assert_eq!((begin(&mut worker), begin(&mut worker)), (1, 2));
    let log = in_memory("log", b"").expect("a memfd");
    ask_for(&front, 3, b"/");
    front.send(&WorkerOrder::Logs { first: 0, logs: &[log.as_fd()] }).map(drop).expect("sent");
    // `next` receives `Logs` between requests.
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Logs { .. }))));
    assert_eq!(begin(&mut worker), 3);
    front.send(&WorkerOrder::Leave).map(drop).expect("sent");
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Leave))));
}

#[test]
fn a_request_in_a_packet_is_begun_before_those_in_memory_that_were_sent_after_it() {
    let (front, mut worker, _ring) = connected(4);
    ask_for(&front, 1, &[b'x'; 10_000]);
    ask_for(&front, 2, b"/");
    // Checking for the client, in the middle of the request before, must not hide the request in the packet.
    assert_eq!(worker.presence(0).expect("well formed"), Presence::Here);
    front.send(&WorkerOrder::HungUp { request: 9 }).map(drop).expect("sent");
    assert_eq!(begin(&mut worker), 1);
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::HungUp(9)))));
    assert_eq!(begin(&mut worker), 2);
}

#[test]
fn a_sleeping_worker_is_woken_for_a_request_in_its_memory() {
    let (front, mut worker, mut ring) = connected(4);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for expected in 1..=2000 {
                let id = begin(&mut worker);
                assert_eq!(id, expected);
                worker.send(&Outgoing { id, before: &id.to_le_bytes(), ..Outgoing::default() }).expect("sent");
            }
        });
        let mut packet = Vec::new();
        for id in 1..=2000u64 {
            ask_for(&front, id, b"/");
            while !ring.read(&mut packet).expect("well formed") {
                std::thread::yield_now();
            }
            assert_eq!(packet, id.to_le_bytes());
        }
    });
}

#[test]
fn a_large_response_is_sent_in_blocks_even_if_they_are_few() {
    let text: Vec<u8> = (0..1_000_000).map(|at| (at % 251) as u8).collect();
    for (blocks, length) in [(1, 100_000), (3, 1_000_000), (64, 1_000_000), (64, 2049), (64, 2048), (2, 0)] {
        let (front, mut worker, mut ring) = connected(blocks);
        ask_for(&front, 7, b"/");
        let text = &text[..length];
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let id = begin(&mut worker);
                worker.send(&Outgoing { id, before: &[], body: text, after: &[] }).expect("sent");
                let mut end = Vec::new();
                Reply::Complete.put(id, &mut end);
                worker.send(&Outgoing { id, before: &end, ..Outgoing::default() }).expect("sent");
            });
            let (mut packet, mut received, mut is_whole) = (Vec::new(), Vec::new(), false);
            while !is_whole {
                if !ring.read(&mut packet).expect("well formed") {
                    std::thread::yield_now();
                    continue;
                }
                if ring.makes_room() {
                    front.wake();
                }
                for message in PacketMessages::new(&packet) {
                    match message.expect("well formed") {
                        (7, Reply::Body(bytes)) => received.extend_from_slice(bytes),
                        (7, Reply::Lent { block, length }) => {
                            let lender = front.memory().lender();
                            lender.take(block, length).expect("lent").copy_to(&mut received);
                        }
                        (7, Reply::Complete) => is_whole = true,
                        other => panic!("{other:?}"),
                    }
                }
            }
            assert_eq!(received, text);
        });
    }
}

#[test]
fn many_small_answers_wait_for_room_in_the_ring() {
    const PACKETS: u32 = 5000;
    let (front, mut worker, mut ring) = connected(1);
    ask_for(&front, 7, b"/");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let id = begin(&mut worker);
            for number in 0..PACKETS {
                let bytes = [number.to_le_bytes().as_slice(), &vec![1; number as usize % 6000]].concat();
                worker.send(&Outgoing { id, before: &bytes, ..Outgoing::default() }).expect("sent");
            }
        });
        let (mut packet, mut next) = (Vec::new(), 0u32);
        while next < PACKETS {
            if !ring.read(&mut packet).expect("well formed") {
                std::thread::yield_now();
                continue;
            }
            assert_eq!((&packet[..4], packet.len()), (&next.to_le_bytes()[..], 4 + next as usize % 6000));
            next += 1;
            if ring.makes_room() {
                front.wake();
            }
        }
    });
}

#[test]
fn a_worker_whose_front_has_died_drops_its_answer_and_serves_the_next_front() {
    let (dead, mut worker, _ring) = connected(2);
    (1..=2).for_each(|id| ask_for(&dead, id, b"/"));
    let id = begin(&mut worker);
    let (bell, buffer) = (EventFd::new().expect("an eventfd"), &mut vec![0; MAX_ORDER]);
    std::thread::scope(|scope| {
        let works = scope.spawn(move || {
            // The body exceeds the room: the worker waits, because the front reads nothing.
            worker.send(&Outgoing { id, before: &[], body: &[1; 100_000], after: &[] }).expect("it is for nobody");
            assert_eq!(worker.presence(id).expect("well formed"), Presence::Gone);
            worker
        });
        // The master hands the same ends to the next front.
        let next = dead;
        assert_eq!(next.take_back(buffer).expect("taken"), [2]);
        next.send(&WorkerOrder::Bells { bells: &[bell.as_fd()] }).map(drop).expect("sent");
        next.send(&WorkerOrder::Greet).map(drop).expect("sent");
        let mut worker = works.join().expect("no panic");
        match worker.next(Vec::new()) {
            Ok(Some(Inbound::Bells(bells))) => worker.take_bells(bells).expect("taken"),
            other => panic!("{other:?}"),
        }
        assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Greet))));
        let mut ring = next.memory().reader(0);
        worker.send(&Outgoing { id: 3, before: b"of the next", ..Outgoing::default() }).expect("sent");
        let mut packet = Vec::new();
        assert!(ring.read(&mut packet).expect("well formed"));
        assert_eq!(packet, b"of the next");
    });
}

#[test]
fn broadcast_messages_of_the_largest_size_arrive_and_stay_when_requests_are_taken_back() {
    let (front, mut worker) = ends(1);
    let message = vec![7; crate::broadcast::MAX_ENCODED];
    ask_for(&front, 1, &TOO_LONG_FOR_A_SLOT);
    front.send(&WorkerOrder::Broadcast { message: &message }).map(drop).expect("sent");
    assert_eq!(front.take_back(&mut vec![0; MAX_ORDER]).expect("taken"), [1]);
    assert!(matches!(worker.next_if_there(), Ok(Some(Some(Inbound::Broadcast(received)))) if received == message));
    worker.send_reply(&Reply::Publish(&message)).expect("sent");
    let mut packet = vec![0; crate::reply::MAX_PACKET];
    let length = front.receive(&mut packet).expect("received").expect("a packet");
    let replies: Vec<_> = PacketMessages::new(&packet[..length]).collect::<Result<_, _>>().expect("well formed");
    assert_eq!(replies, [(0, Reply::Publish(&message))]);
}

#[test]
fn the_front_sees_the_turns_of_an_event_loop_and_wakes_it() {
    let (front, mut worker) = ends(1);
    assert_eq!((front.memory().turns(), worker.begin_turn(), front.memory().turns()), (0, 1, 1));
    assert!(matches!(worker.next_if_there(), Ok(Some(None))));
    front.wake();
    front.send(&WorkerOrder::CloseWebSockets).map(drop).expect("sent");
    assert!(matches!(worker.next_if_there(), Ok(Some(Some(Inbound::Bell)))));
    assert!(matches!(worker.next_if_there(), Ok(Some(Some(Inbound::CloseWebSockets)))));
    assert_eq!((worker.begin_turn(), front.memory().turns()), (2, 2));
}
