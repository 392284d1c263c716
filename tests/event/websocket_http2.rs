//! WebSockets on streams of HTTP/2 (RFC 8441), for programs of each kind.

use std::process::Command;

use h2::Reason;
use h2::client::Builder;
use http::{Method, Request};
use nix::sys::signal::Signal;

use super::psgi::ANYEVENT;
use super::psgi_socket::WEBSOCKET;
use super::{noted, pagi_websocket, psgi};
use crate::support::{Finished, Http2Client, Server, Site, StreamEnd, WebSocket, WebSocketFrame, alive, until};

const PROTOCOLS: &str = "Protocols h2c http/1.1\n";

#[track_caller]
fn serve_pagi(directives: &str) -> Server {
    pagi_websocket::serve_with(&format!("{PROTOCOLS}{directives}"))
}

#[track_caller]
fn serve_mojo(directives: &str) -> Server {
    super::serve_with(&format!("{PROTOCOLS}{directives}"))
}

/// Sends texts of several lengths to `/echo`, which sends them back behind `prefix`.
#[track_caller]
fn echoes(server: &Server, prefix: impl Fn(&str) -> String) {
    let mut client = Http2Client::open(server);
    let (mut socket, _) = WebSocket::open_on(&mut client, "/echo", "");
    assert!(client.may_connect());
    let (mut other, _) = WebSocket::open_on(&mut client, "/echo", "");
    let long = "x".repeat(60_000);
    for text in ["one", "", &long] {
        socket.send(text);
        assert_eq!(socket.text(), prefix(text));
        other.send("between");
        assert_eq!(other.text(), prefix("between"));
    }
    socket.close(1000);
    assert_eq!(socket.next(), WebSocketFrame::Close(1000));
    socket.stream().finish_sending();
    socket.is_closed();
    other.send("still");
    assert_eq!(other.text(), prefix("still"), "the connection goes on");
}

#[test]
fn programs_of_each_kind_serve_websockets_on_streams() {
    let server = serve_pagi("CustomLog access.log \"%r %>s\"\n");
    echoes(&server, |text| format!("{} {text}", text.len()));
    until("the application knows", || noted(&server, "closed /echo 1000 "));
    until("the request is logged", || server.site.read("access.log") == "GET /echo HTTP/2.0 101\n".repeat(2));
    let server = serve_mojo("");
    echoes(&server, |text| format!("echo: {text}"));
    until("the application knows", || noted(&server, "closed 1000"));
    let server = psgi::serve_with(ANYEVENT, WEBSOCKET, PROTOCOLS);
    echoes(&server, |text| format!("echo: {text}"));
}

#[test]
fn extensions_and_subprotocols_are_agreed_on_over_http_2() {
    let server = serve_pagi("");
    let fields = "sec-websocket-protocol: chat, other\r\nsec-websocket-extensions: permessage-deflate\r\n";
    let (mut socket, head) = WebSocket::open_on(&mut Http2Client::open(&server), "/echo", fields);
    assert_eq!(head.header("Sec-WebSocket-Protocol").as_deref(), Some("other"));
    assert!(head.header("Sec-WebSocket-Extensions").is_some_and(|value| value.starts_with("permessage-deflate")));
    assert_eq!(head.header("Cameleer-WebSocket"), None);
    // The example of RFC 7692, section 7.2.3.1.
    socket.raw(0xc1, b"\xf2\x48\xcd\xc9\xc9\x07\x00");
    assert_eq!(socket.text(), "5 Hello");
    socket.send("times 50000");
    let WebSocketFrame::Other(0xc1, payload) = socket.next() else { panic!("no compressed text") };
    assert!(payload.len() < 1000, "{}", payload.len());
}

/// The status of an extended CONNECT.
#[track_caller]
fn refused(server: &Server, protocol: &str, target: &str, fields: &str) -> u16 {
    let (head, mut stream) = Http2Client::open(server).connect(protocol, target, fields);
    stream.rest();
    head.status
}

#[test]
fn what_serves_no_websocket_refuses_it_before_a_program_runs() {
    let version = "sec-websocket-version: 13\r\n";
    let blocking = "sub { open my $ran, '>', '@DIR@/blocking-ran'; [200, [], ['a page']] }";
    let server = pagi_websocket::site().file("blocking.psgi", blocking).serve(&format!(
        "{PROTOCOLS}ProxyRequests On\nPsgiMode event\nStartServers 1\n\
         <WorkerPool blocking>\nPsgiMode blocking\n</WorkerPool>\n\
         <Location />\nPsgiApp @DIR@/app.pl\n</Location>\n\
         <Location /blocking>\nPerlPool blocking\nPsgiApp @DIR@/blocking.psgi\n</Location>\n"
    ));
    for (protocol, target, status) in [
        ("websocket", "/blocking", 405),
        ("websocket", "/refused", 403),
        ("websocket", "/denied", 401),
        ("connect-udp", "/echo", 501),
        ("webtransport", "/echo", 501),
    ] {
        assert_eq!(refused(&server, protocol, target, version), status, "{protocol} {target}");
    }
    assert_eq!(refused(&server, "websocket", "/echo", ""), 426);
    assert_eq!(refused(&server, "websocket", "/echo", "sec-websocket-version: 8\r\n"), 426);
    assert!(!server.site.has("blocking-ran"));
    let tunnel = Request::builder().method(Method::CONNECT).uri("127.0.0.1:443").body(()).expect("a request");
    assert_eq!(Http2Client::open(&server).send(tunnel).0.status, 405, "no tunnel of the forward proxy");
    let server = psgi::serve_with(ANYEVENT, "", PROTOCOLS);
    assert_eq!(refused(&server, "websocket", "/", version), 405, "a response is no WebSocket");
    assert_eq!(refused(&serve_mojo(""), "websocket", "/none", version), 404);
}

#[test]
fn without_h2_websockets_no_stream_is_opened() {
    let server = serve_pagi("H2WebSockets Off\n");
    let mut client = Http2Client::open(&server);
    let get = Request::builder().uri("http://localhost/pid").body(()).expect("a request");
    let (head, mut stream) = client.send(get);
    stream.rest();
    assert_eq!(head.status, 200);
    assert!(!client.may_connect());
}

#[test]
fn the_application_learns_how_a_stream_has_ended() {
    let server = serve_pagi("");
    let mut client = Http2Client::open(&server);
    for (target, reason, code, why) in [
        ("/cancelled", Some(Reason::CANCEL), 1006, "client_closed"),
        ("/broken", Some(Reason::INTERNAL_ERROR), 1006, "read_error"),
        ("/ended", None, 1006, "client_closed"),
    ] {
        let (mut socket, _) = WebSocket::open_on(&mut client, target, "");
        match reason {
            Some(reason) => socket.stream().reset(reason),
            None => socket.stream().finish_sending(),
        }
        until("the application knows", || noted(&server, &format!("closed {target} {code} {why}")));
    }
    let (socket, _) = WebSocket::open_on(&mut client, "/dropped", "");
    drop((socket, client));
    until("the application knows", || noted(&server, "closed /dropped 1006 client_closed"));
    let server = serve_mojo("");
    let (mut socket, _) = WebSocket::open_on(&mut Http2Client::open(&server), "/echo", "");
    socket.stream().reset(Reason::CANCEL);
    until("the application knows", || noted(&server, "closed 1006"));
}

#[test]
fn both_directions_wait_for_windows() {
    let server = serve_pagi("WebSocketMaxMessage 4M\n");
    let mut client = Http2Client::open_with(&server, Builder::new().initial_window_size(1000));
    let (mut socket, _) = WebSocket::open_on(&mut client, "/echo", "");
    let long = "y".repeat(1 << 20);
    socket.send(&long);
    assert_eq!(socket.text(), format!("{} {long}", long.len()));
    let (mut other, _) = WebSocket::open_on(&mut client, "/echo", "");
    socket.send("times 3000000");
    other.send("others do not wait");
    assert_eq!(other.text(), "18 others do not wait");
    assert_eq!(socket.text().len(), 3_000_000);
}

#[test]
fn a_stream_of_a_websocket_counts_as_one_and_as_a_place_at_the_worker() {
    let server = serve_pagi("EventConnections 2\nQueueTimeout 100ms\nH2MaxSessionStreams 10\n");
    let mut client = Http2Client::open(&server);
    let (mut first, _) = WebSocket::open_on(&mut client, "/echo", "");
    let (_second, _) = WebSocket::open_on(&mut client, "/echo", "");
    assert_eq!(refused(&server, "websocket", "/echo", "sec-websocket-version: 13\r\n"), 503);
    first.stream().reset(Reason::CANCEL);
    until("a place is free", || refused_or_open(&server) == 200);
    let server = serve_pagi("H2MaxSessionStreams 1\n");
    let mut client = Http2Client::open(&server);
    let (mut socket, _) = WebSocket::open_on(&mut client, "/echo", "");
    socket.close(1000);
    assert_eq!(socket.next(), WebSocketFrame::Close(1000));
    socket.stream().finish_sending();
    socket.is_closed();
    let (mut next, _) = WebSocket::open_on(&mut client, "/echo", "");
    next.send("one at a time");
    assert_eq!(next.text(), "13 one at a time");
}

fn refused_or_open(server: &Server) -> u16 {
    Http2Client::open(server).connect("websocket", "/echo", "sec-websocket-version: 13\r\n").0.status
}

#[test]
fn a_reload_closes_streams_with_1012_and_leaves_their_connection() {
    let server = serve_pagi("GracefulShutdownTimeout 1\n");
    let before = server.text("/pid");
    let mut client = Http2Client::open(&server);
    let (mut socket, _) = WebSocket::open_on(&mut client, "/echo", "");
    server.reload().succeeded();
    socket.send("still here");
    assert_eq!(socket.text(), "10 still here");
    assert_eq!(socket.next(), WebSocketFrame::Close(1012));
    socket.close(1012);
    socket.stream().finish_sending();
    socket.is_closed();
    let old = before.parse().expect("a number");
    until("the old worker has ended", || !alive(old));
    let (mut next, _) = WebSocket::open_on(&mut client, "/echo", "");
    next.send("again");
    assert_eq!(next.text(), "5 again");
}

#[test]
fn a_stop_closes_streams_with_1012() {
    for serve in [serve_pagi, serve_mojo] {
        let mut server = serve("GracefulShutdownTimeout 2\n");
        let mut client = Http2Client::open(&server);
        let (mut socket, _) = WebSocket::open_on(&mut client, "/echo", "");
        server.signal(Signal::SIGTERM);
        assert_eq!(socket.next(), WebSocketFrame::Close(1012));
        socket.close(1012);
        assert_eq!(server.wait(), 0);
    }
}

#[test]
fn an_open_websocket_outlives_the_time_for_further_requests_and_ends_after_its_silence() {
    let server = serve_pagi("KeepAliveTimeout 50ms\nEventIdleTimeout 3s\n");
    let mut client = Http2Client::open(&server);
    let (mut socket, _) = WebSocket::open_on(&mut client, "/echo", "");
    assert_eq!(socket.next(), WebSocketFrame::Close(1001));
    until("the application knows", || noted(&server, "closed /echo 1006 idle_timeout"));
}

#[test]
fn a_proxied_backend_gets_the_handshake_of_http_1() {
    let backend = super::serve();
    let port = backend.site.port;
    let server = Site::new().serve(&format!(
        "{PROTOCOLS}ProxyPass /pass/ http://127.0.0.1:{port}/ upgrade=websocket\nProxyPass /other/ http://127.0.0.1:{port}/\n"
    ));
    let mut client = Http2Client::open(&server);
    let (mut socket, _) = WebSocket::open_on(&mut client, "/pass/echo", "");
    socket.send("through");
    assert_eq!(socket.text(), "echo: through");
    socket.stream().finish_sending();
    assert_eq!(socket.stream().rest().1, StreamEnd::Whole);
    for (target, status) in [("/pass/none", 404), ("/other/echo", 405)] {
        assert_eq!(refused(&server, "websocket", target, "sec-websocket-version: 13\r\n"), status, "{target}");
    }
}

#[test]
fn a_response_that_does_not_prove_that_the_handshake_was_read_opens_nothing() {
    let pages = "'/raw' => sub ($env) { sub ($respond) { $env->{'psgix.io'}->syswrite(\"HTTP/1.1 101 Switching\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\n\") } },";
    let server = psgi::serve_with(ANYEVENT, pages, PROTOCOLS);
    assert_eq!(refused(&server, "websocket", "/raw", "sec-websocket-version: 13\r\n"), 502);
    server.logged("has not the Sec-WebSocket-Accept of its request");
}

/// A page whose image arrives once its WebSocket has got a message, so that the browser waits with its output.
const PAGE: &str = r#"use v5.36;
use Future::AsyncAwait;
use Future::IO;

my $page = <<'PAGE';
<body>nothing</body><img src="/held"><script>
let socket = new WebSocket('wss://' + location.host + '/socket');
socket.onopen = () => socket.send('from the page');
socket.onmessage = (message) => { document.body.firstChild.data = message.data; socket.send('over') };
</script>
PAGE
my $is_over;
my $app = async sub ($scope, $receive, $send) {
    if ($scope->{type} eq 'websocket') {
        await $receive->();
        await $send->({ type => 'websocket.accept' });
        while (defined(my $text = (await $receive->())->{text})) {
            return $is_over = 1 if $text eq 'over';
            await $send->({ type => 'websocket.send', text => "$text over $scope->{http_version}" });
        }
        return;
    }
    die "Unsupported scope type: $scope->{type}" if $scope->{type} ne 'http';
    if ($scope->{path} eq '/held') { await Future::IO->sleep(0.01) until $is_over }
    await $send->({ type => 'http.response.start', status => 200, headers => [ [ 'content-type', 'text/html' ] ] });
    await $send->({ type => 'http.response.body', body => $scope->{path} eq '/held' ? '' : $page });
};
$app;
"#;

#[test]
fn a_browser_opens_a_websocket_on_the_connection_of_its_page() {
    let server = Site::new().certificate("localhost", &["localhost"]).file("app.pl", PAGE).serve(
        "Protocols h2 http/1.1\nSSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n\
         WebSocketOrigin same-host\nPsgiMode event\nStartServers 1\n<Location />\nPsgiApp @DIR@/app.pl\n</Location>\n",
    );
    let profile = server.site.filled("--user-data-dir=@DIR@/chromium");
    let url = server.site.filled("https://localhost:@PORT@/page");
    let options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--ignore-certificate-errors", "--dump-dom"];
    let page = Finished::of(Command::new("chromium").args(options).args([&profile, &url])).out;
    assert!(page.contains("from the page over 2"), "{page}");
}
