//! Memory of the front for connections that are open and quiet.

use crate::support::{Connection, Server, Site, WebSocket, own_memory, until};

/// Number of connections.
const COUNT: usize = 200;
/// Bytes for each: half more than measured without optimization, because pages are freed late. A buffer of hyper
/// exceeds the difference.
const LIMIT: u64 = 12_500;
/// The same for streams of events from a worker: hyper has a buffer for the worker's bytes.
const EVENTS_LIMIT: u64 = 36_000;

const PAGI: &str = r#"use v5.36;
use Future::AsyncAwait;
async sub app ($scope, $receive, $send) {
    die "Unsupported scope type: $scope->{type}" if $scope->{type} ne 'websocket';
    await $receive->();
    await $send->({ type => 'websocket.accept' });
    while (1) {
        my $event = await $receive->();
        last if $event->{type} eq 'websocket.disconnect';
        await $send->({ type => 'websocket.send', text => $event->{text} });
    }
}
\&app;
"#;

const MOJO: &str = "use Mojolicious::Lite -signatures;\n\
    websocket '/echo' => sub ($c) { $c->inactivity_timeout(0); $c->on(message => sub ($c, $text) { $c->send($text) }) };\n\
    get '/events' => sub ($c) {\n\
        $c->inactivity_timeout(0)->res->headers->content_type('text/event-stream');\n\
        $c->write_chunk(\": hello\\n\\n\");\n\
    };\napp->start;\n";

const PSGI: &str = "use Cameleer::Broadcast;\n\
    sub { [200, ['Content-Type' => 'text/event-stream', Cameleer::Broadcast->hold('news')], [\": hello\\n\\n\"]] }\n";

#[track_caller]
fn serve() -> Server {
    let site = Site::new().file("app.pl", PAGI).file("mojo.pl", MOJO).file("hold.psgi", PSGI);
    site.serve(
        "FrontThreads 1\nMaxConnections 2000\nMaxConnectionsPerClient 0\nStartServers 1\nMaxClients 1\n\
         <WorkerPool pagi>\nPsgiMode event\nStartServers 1\n</WorkerPool>\n<WorkerPool mojo>\nPsgiMode event\nStartServers 1\n</WorkerPool>\n\
         <Location /pagi>\nPerlPool pagi\nPsgiApp @DIR@/app.pl\n</Location>\n\
         <Location /mojo>\nPerlPool mojo\nPsgiApp @DIR@/mojo.pl\n</Location>\n\
         <Location /hold>\nPsgiApp @DIR@/hold.psgi\n</Location>\n",
    )
}

/// Private memory of the front, in bytes, for each of `COUNT` connections that `open` returns. Some are opened before,
/// so that the memory of the first ones does not count.
fn memory_of_each<T>(server: &Server, mut open: impl FnMut() -> T) -> u64 {
    let mut opened: Vec<T> = (0..COUNT / 4).map(|_| open()).collect();
    let before = own_memory(server.front());
    opened.extend((0..COUNT).map(|_| open()));
    let after = own_memory(server.front());
    after.saturating_sub(before) / COUNT as u64
}

/// A stream of server-sent events that has begun.
fn events(server: &Server, target: &str) -> Connection {
    let mut connection = server.connect();
    connection.raw(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"));
    connection.head().is(200);
    assert_eq!(connection.chunk(), b": hello\n\n");
    connection
}

/// A WebSocket that has had a message.
fn websocket(server: &Server, target: &str) -> WebSocket {
    let fields = "Accept-Language: en-US,en;q=0.5\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n";
    let (mut socket, _) = WebSocket::open_with(server, target, fields);
    socket.send("one");
    assert_eq!(socket.text(), "one");
    socket
}

#[test]
fn a_quiet_websocket_of_messages_costs_the_front_a_few_kilobytes() {
    let server = serve();
    let each = memory_of_each(&server, || websocket(&server, "/pagi"));
    assert!(each < LIMIT, "{each} bytes");
}

#[test]
fn a_quiet_websocket_of_bytes_costs_the_front_a_few_kilobytes() {
    let server = serve();
    let each = memory_of_each(&server, || websocket(&server, "/mojo/echo"));
    assert!(each < LIMIT, "{each} bytes");
}

#[test]
fn a_quiet_stream_of_events_costs_the_front_no_buffers_for_its_client() {
    let server = serve();
    let open = || events(&server, "/mojo/events");
    let each = memory_of_each::<Connection>(&server, open);
    assert!(each < EVENTS_LIMIT, "{each} bytes");
}

#[test]
fn a_held_stream_costs_the_front_a_few_kilobytes_and_no_worker_anything() {
    let server = serve();
    let open = || events(&server, "/hold");
    let each = memory_of_each::<Connection>(&server, open);
    assert!(each < LIMIT, "{each} bytes");
    until("the front has forgotten them", || server.status()["front"]["broadcast"]["held_streams"].as_u64() == Some(0));
}
