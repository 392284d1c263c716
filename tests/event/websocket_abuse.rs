//! What clients of WebSockets may send, over HTTP/1.1 and HTTP/2 alike: it costs their own WebSocket only.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use nix::sys::signal::Signal;

use super::{noted, pagi_websocket};
use crate::support::{Http2Client, Over, Server, WebSocket, WebSocketFrame, own_memory, signal, until};

const BOTH: [Over; 2] = [Over::Http1, Over::Http2];

#[track_caller]
fn serve(directives: &str) -> Server {
    pagi_websocket::serve_with(&format!("Protocols h2c http/1.1\n{directives}"))
}

/// Fails the test unless the other WebSocket of the same worker is served.
#[track_caller]
fn serves(other: &mut WebSocket) {
    other.send("other");
    assert_eq!(other.text(), "5 other");
}

/// Sends frames as first bytes with payloads, and expects this status and this reason of the application.
#[track_caller]
fn is_closed_for(over: Over, server: &Server, path: &str, frames: &[(u8, &[u8])], end: (u16, &str)) {
    let (code, why) = end;
    let path = format!("/{path}-{over:?}");
    let mut socket = WebSocket::open_over(over, server, &path);
    frames.iter().for_each(|(first, payload)| socket.raw(*first, payload));
    assert_eq!(socket.next(), WebSocketFrame::Close(code), "{path}");
    socket.rest();
    until("the application knows", || noted(server, &format!("closed {path} {code} {why}")));
}

#[test]
fn frames_that_violate_the_protocol_close_their_websocket() {
    let server = serve("");
    let mut other = WebSocket::open(&server, "/other");
    let violation = (1002, "protocol_error");
    let text = (1007, "protocol_error");
    let long = [b'x'; 126];
    for over in BOTH {
        let case = |path: &str, frames: &[(u8, &[u8])], end| is_closed_for(over, &server, path, frames, end);
        case("utf8", &[(0x81, b"\xff")], text);
        case("utf8-in-parts", &[(0x01, b"\xe2\x82"), (0x80, b"x")], text);
        case("utf8-cut", &[(0x81, b"\xe2\x82")], text);
        case("surrogate", &[(0x81, b"\xed\xa0\x80")], text);
        case("utf8-of-a-reason", &[(0x88, b"\x03\xe8\xff")], text);
        case("opcode", &[(0x83, b"x")], violation);
        case("control-opcode", &[(0x8b, b"x")], violation);
        case("reserved-1", &[(0xc1, b"x")], violation);
        case("reserved-2", &[(0xa1, b"x")], violation);
        case("reserved-3", &[(0x91, b"x")], violation);
        case("long-ping", &[(0x89, &long)], violation);
        case("long-close", &[(0x88, &long)], violation);
        case("ping-in-parts", &[(0x09, b"x")], violation);
        case("nothing-to-continue", &[(0x80, b"x")], violation);
        case("message-in-a-message", &[(0x01, b"x"), (0x81, b"y")], violation);
        case("close-of-one-byte", &[(0x88, b"\x03")], violation);
        case("close-with-1005", &[(0x88, b"\x03\xed")], violation);
        let mut socket = WebSocket::open_over(over, &server, &format!("/unmasked-{over:?}"));
        socket.bytes(b"\x81\x01x");
        assert_eq!(socket.next(), WebSocketFrame::Close(1002));
        until("the application knows", || noted(&server, &format!("closed /unmasked-{over:?} 1002 protocol_error")));
        serves(&mut other);
    }
}

/// A message of zeros, compressed as permessage-deflate has it.
fn compressed(length: usize) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![0; length]).expect("memory");
    encoder.flush().expect("memory");
    let bytes = encoder.get_ref();
    bytes.strip_suffix(b"\x00\x00\xff\xff").expect("the end of a flush").to_vec()
}

#[test]
fn messages_that_are_too_large_close_their_websocket() {
    let server = serve("WebSocketMaxMessage 1000\n");
    let mut other = WebSocket::open(&server, "/other");
    let (half, whole) = ([b'x'; 501], [b'x'; 1001]);
    for over in BOTH {
        let case = |path: &str, frames: &[(u8, &[u8])]| {
            is_closed_for(over, &server, path, frames, (1009, "body_too_large"));
        };
        case("whole", &[(0x82, &whole)]);
        case("in-parts", &[(0x02, &half), (0x80, &half)]);
        let mut parts = vec![(0x02, &half[..1])];
        parts.extend(vec![(0x00, &half[..1]); 1000]);
        case("in-many-parts", &parts);
        let mut socket = WebSocket::open_over(over, &server, &format!("/announced-{over:?}"));
        // The head of a frame of 8 EiB is enough.
        socket.bytes(b"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00");
        assert_eq!(socket.next(), WebSocketFrame::Close(1009));
        serves(&mut other);
    }
}

#[test]
fn a_small_message_that_inflates_to_a_large_one_is_too_large() {
    let server = serve("WebSocketMaxMessage 100K\n");
    let bomb = compressed(50_000_000);
    assert!(bomb.len() < 60_000, "{}", bomb.len());
    let before = own_memory(server.front());
    let offer = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
    let (first, _) = WebSocket::open_with(&server, "/bomb", offer);
    let (second, _) = WebSocket::open_on(&mut Http2Client::open(&server), "/bomb", &offer.to_lowercase());
    for mut socket in [first, second] {
        socket.raw(0xc2, &bomb);
        assert_eq!(socket.next(), WebSocketFrame::Close(1009));
    }
    until("both are known", || server.site.read("noted").matches("closed /bomb 1009 body_too_large").count() == 2);
    let grown = own_memory(server.front()).saturating_sub(before);
    assert!(grown < 20 << 20, "{grown}");
}

#[test]
fn a_client_that_does_not_read_holds_up_nobody() {
    const MESSAGES: usize = 40;
    let server = serve("");
    let mut other = WebSocket::open(&server, "/other");
    for over in BOTH {
        let mut slow = WebSocket::open_over(over, &server, "/slow");
        let before = own_memory(server.front());
        (0..MESSAGES).for_each(|_| slow.send("times 1000000"));
        for _ in 0..100 {
            serves(&mut other);
        }
        let grown = own_memory(server.front()).saturating_sub(before);
        assert!(grown < 20 << 20, "{over:?}: {grown}");
        for _ in 0..MESSAGES {
            assert_eq!(slow.text().len(), 1_000_000);
        }
        slow.send("more");
        assert_eq!(slow.text(), "4 more");
    }
}

#[test]
fn a_flood_of_pings_is_answered_at_the_clients_speed() {
    // More than the client's window, this server's output and its input hold, but less than all of them.
    const PINGS: usize = 1200;
    let server = serve("");
    let mut other = WebSocket::open(&server, "/other");
    for over in BOTH {
        let mut flooding = WebSocket::open_over(over, &server, "/flooding");
        for _ in 0..PINGS {
            flooding.raw(0x89, &[b'p'; 125]);
        }
        serves(&mut other);
        for _ in 0..PINGS {
            assert_eq!(flooding.next(), WebSocketFrame::Other(0x8a, vec![b'p'; 125]));
        }
        flooding.send("after");
        assert_eq!(flooding.text(), "5 after");
    }
}

#[test]
fn a_flood_of_pings_messages_or_parts_closes_its_websocket() {
    let server = serve("WebSocketMaxRate 100\n");
    let mut other = WebSocket::open(&server, "/other");
    let until_closed = |socket: &mut WebSocket| loop {
        match socket.next() {
            WebSocketFrame::Close(code) => return code,
            WebSocketFrame::Text(_) | WebSocketFrame::Other(..) => {}
        }
    };
    // A client may send 1000 frames at once. Those of parts end no message.
    let floods: [(&str, &[u8], &[u8]); 3] = [
        ("messages", b"", b"\x81\x80\0\0\0\0"),
        ("pings", b"", b"\x89\x80\0\0\0\0"),
        ("parts", b"\x01\x80\0\0\0\0", b"\x00\x80\0\0\0\0"),
    ];
    for over in BOTH {
        for (name, begin, frame) in floods {
            let path = format!("/{name}-{over:?}");
            let mut socket = WebSocket::open_over(over, &server, &path);
            socket.bytes(&[begin, &frame.repeat(10_000)].concat());
            assert_eq!(until_closed(&mut socket), 1008, "{path}");
            // The stream of a program that answers each message may end while it writes.
            let ends = [(name == "messages", "1006 write_error"), (true, "1008 protocol_error")];
            let knows = |why: &str| noted(&server, &format!("closed {path} {why}"));
            until("the application knows", || ends.iter().any(|(may_be, why)| *may_be && knows(why)));
        }
        serves(&mut other);
    }
    // Pings have a limit of their own, where frames have another or none.
    let server = serve("");
    let mut socket = WebSocket::open(&server, "/many");
    socket.bytes(&b"\x89\x80\0\0\0\0".repeat(5000));
    assert_eq!(until_closed(&mut socket), 1008);
    let server = serve("WebSocketMaxRate 0\n");
    let mut socket = WebSocket::open(&server, "/many");
    socket.bytes(&b"\x89\x80\0\0\0\0".repeat(5000));
    (0..5000).for_each(|_| assert_eq!(socket.next(), WebSocketFrame::Other(0x8a, Vec::new())));
}

#[test]
fn a_peer_that_answers_no_ping_is_given_up() {
    let server = serve("");
    for over in BOTH {
        let mut socket = WebSocket::open_over(over, &server, "/silent");
        assert_eq!(socket.next(), WebSocketFrame::Other(0x89, Vec::new()));
        socket.rest();
    }
    let known = || server.site.read("noted").matches("closed /silent 1006 keepalive_timeout").count();
    until("the application knows", || known() == BOTH.len());
    let server = super::serve_with("Protocols h2c http/1.1\nEventIdleTimeout 1\n");
    for over in BOTH {
        WebSocket::open_over(over, &server, "/echo").rest();
    }
    until("the application knows", || server.site.read("noted").matches("closed 1006").count() == BOTH.len());
}

#[test]
fn a_worker_that_is_killed_within_a_message_ends_it() {
    for over in BOTH {
        let server = serve("");
        let pid = server.text("/pid");
        let mut socket = WebSocket::open_over(over, &server, "/echo");
        socket.raw(0x01, b"the first part");
        signal(pid.parse().expect("a number"), Signal::SIGKILL);
        assert_eq!(socket.next(), WebSocketFrame::Close(1011));
        socket.close(1011);
        socket.rest();
        let is_replaced = || {
            let response = server.get("/pid");
            response.status == 200 && response.text() != pid
        };
        until("the worker is replaced", is_replaced);
        let mut next = WebSocket::open_over(over, &server, "/echo");
        next.send("next");
        assert_eq!(next.text(), "4 next");
        let server = super::serve_with("Protocols h2c http/1.1\n");
        let pid = server.text("/pid");
        let mut socket = WebSocket::open_over(over, &server, "/echo");
        socket.raw(0x01, b"the first part");
        signal(pid.parse().expect("a number"), Signal::SIGKILL);
        assert_eq!(socket.rest(), 0);
    }
}
