use super::*;
use crate::frame::{Field, Request};

fn ask(path: &[u8]) -> (Frame, Option<OwnedFd>) {
    let (front, worker) = socketpair().expect("socketpair");
    let mut request = Request { id: 3, ..Default::default() };
    request.fields[Field::Path as usize] = path;
    let mut frame = Vec::new();
    request.encode(&mut frame);
    front.send(&Order::Request { frame: &frame, body: None, reply_to: 0 }).expect("sent");
    match SocketWorker::new(worker, packet_buffer()).next(Vec::new()).expect("received") {
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
fn what_the_worker_has_not_begun_can_be_taken_back_and_the_rest_stays() {
    let (ours, theirs) = pair().expect("a pair");
    let front = SocketFront::new(ours, Some(theirs.try_clone().expect("a copy"))).expect("a port");
    let mut worker = SocketWorker::new(theirs, packet_buffer());
    for id in 1..=3 {
        let mut frame = Vec::new();
        Request { id, ..Default::default() }.encode(&mut frame);
        front.send(&Order::Request { frame: &frame, body: None, reply_to: 0 }).expect("sent");
    }
    front.send(&Order::Leave).expect("sent");
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Request(frame, None))) if frame.id() == 1));
    let mut buffer = vec![0; MAX_ORDER];
    let taken = front.take_back(&mut buffer).expect("taken");
    assert_eq!(taken.iter().map(|(frame, _)| frame.id()).collect::<Vec<_>>(), [2, 3]);
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Leave))));
    assert!(front.take_back(&mut buffer).expect("nothing").is_empty());
}

#[test]
fn a_worker_that_sends_descriptors_is_not_heard() {
    let (front, worker) = socketpair().expect("socketpair");
    let (_reading, writing) = nix::unistd::pipe().expect("a pipe");
    send_packet(worker.as_fd(), &[IoSlice::new(b"hello")], &[writing.as_raw_fd()]).expect("sent");
    assert_eq!(front.receive(&mut [0; 16]).expect_err("refused").kind(), io::ErrorKind::InvalidData);
}

#[test]
fn what_is_no_file_is_not_read() {
    let (reading, _writing) = nix::unistd::pipe().expect("a pipe");
    assert_eq!(read_frame(reading).expect_err("refused").kind(), io::ErrorKind::InvalidData);
    let memory = in_memory("test", b"text").expect("a memfd");
    assert_eq!(read_frame(memory.into()).expect("read"), b"text");
}

#[test]
fn a_worker_hears_in_the_middle_that_nobody_waits_and_leaves_the_rest_for_later() {
    let (front, worker) = socketpair().expect("socketpair");
    let mut worker = SocketWorker::new(worker, packet_buffer());
    assert_eq!(worker.presence(1).expect("nothing was said"), Presence::Here);
    let log = in_memory("log", b"").expect("a memfd");
    front.send(&Order::Abandoned { request: 7 }).expect("sent");
    front.send(&Order::Logs { first: 2, logs: &[log.as_fd(), log.as_fd()] }).expect("sent");
    front.send(&Order::Abandoned { request: 8 }).expect("sent");
    assert_eq!(worker.presence(8).expect("well formed"), Presence::Gone);
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Logs { first: 2, logs })) if logs.len() == 2));
    let mut frame = Vec::new();
    Request { id: 9, ..Default::default() }.encode(&mut frame);
    front.send(&Order::Request { frame: &frame, body: None, reply_to: 0 }).expect("sent");
    front.send(&Order::Abandoned { request: 8 }).expect("sent");
    assert_eq!(worker.presence(8).expect("it lies behind a request"), Presence::Here);
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Request(frame, None))) if frame.id() == 9));
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Abandoned(8)))));
}

#[test]
fn another_front_that_greets_means_that_nobody_waits() {
    let (front, worker) = socketpair().expect("socketpair");
    let mut worker = SocketWorker::new(worker, packet_buffer());
    front.send(&Order::Greet).expect("sent");
    assert_eq!(worker.presence(5).expect("well formed"), Presence::Gone);
    assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Greet))), "it is still to be answered");
}

#[test]
fn the_end_is_seen_when_the_other_side_has_gone() {
    let (front, worker) = socketpair().expect("socketpair");
    drop(front);
    assert!(SocketWorker::new(worker, packet_buffer()).next(Vec::new()).expect("end").is_none());
}

#[test]
fn a_client_that_has_hung_up_may_be_gone_later() {
    let (front, worker) = socketpair().expect("socketpair");
    let mut worker = SocketWorker::new(worker, packet_buffer());
    front.send(&Order::HungUp { request: 4 }).expect("sent");
    assert_eq!(worker.presence(5).expect("another's"), Presence::Here);
    front.send(&Order::HungUp { request: 5 }).expect("sent");
    front.send(&Order::Abandoned { request: 5 }).expect("sent");
    assert_eq!(worker.presence(5).expect("well formed"), Presence::HungUp);
    assert_eq!(worker.presence(5).expect("well formed"), Presence::Gone);
}

#[test]
fn an_answer_goes_to_the_reply_socket_that_its_request_names() {
    let (front, worker) = socketpair().expect("socketpair");
    let mut worker = SocketWorker::new(worker, packet_buffer());
    let (further, theirs) = socketpair().expect("socketpair");
    front.send(&Order::ReplySockets { first: 1, sockets: &[theirs.as_fd()] }).expect("sent");
    drop(theirs);
    match worker.next(Vec::new()) {
        Ok(Some(Inbound::ReplySockets { first, sockets })) => worker.take_reply_sockets(first, sockets).expect("taken"),
        other => panic!("{other:?}"),
    }
    let mut frame = Vec::new();
    Request { id: 1, ..Default::default() }.encode(&mut frame);
    let hear = |on: &SocketFront| on.receive(&mut [0; 16]).map(|heard| heard.unwrap_or_default());
    for (asked, answered, silent) in [(1, &further, &front), (0, &front, &further)] {
        front.send(&Order::Request { frame: &frame, body: None, reply_to: asked }).expect("sent");
        assert!(matches!(worker.next(Vec::new()), Ok(Some(Inbound::Request(..)))));
        worker.send(&[IoSlice::new(b"answer")]).expect("sent");
        assert_eq!(hear(answered).expect("an answer"), 6);
        assert_eq!(hear(silent).expect_err("nothing").kind(), io::ErrorKind::WouldBlock);
    }
    front.send(&Order::Request { frame: &frame, body: None, reply_to: 1 }).expect("sent");
    worker.next(Vec::new()).expect("a request");
    drop(further);
    worker.send(&[IoSlice::new(b"for nobody")]).expect("what is for a front that has died is no error");
    front.send(&Order::Request { frame: &frame, body: None, reply_to: 2 }).expect("sent");
    assert_eq!(worker.next(Vec::new()).expect_err("no such reply socket").kind(), io::ErrorKind::InvalidData);
}

#[test]
fn reply_sockets_follow_one_another_and_are_not_without_end() {
    let (_front, worker) = socketpair().expect("socketpair");
    let mut worker = SocketWorker::new(worker, packet_buffer());
    let sockets = |count: usize| (0..count).map(|_| socketpair().expect("socketpair").1).collect::<Vec<_>>();
    assert!(worker.take_reply_sockets(0, sockets(1)).is_err() && worker.take_reply_sockets(2, sockets(1)).is_err());
    worker.take_reply_sockets(1, sockets(3)).expect("taken");
    worker.take_reply_sockets(2, sockets(1)).expect("taken");
    assert_eq!(worker.fds().count(), 3);
    assert!(worker.take_reply_sockets(3, sockets(MAX_REPLY_SOCKETS)).is_err());
}
