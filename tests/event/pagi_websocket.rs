//! WebSockets of programs of PAGI: the front speaks the protocol with the client.

use std::io::Read;

use flate2::read::DeflateDecoder;
use nix::sys::signal::Signal;

use super::noted;
use crate::support::{Request, Server, Site, WebSocket, WebSocketFrame, alive, signal, until};

/// A program whose path decides what it does with a WebSocket.
const APP: &str = r#"use v5.36;
use Future::AsyncAwait;
use Future::IO;

sub note ($text) { open my $log, '>>', '@DIR@/noted' or die $!; print $log "$text\n"; close $log }

async sub websocket ($scope, $receive, $send) {
    my $path = $scope->{path};
    my $event = await $receive->();
    note("$event->{type} $path");
    return await $send->({ type => 'websocket.close' }) if $path eq '/refused';
    if ($path eq '/denied') {
        await $send->({ type => 'websocket.http.response.start', status => 401, headers => [ [ 'www-authenticate', 'Bearer' ] ] });
        return await $send->({ type => 'websocket.http.response.body', body => 'no' });
    }
    if ($path eq '/denied-twice') {
        await $send->({ type => 'websocket.http.response.start', status => 401 });
        $send->({ type => 'websocket.http.response.body', body => 'n' x 30_000_000 }) for 1 .. 2;
        await $send->({ type => 'websocket.close' });
        eval { $send->({ type => 'websocket.accept' })->get; 1 } or note("late $@");
        die "too late\n";
    }
    await $send->({ type => 'websocket.accept', subprotocol => $scope->{subprotocols}[-1], headers => [ [ 'x-own', 'one' ] ] });
    await $send->({ type => 'websocket.keepalive', interval => 0.05, timeout => 60 }) if $path eq '/pings';
    await $send->({ type => 'websocket.keepalive', interval => 0.05, timeout => 0.05 }) if $path eq '/silent';
    await $send->({ type => 'websocket.close', code => 3000, reason => 'enough' }) if $path eq '/closes';
    if ($path eq '/pushes') {
        for my $number (1 .. 3) {
            await Future::IO->sleep(0.01);
            await $send->({ type => 'websocket.send', text => "push $number" });
        }
    }
    die "on purpose\n" if $path eq '/dies';
    while (1) {
        $event = await $receive->();
        if ($event->{type} eq 'websocket.disconnect') { note("closed $path $event->{code} $event->{reason}"); last }
        if (defined $event->{text}) {
            my $count = $event->{text} =~ /\Atimes ([0-9]+)\z/ ? $1 : 0;
            await $send->({ type => 'websocket.send', text => $count ? 'x' x $count : length($event->{text}) . " $event->{text}" });
        }
        else { await $send->({ type => 'websocket.send', bytes => scalar reverse $event->{bytes} }) }
    }
}

my $app = async sub ($scope, $receive, $send) {
    return await websocket($scope, $receive, $send) if $scope->{type} eq 'websocket';
    die "Unsupported scope type: $scope->{type}" if $scope->{type} ne 'http';
    await $send->({ type => 'http.response.start', status => 200 });
    await $send->({ type => 'http.response.body', body => $$ });
};
$app;
"#;

pub fn site() -> Site {
    Site::new().file("app.pl", APP)
}

#[track_caller]
pub fn serve_with(directives: &str) -> Server {
    site().serve(&format!(
        "PsgiMode event\nStartServers 1\n{directives}<Location />\nPsgiApp @DIR@/app.pl\n</Location>\n"
    ))
}

#[track_caller]
fn serve() -> Server {
    serve_with("")
}

#[test]
fn messages_are_characters_or_bytes_for_the_application() {
    let server = serve();
    let mut socket = WebSocket::open(&server, "/echo");
    for text in ["one", "gr\u{fc}\u{df}e \u{20ac}", ""] {
        socket.send(text);
        assert_eq!(socket.text(), format!("{} {text}", text.chars().count()));
    }
    socket.raw(0x82, b"\x00\xff\x01");
    assert_eq!(socket.next(), WebSocketFrame::Other(0x82, b"\x01\xff\x00".to_vec()));
    socket.raw(0x01, "f\u{fc}".as_bytes());
    socket.raw(0x89, b"ping");
    socket.raw(0x80, b"nf");
    assert_eq!(socket.next(), WebSocketFrame::Other(0x8a, b"ping".to_vec()));
    assert_eq!(socket.text(), "4 f\u{fc}nf");
    let long = "y".repeat(60_000);
    socket.send(&long);
    assert_eq!(socket.text(), format!("60000 {long}"));
    socket.close(4001);
    assert_eq!(socket.next(), WebSocketFrame::Close(4001));
    socket.is_closed();
    until("the application knows", || noted(&server, "closed /echo 4001 "));
}

#[test]
fn the_application_pushes_and_closes() {
    let server = serve();
    let mut socket = WebSocket::open(&server, "/pushes");
    for number in 1..=3 {
        assert_eq!(socket.text(), format!("push {number}"));
    }
    let mut socket = WebSocket::open(&server, "/closes");
    assert_eq!(socket.next(), WebSocketFrame::Close(3000));
    socket.close(3000);
    socket.is_closed();
    until("the application knows", || noted(&server, "closed /closes 3000 "));
    let mut socket = WebSocket::open(&server, "/dies");
    assert_eq!(socket.next(), WebSocketFrame::Close(1011));
    server.logged("PAGI: on purpose");
}

#[test]
fn the_handshake_is_the_applications_decision() {
    let server = serve();
    let (_socket, head) = WebSocket::open_with(&server, "/echo", "Sec-WebSocket-Protocol: chat, other\r\n");
    assert_eq!(head.header("Sec-WebSocket-Protocol").as_deref(), Some("other"));
    assert_eq!(head.header("X-Own").as_deref(), Some("one"));
    assert_eq!(head.header("Cameleer-WebSocket"), None);
    for (target, status) in [("/refused", 403), ("/denied", 401)] {
        let mut connection = server.connect();
        connection.raw(WebSocket::handshake(target));
        assert_eq!(connection.response().status, status, "{target}");
    }
}

#[test]
fn a_denied_handshake_has_one_response_whatever_the_application_sends_then() {
    let server = serve();
    let mut connection = server.connect();
    connection.raw(WebSocket::handshake("/denied-twice"));
    server.logged("PAGI: too late");
    until("the application knows", || server.site.read("noted").contains("late PAGI: "));
    assert_eq!(connection.response().is(401).body.len(), 30_000_000);
    for _ in 0..3 {
        assert_eq!(connection.ask(Request::get("/pid")).text(), server.text("/pid"));
    }
}

#[test]
fn a_handshake_that_is_invalid_does_not_reach_the_application() {
    let server = serve();
    for (before, after, status) in [("Version: 13", "Version: 8", 426), ("Key: dGhl", "Key: dGhlIA", 400)] {
        let mut connection = server.connect();
        connection.raw(WebSocket::handshake("/bad").replace(before, after));
        let response = connection.response();
        assert_eq!(response.status, status, "{after}");
        assert_eq!(response.header("Sec-WebSocket-Version").is_some(), status == 426);
    }
    assert!(!server.site.has("noted"));
}

#[test]
fn a_client_that_violates_the_protocol_is_closed_with_the_reason() {
    let server = serve_with("WebSocketMaxMessage 1000\n");
    let long = [b'x'; 1001];
    for (path, first, payload, code, why) in [
        ("/utf8", 0x81, &b"\xff"[..], 1007, "protocol_error"),
        ("/opcode", 0x83, b"x", 1002, "protocol_error"),
        ("/reserved", 0xc1, b"x", 1002, "protocol_error"),
        ("/long", 0x82, &long, 1009, "body_too_large"),
    ] {
        let mut socket = WebSocket::open(&server, path);
        socket.raw(first, payload);
        assert_eq!(socket.next(), WebSocketFrame::Close(code), "{path}");
        socket.is_closed();
        until("the application knows", || noted(&server, &format!("closed {path} {code} {why}")));
    }
    let socket = WebSocket::open(&server, "/leaves");
    drop(socket);
    until("the application knows", || noted(&server, "closed /leaves 1006 client_closed"));
}

#[test]
fn messages_are_compressed_for_a_client_that_asks_for_it() {
    let server = serve();
    let offer = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n";
    let (mut socket, head) = WebSocket::open_with(&server, "/echo", offer);
    let accepted = head.header("Sec-WebSocket-Extensions").expect("the extension");
    assert_eq!(accepted, "permessage-deflate; server_no_context_takeover; client_no_context_takeover");
    // The example of RFC 7692, section 7.2.3.1.
    socket.raw(0xc1, b"\xf2\x48\xcd\xc9\xc9\x07\x00");
    assert_eq!(socket.text(), "5 Hello", "a short message is not worth it");
    socket.send("times 50000");
    let WebSocketFrame::Other(0xc1, payload) = socket.next() else { panic!("no compressed text") };
    assert!(payload.len() < 1000, "{}", payload.len());
    let mut text = String::new();
    let whole = [&payload[..], b"\x00\x00\xff\xff\x03\x00"].concat();
    DeflateDecoder::new(&whole[..]).read_to_string(&mut text).expect("compressed");
    assert_eq!(text, "x".repeat(50_000));
}

#[test]
fn pings_have_the_applications_interval() {
    let server = serve();
    let mut socket = WebSocket::open(&server, "/pings");
    for _ in 0..3 {
        assert_eq!(socket.next(), WebSocketFrame::Other(0x89, Vec::new()));
        socket.raw(0x8a, b"");
    }
    let mut socket = WebSocket::open(&server, "/silent");
    assert_eq!(socket.next(), WebSocketFrame::Other(0x89, Vec::new()));
    until("the application knows", || noted(&server, "closed /silent 1006 keepalive_timeout"));
}

#[test]
fn a_websocket_of_pagi_stays_with_its_worker_after_a_reload_and_is_closed_with_1012() {
    let server = serve_with("GracefulShutdownTimeout 1\n");
    let before = server.text("/pid");
    let mut socket = WebSocket::open(&server, "/echo");
    server.reload().succeeded();
    assert_ne!(server.text("/pid"), before, "new requests go to a new worker");
    socket.send("still here");
    assert_eq!(socket.text(), "10 still here");
    assert_eq!(socket.next(), WebSocketFrame::Close(1012));
    let old = before.parse().expect("a number");
    until("the old worker has ended", || !alive(old));
    until("the application knows", || noted(&server, "closed /echo 1006 server_shutdown"));
}

#[test]
fn a_worker_that_is_killed_closes_its_websockets_with_1011() {
    let server = serve();
    let pid = server.text("/pid");
    let mut socket = WebSocket::open(&server, "/echo");
    signal(pid.parse().expect("a number"), Signal::SIGKILL);
    assert_eq!(socket.next(), WebSocketFrame::Close(1011));
    socket.close(1011);
    socket.is_closed();
    server.logged("has ended the stream without closing the WebSocket");
}
