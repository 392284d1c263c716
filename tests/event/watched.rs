//! What an administrator sees of workers that have several requests: status, its JSON, the monitor, profiles.

use serde_json::Value;

use super::{noted, serve_with};
use crate::support::{Address, Connection, Request, WebSocket, eventually, free_port, until};

#[test]
fn the_status_and_the_monitor_name_the_requests_of_a_worker() {
    let port = free_port();
    let server = serve_with(&format!("AdminListen 127.0.0.1:{port}\n"));
    let _socket = WebSocket::open(&server, "/echo");
    let mut waiting = ["first", "second"].map(|name| {
        let mut connection = server.connect();
        connection.raw(format!("GET /wait/{name} HTTP/1.1\r\nHost: x\r\n\r\n"));
        until("the request waits", || noted(&server, &format!("waits {name}")));
        connection
    });
    let shown = "open: 2 http, 1 websocket; GET /wait/first, GET /wait/second";
    let worker = server.status()["front"]["workers"][0].clone();
    assert_eq!((&worker["request"], &worker["streams"]["http"]), (&shown.into(), &2.into()));
    let json: Value = serde_json::from_str(&server.control(["status", "--json"]).succeeded().out).expect("JSON");
    assert_eq!(json["front"]["workers"][0]["request"], shown);
    let text = server.control(["status"]).succeeded().out;
    assert!(text.contains("GET /wait/first"), "{text}");
    let ask = || Connection::open(&Address::Tcp(port)).ok()?.try_ask(&Request::get("/status.json")).ok();
    eventually("the dashboard's numbers have the requests", || {
        let status: Value = serde_json::from_slice(&ask().filter(|answer| answer.status == 200)?.body).ok()?;
        Some(()).filter(|()| status["front"]["workers"][0]["request"] == shown)
    });
    for name in ["first", "second"] {
        server.site.write(name, "");
    }
    waiting.iter_mut().for_each(|waiting| assert!(waiting.response().text().ends_with(" waited")));
    until("the worker has none", || server.status()["front"]["workers"][0]["request"] == "open: 1 websocket");
}

#[test]
fn a_profile_has_the_code_that_an_event_loop_runs_for_requests() {
    let server = serve_with("");
    let mut blocking = server.connect();
    blocking.raw("GET /block/gate HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the loop is blocked", || noted(&server, "blocks gate"));
    let folded = server.control(["profile", "--seconds", "0.5", "--folded"]).succeeded().out;
    assert!(folded.contains("::until_there"), "{folded}");
    server.site.write("gate", "");
    blocking.response().is(200);
    let mut waiting = server.connect();
    waiting.raw("GET /wait/open HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request waits", || noted(&server, "waits open"));
    let folded = server.control(["profile", "--seconds", "0.2", "--folded"]).succeeded().out;
    assert!(
        !folded.contains("::until_there") && !folded.contains("app.pl"),
        "a request that waits runs no code: {folded}"
    );
    server.site.write("open", "");
    waiting.response().is(200);
}
