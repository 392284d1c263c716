//! An unmodified program of Mojolicious.

use serde_json::Value;

use super::{APP, noted, serve};
use crate::support::{Request, Site, WebSocket, WebSocketFrame, until};

#[test]
fn a_mojolicious_program_answers_in_an_event_loop() {
    let server = Site::new().script("app.pl", APP).run_with_one_worker(["app.pl", "--event"]);
    assert_eq!(server.text("/"), "hello");
    assert_eq!(server.text("/template").trim(), "A template");
    assert_eq!(server.post("/body", "name=Ada").text(), "8 Ada");
    for (target, text) in [("/timer", "timed"), ("/promise", "kept"), ("/subprocess", "other")] {
        assert_eq!(server.text(target), text, "{target}");
    }
    server.get("/nothing").is(404);
    assert_eq!(server.send(Request::new("HEAD", "/")).is(200).header("Content-Length").as_deref(), Some("5"));
}

#[test]
fn a_request_that_waits_does_not_stop_the_others_of_its_worker() {
    let server = serve();
    let mut waiting = server.connect();
    waiting.raw("GET /wait/gate HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request waits", || noted(&server, "waits gate"));
    let pid = server.text("/pid");
    server.site.write("gate", "");
    assert_eq!(waiting.response().text(), format!("{pid} waited"));
}

#[test]
fn many_requests_share_their_streams() {
    let server = serve();
    let mut connection = server.connect();
    for _ in 0..50 {
        assert_eq!(connection.ask(Request::get("/")).text(), "hello");
    }
    let big = "x".repeat(3_000_000);
    assert_eq!(server.post("/body", &format!("name=Ada&more={big}")).text(), "3000014 Ada");
    assert_eq!(server.text("/chunks").len(), 2_000_000);
}

#[test]
fn a_websocket_sends_and_gets_messages() {
    let server = serve();
    let mut socket = WebSocket::open(&server, "/echo");
    let long = "é".repeat(5000);
    for text in ["one", "two", &long] {
        socket.send(text);
        assert_eq!(socket.text(), format!("echo: {text}"));
    }
    assert_eq!(server.text("/"), "hello", "other requests are answered meanwhile");
    socket.close(1000);
    assert_eq!(socket.next(), WebSocketFrame::Close(1000));
    socket.is_closed();
    until("the application knows", || noted(&server, "closed 1000"));
}

#[test]
fn a_refused_handshake_is_a_response() {
    let server = serve();
    let mut connection = server.connect();
    connection.raw(WebSocket::handshake("/nothing"));
    assert_eq!(connection.response().status, 404);
}

#[test]
fn events_are_sent_one_by_one() {
    let server = serve();
    let mut connection = server.connect();
    connection.raw("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(connection.head().header("content-type").as_deref(), Some("text/event-stream"));
    for n in 1..=3 {
        assert_eq!(String::from_utf8_lossy(&connection.chunk()), format!("data: {n}\n\n"));
        server.site.write(&format!("go{n}"), "");
    }
    assert_eq!(connection.chunk(), b"");
}

#[test]
fn the_application_knows_the_client_and_no_client_can_pretend() {
    let site = Site::new().file("app.pl", APP).file("password", "ada:{PLAIN}x\n");
    let conf = "PsgiMode event\nStartServers 1\n<Location /at>\nPsgiApp @DIR@/app.pl\n</Location>\n";
    let server = site.serve(conf);
    let request = Request::get("/at/facts")
        .header("Cameleer-Client", "192.0.2.1 7")
        .header("Cameleer-Scheme", "https")
        .header("Cameleer-User", "root")
        .header("Cameleer-Other", "x");
    let facts: Value = serde_json::from_slice(&server.send(request).is(200).body).expect("JSON");
    assert_eq!(facts["address"], "127.0.0.1");
    assert_eq!(facts["scheme"], "http");
    assert_eq!(facts["server"].to_string().trim_matches('"'), server.site.port.to_string());
    assert_eq!(facts["user"], Value::Null);
    assert_eq!(facts["fields"], serde_json::json!([]));
    assert_eq!(facts["url"], "/at/pid");
    assert!(facts["id"].as_str().is_some_and(|id| id.len() >= 20), "{facts}");
    assert!(facts["port"].to_string().trim_matches('"').parse::<u16>().is_ok_and(|port| port > 0), "{facts}");
}
