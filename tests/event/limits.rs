//! Limits of connections and of time, and what an event pool refuses.

use super::{APP, noted, serve_with};
use crate::support::{Site, WebSocket, WebSocketFrame, until};

#[test]
fn a_full_worker_lets_the_next_request_wait() {
    let server = serve_with("EventConnections 1\n");
    let mut waiting = server.connect();
    waiting.raw("GET /wait/gate HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request waits", || noted(&server, "waits gate"));
    let mut queued = server.connect();
    queued.raw("GET /wait/second HTTP/1.1\r\nHost: x\r\n\r\n");
    server.site.write("second", "");
    assert!(!noted(&server, "waits second"));
    server.site.write("gate", "");
    assert!(waiting.response().text().ends_with("waited"));
    assert!(queued.response().text().ends_with("waited"));
}

#[test]
fn a_request_that_finds_no_place_in_time_gets_503() {
    let server = serve_with("EventConnections 1\nQueueTimeout 50ms\n");
    let mut socket = WebSocket::open(&server, "/echo");
    let refused = server.get("/").is(503);
    assert!(refused.header("Retry-After").is_some());
    socket.close(1000);
    socket.next();
    until("the place is free", || server.get("/").status == 200);
}

#[test]
fn an_upload_has_no_place_before_its_beginning_has_arrived() {
    let server = serve_with("EventConnections 1\n");
    let post = |length: usize, begin: &str| {
        let mut connection = server.connect();
        let head = "Host: x\r\nContent-Type: application/x-www-form-urlencoded";
        connection.raw(format!("POST /body HTTP/1.1\r\n{head}\r\nContent-Length: {length}\r\n\r\n{begin}"));
        connection
    };
    let (mut small, mut large) = (post(8, "name"), post(1_000_005, "name=many"));
    for _ in 0..3 {
        server.get("/").is(200);
    }
    small.raw("=two");
    assert_eq!(small.response().text(), "8 two");
    large.raw("x".repeat(999_996));
    assert!(large.response().is(200).text().starts_with("1000005 many"));
}

#[test]
fn a_response_that_does_not_begin_in_time_is_a_504() {
    let server = serve_with("RequestTimeout 200ms\n");
    server.get("/wait/never").is(504);
    until("the application knows", || noted(&server, "left never"));
    server.logged("RequestTimeout");
}

#[test]
fn a_silent_connection_ends_with_its_timeout() {
    let server = serve_with("EventIdleTimeout 200ms\n");
    let mut socket = WebSocket::open(&server, "/echo");
    assert_eq!(socket.next(), WebSocketFrame::Close(1001));
    socket.close(1001);
    socket.is_closed();
}

#[test]
fn an_event_pool_has_one_application_that_can_run_in_it() {
    let site = Site::new().file("app.pl", APP).file("other.pl", APP).file("text.pl", "'text';\n");
    let conf = |app: &str| format!("PsgiMode event\n<Location />\nPsgiApp @DIR@/{app}\n</Location>\n");
    site.configure(&conf("text.pl"));
    let finished = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]);
    finished.failed(78, "no application of Mojolicious, PAGI or PSGI");
    site.configure(&format!("{}<Location /other>\nPsgiApp @DIR@/other.pl\n</Location>\n", conf("app.pl")));
    let finished = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]);
    finished.failed(78, "one application");
}

#[test]
fn the_status_shows_what_each_worker_has_open() {
    let server = serve_with("");
    let _socket = WebSocket::open(&server, "/echo");
    let mut events = server.connect();
    events.raw("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(events.head().status, 200);
    let worker = server.status()["front"]["workers"][0].clone();
    assert_eq!(worker["streams"], serde_json::json!({ "http": 0, "websocket": 1, "sse": 1 }));
    assert_eq!((&worker["request"], &worker["activity"]), (&"open: 1 websocket, 1 sse".into(), &"W".into()));
    assert!(server.control(["status"]).succeeded().out.contains("1 websocket, 1 sse"));
}

/// A worker with an event loop runs no phases, so a place with such handlers is closed and not open to all.
#[test]
fn handlers_of_other_phases_are_not_skipped() {
    let places = [
        ("access", "PerlAccessHandler \"sub { 0 }\"\n"),
        ("users", "AuthType Basic\nAuthName x\nPerlAuthenHandler \"sub { 0 }\"\nRequire valid-user\n"),
        ("fixup", "PerlFixupHandler \"sub { 0 }\"\n"),
        ("cleanup", "PerlCleanupHandler \"sub { 0 }\"\n"),
    ];
    for (name, lines) in places {
        let site = Site::new().file("app.pl", APP);
        let place = format!("<Location /{name}>\n{lines}</Location>\n");
        site.configure(&format!("PsgiMode event\n{place}<Location />\nPsgiApp @DIR@/app.pl\n</Location>\n"));
        let finished = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]).failed(78, "PsgiMode event");
        let line = 1 + site.read("site.conf").lines().position(|line| line.contains(name)).expect("a line");
        let at = format!("site.conf:{line}: Perl");
        assert!(finished.err.contains(&at) && finished.err.contains("run only PSGI applications"), "{}", finished.err);
    }
}

/// What cannot be known from the configuration is refused for each request.
#[test]
fn a_handler_in_a_folder_is_refused_for_each_request() {
    let server = serve_with("<LocationMatch ^/access>\nPerlAccessHandler \"sub { 0 }\"\n</LocationMatch>\n");
    server.get("/").is(200);
    server.get("/access").is(500);
    assert!(server.log().contains("(PsgiMode event) run only PSGI applications"));
}
