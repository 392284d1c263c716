//! WebSockets of Mojolicious: the front speaks the protocol with the client, and the program does not notice.

use std::io::Read;

use flate2::read::DeflateDecoder;

use super::noted;
use crate::support::{Server, Site, WebSocket, WebSocketFrame, until};

/// Notes the frames and the end of each WebSocket. The path decides what else happens.
const APP: &str = r#"use Mojolicious::Lite -signatures;
use Mojo::WebSocket qw(WS_BINARY WS_CONTINUATION WS_PING WS_TEXT);

sub note ($text) { open my $log, '>>', '@DIR@/noted' or die $!; print $log "$text\n"; close $log }

sub watched ($c) {
    $c->inactivity_timeout(0);
    $c->tx->on(frame => sub ($tx, $frame) { note("frame $frame->[4] $frame->[5]") if length $frame->[5] < 50 });
    $c->on(message => sub ($c, $text) { $c->send($text) });
    $c->on(finish => sub ($c, $code, $reason) { note('closed ' . $c->req->url->path . " $code " . ($reason // '-')) });
}
websocket '/echo' => sub ($c) { watched($c) };
websocket '/json' => sub ($c) { $c->on(json => sub ($c, $data) { $c->send({ json => { got => $data->{n} + 1 } }) }) };
websocket '/binary' => sub ($c) { $c->on(binary => sub ($c, $bytes) { $c->send({ binary => scalar reverse $bytes }) }) };
websocket '/parts' => sub ($c) {
    watched($c);
    $c->send([0, 0, 0, 0, WS_TEXT, 'one ']);
    $c->send([1, 0, 0, 0, WS_PING, 'there?']);
    $c->send([0, 0, 0, 0, WS_CONTINUATION, 'two ']);
    $c->send([1, 0, 0, 0, WS_CONTINUATION, 'three'] => sub { note('drained') });
};
websocket '/compressed' => sub ($c) { $c->tx->with_compression; watched($c) };
websocket '/small' => sub ($c) { $c->tx->max_websocket_size(100); watched($c) };
websocket '/large' => sub ($c) { $c->tx->max_websocket_size(3_000_000); watched($c) };
websocket '/protocols' => sub ($c) { $c->tx->with_protocols('chat', 'other'); watched($c) };
websocket '/own' => sub ($c) { $c->res->headers->sec_websocket_extensions('x-own'); watched($c); $c->send('first') };
websocket '/finishes' => sub ($c) { watched($c); $c->finish(4001, 'enough') };
websocket '/drops' => sub ($c) { watched($c); Mojo::IOLoop->next_tick(sub { Mojo::IOLoop->remove($c->tx->connection) }) };
app->start;
"#;

#[track_caller]
fn serve() -> Server {
    Site::new()
        .file("app.pl", APP)
        .serve("PsgiMode event\nStartServers 1\n<Location />\nPsgiApp @DIR@/app.pl\n</Location>\n")
}

#[test]
fn messages_are_texts_bytes_and_json() {
    let server = serve();
    let mut socket = WebSocket::open(&server, "/echo");
    for text in ["one", "gr\u{fc}\u{df}e \u{20ac}", ""] {
        socket.send(text);
        assert_eq!(socket.text(), text);
    }
    let mut socket = WebSocket::open(&server, "/json");
    socket.send(r#"{"n":4}"#);
    assert_eq!(socket.text(), r#"{"got":5}"#);
    let mut socket = WebSocket::open(&server, "/binary");
    socket.raw(0x82, b"\x00\xff\x01");
    assert_eq!(socket.next(), WebSocketFrame::Other(0x82, b"\x01\xff\x00".to_vec()));
}

#[test]
fn the_program_sees_messages_pings_and_pongs_as_frames() {
    let server = serve();
    let mut socket = WebSocket::open(&server, "/echo");
    socket.raw(0x01, b"t");
    socket.raw(0x89, b"ping");
    socket.raw(0x80, b"wo");
    assert_eq!(socket.next(), WebSocketFrame::Other(0x8a, b"ping".to_vec()));
    assert_eq!(socket.text(), "two");
    socket.raw(0x8a, b"pong");
    until("the program sees the pong", || noted(&server, "frame 10 pong"));
    assert!(noted(&server, "frame 9 ping") && noted(&server, "frame 1 two"));
}

#[test]
fn a_message_in_parts_arrives_with_its_last_part() {
    let server = serve();
    let mut socket = WebSocket::open(&server, "/parts");
    assert_eq!(socket.next(), WebSocketFrame::Other(0x89, b"there?".to_vec()));
    assert_eq!(socket.text(), "one two three");
    until("the program knows", || noted(&server, "drained"));
}

#[test]
fn messages_are_compressed_if_the_program_wants_it() {
    let server = serve();
    let offer = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
    let (_socket, head) = WebSocket::open_with(&server, "/echo", offer);
    assert_eq!(head.header("Sec-WebSocket-Extensions"), None);
    let (mut socket, head) = WebSocket::open_with(&server, "/compressed", offer);
    assert!(head.header("Sec-WebSocket-Extensions").is_some_and(|value| value.starts_with("permessage-deflate")));
    let text = "again and ".repeat(500);
    socket.send(&text);
    let WebSocketFrame::Other(0xc1, compressed) = socket.next() else { panic!("the message is not compressed") };
    let mut inflated = String::new();
    let bytes = [&compressed[..], &[0, 0, 0xff, 0xff, 1, 0, 0, 0xff, 0xff]].concat();
    DeflateDecoder::new(&bytes[..]).read_to_string(&mut inflated).expect("inflates");
    assert_eq!(inflated, text);
}

#[test]
fn the_programs_limit_holds_for_messages() {
    let server = serve();
    let mut socket = WebSocket::open(&server, "/small");
    socket.send(&"x".repeat(100));
    assert_eq!(socket.text().len(), 100);
    socket.send(&"x".repeat(101));
    assert_eq!(socket.next(), WebSocketFrame::Close(1009));
    until("the program knows", || noted(&server, "closed /small 1009 -"));
    let mut socket = WebSocket::open(&server, "/large");
    // Longer than WebSocketMaxMessage is without the program's limit.
    let part = [b'x'; 50_000];
    socket.raw(0x01, &part);
    (0..38).for_each(|_| socket.raw(0x00, &part));
    socket.raw(0x80, &part);
    let mut length = 0;
    while length < 2_000_000 {
        let WebSocketFrame::Other(_, part) = socket.next() else { panic!("no part") };
        length += part.len();
    }
    assert_eq!(length, 2_000_000);
}

#[test]
fn a_violation_is_closed_by_the_front_and_known_to_the_program() {
    let server = serve();
    let mut socket = WebSocket::open(&server, "/echo");
    socket.raw(0x81, b"\xff\xfe");
    assert_eq!(socket.next(), WebSocketFrame::Close(1007));
    until("the program knows", || noted(&server, "closed /echo 1007 -"));
}

#[test]
fn a_close_of_either_side_has_its_code_and_reason() {
    let server = serve();
    let mut socket = WebSocket::open(&server, "/finishes");
    assert_eq!(socket.next(), WebSocketFrame::Close(4001));
    socket.close(4001);
    socket.is_closed();
    until("the program knows", || noted(&server, "closed /finishes 4001 enough"));
    let mut socket = WebSocket::open(&server, "/echo");
    socket.close(3000);
    assert_eq!(socket.next(), WebSocketFrame::Close(3000));
    socket.is_closed();
    until("the program knows", || noted(&server, "closed /echo 3000 "));
    drop(WebSocket::open(&server, "/small"));
    until("the program knows that the client has left", || noted(&server, "closed /small 1006 -"));
}

#[test]
fn a_connection_that_the_program_drops_ends_without_a_close_frame() {
    let server = serve();
    let mut socket = WebSocket::open(&server, "/drops");
    socket.is_closed();
    until("the program knows", || noted(&server, "closed /drops 1006 -"));
    assert!(!server.site.read("error.log").contains("has ended the stream"), "this is no fault of the worker");
}

#[test]
fn a_program_with_an_extension_of_its_own_speaks_the_protocol_itself() {
    let server = serve();
    let (mut socket, head) = WebSocket::open_with(&server, "/own", "Sec-WebSocket-Extensions: x-own\r\n");
    assert_eq!(head.header("Sec-WebSocket-Extensions").as_deref(), Some("x-own"));
    assert_eq!(socket.text(), "first");
    socket.raw(0xc1, b"with a reserved bit");
    assert_eq!(socket.text(), "with a reserved bit");
    socket.close(1000);
    assert_eq!(socket.next(), WebSocketFrame::Close(1000));
    let (_socket, head) = WebSocket::open_with(&server, "/protocols", "Sec-WebSocket-Protocol: other, more\r\n");
    assert_eq!(head.header("Sec-WebSocket-Protocol").as_deref(), Some("other"));
    assert_eq!(head.header("Cameleer-WebSocket"), None);
}
