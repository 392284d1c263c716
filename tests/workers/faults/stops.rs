//! Stops and reloads under load: every accepted request gets a response.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{JoinHandle, spawn, yield_now};
use std::time::Instant;

use nix::sys::signal::Signal;

use super::{PATIENT, serve};
use crate::http2::raw::{DATA, GOAWAY, Raw};
use crate::support::{Address, Connection, LAST_CALL, Request, Server, Site, signal, until};

const APP: &str = "sub { [200, [], ['answered']] }";

fn front(server: &Server) -> i32 {
    server.status()["front_pid"].as_i64().unwrap_or(0) as i32
}

/// Stops the front process, so that clients' data stays in the kernel until a stop of the server continues the front.
fn hold_front(server: &Server) {
    signal(front(server), Signal::SIGSTOP);
}

/// Opens a connection; `None` when the server refuses. When the machine has no free port, waits until other clients
/// close theirs.
fn open_until_refused(address: &Address) -> Option<Connection> {
    loop {
        match Connection::open(address) {
            Ok(connection) => return Some(connection),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => return None,
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable => yield_now(),
            Err(error) => panic!("neither let in nor refused: {error}"),
        }
    }
}

/// A client that sends requests until its connection is refused. Returns each request on an accepted connection without
/// a complete response. A request does not count when the client itself, on a busy machine, took [`LAST_CALL`] to send
/// it.
fn ask_until_refused(address: &Address, keeps: bool, answered: &Arc<AtomicU64>) -> JoinHandle<Vec<String>> {
    let (address, answered) = (address.clone(), answered.clone());
    let request = if keeps { Request::get("/") } else { Request::get("/").header("Connection", "close") };
    spawn(move || {
        let mut lost = Vec::new();
        let mut kept = None;
        let open = || {
            let since = Instant::now();
            open_until_refused(&address).map(|connection| (connection, since))
        };
        // The server waits from the connection or from its last response. Both are later than `since`.
        while let Some((mut connection, since)) = kept.take().or_else(open) {
            let now = Instant::now();
            let sent = connection.try_send(&request);
            let is_late = since.elapsed() >= LAST_CALL;
            match sent.and_then(|()| connection.try_response(false)) {
                Ok(response) if response.text() == "answered" => {
                    answered.fetch_add(1, Ordering::Relaxed);
                    let last = response.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
                    kept = (!last).then_some((connection, now));
                }
                Ok(other) => lost.push(format!("{other:?}")),
                Err(_) if is_late => {}
                Err(error) => lost.push(error.to_string()),
            }
        }
        lost
    })
}

#[test]
fn ten_stops_under_load_by_sixty_connections_lose_nothing() {
    for _ in 0..10 {
        let mut server = serve(APP, PATIENT);
        let answered = Arc::new(AtomicU64::new(0));
        let clients: Vec<_> = (0..60).map(|n| ask_until_refused(&server.address, n % 2 == 0, &answered)).collect();
        until("the clients send requests", || answered.load(Ordering::Relaxed) > 300);
        server.signal(Signal::SIGTERM);
        let lost: Vec<String> = clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect();
        assert_eq!(lost, Vec::<String>::new());
        assert_eq!(server.wait(), 0);
    }
}

#[test]
fn five_reloads_under_load_by_sixty_connections_lose_no_request() {
    let server = serve(APP, PATIENT);
    let answered = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = (0..60).map(|n| ask_until_refused(&server.address, n % 2 == 0, &answered)).collect();
    for _ in 0..5 {
        let before = answered.load(Ordering::Relaxed);
        until("the clients send requests", || answered.load(Ordering::Relaxed) > before + 200);
        server.reload().succeeded();
    }
    assert!(clients.iter().all(|client| !client.is_finished()), "somebody was refused");
    server.signal(Signal::SIGTERM);
    let lost: Vec<String> = clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect();
    assert_eq!(lost, Vec::<String>::new());
    let mut server = server;
    assert_eq!(server.wait(), 0);
}

#[test]
fn a_connection_in_the_kernels_queue_is_answered_after_a_stop_and_closed() {
    let mut server = serve(APP, "");
    hold_front(&server);
    let mut waiting: Vec<Connection> = (0..20).map(|_| server.connect()).collect();
    let (mut silent, mut slow) = (server.connect(), server.connect());
    waiting.iter_mut().for_each(|connection| connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    slow.raw("GET / HTTP/1.1\r\nHo");
    let since = Instant::now();
    server.signal(Signal::SIGTERM);
    for connection in &mut waiting {
        let response = connection.response().is(200);
        assert_eq!(response.text(), "answered");
        // The header is absent when the front responds before it learns of the stop. Requests and stop arrive in the
        // same turn of its loop.
        assert!(matches!(response.header("connection").as_deref(), None | Some("close")), "{response:?}");
    }
    // The front waits a limited time for the rest of a request in progress. At this point the front knows of the stop.
    let sent = slow.try_raw("st: localhost\r\n\r\n");
    if since.elapsed() < LAST_CALL {
        sent.expect("the front waits");
        let response = slow.response().is(200);
        assert_eq!((response.text().as_str(), response.header("connection").as_deref()), ("answered", Some("close")));
    }
    waiting.iter_mut().chain([&mut silent]).for_each(Connection::is_closed);
    assert_eq!(server.wait(), 0);
}

#[test]
fn a_request_on_a_kept_connection_that_came_before_a_stop_is_answered() {
    let mut server = serve(APP, "KeepAliveTimeout 60s");
    let (mut kept, mut idle) = (server.connect(), server.connect());
    for connection in [&mut kept, &mut idle] {
        assert_eq!(connection.ask(Request::get("/")).header("connection"), None);
    }
    hold_front(&server);
    kept.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    server.signal(Signal::SIGTERM);
    // The response is without "close" when the front reads the request before it learns of the stop.
    kept.response().is(200);
    kept.is_closed();
    idle.is_closed();
    assert_eq!(server.wait(), 0);
}

#[test]
fn a_connection_of_a_unix_socket_is_answered_after_a_stop() {
    let site = Site::new().file("app.psgi", APP);
    let address = Address::Unix(site.path("site.sock"));
    let conf = "Listen unix:@DIR@/site.sock\n<Location />\nPsgiApp app.psgi\n</Location>";
    let mut server = site.serve(conf);
    let open = || Connection::open(&address).expect("the server accepts");
    hold_front(&server);
    let mut waiting: Vec<Connection> = (0..20).map(|_| open()).collect();
    waiting.iter_mut().for_each(|connection| connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    server.signal(Signal::SIGTERM);
    waiting.iter_mut().for_each(|connection| assert_eq!(connection.response().is(200).text(), "answered"));
    assert_eq!(server.wait(), 0);
    assert!(!server.site.has("site.sock"));
}

#[test]
fn a_connection_of_a_listener_that_a_reload_closes_is_answered() {
    let other = Site::new();
    let server = serve(APP, &format!("Listen 127.0.0.1:{}", other.port));
    let mut waiting: Vec<Connection> =
        (0..20).map(|_| Connection::open(&other.address()).expect("the server accepts")).collect();
    waiting[0].raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(waiting[0].response().text(), "answered");
    let conf = server.site.read("site.conf");
    server.site.write("site.conf", &conf.replace(&format!("Listen 127.0.0.1:{}", other.port), ""));
    server.reload().succeeded();
    waiting.iter_mut().for_each(|connection| {
        connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(connection.response().is(200).text(), "answered");
    });
    until("the listener is closed", || Connection::open(&other.address()).is_err());
}

/// RFC 9113, 6.8: the first GOAWAY names the highest possible stream, so that requests in flight still count. The last
/// GOAWAY names the last stream.
#[test]
fn http2_shuts_down_with_two_goaways_and_answers_requests_between() {
    let mut server = serve(APP, "Protocols h2c http/1.1");
    let mut raw = Raw::open(&server, &[]);
    raw.get(1, "/");
    raw.until(|frame| frame.kind == DATA);
    server.signal(Signal::SIGTERM);
    let first = raw.until(|frame| frame.kind == GOAWAY);
    assert_eq!(first.payload, [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    let ping = raw.until(|frame| frame.kind == PING);
    raw.get(3, "/");
    raw.until(|frame| frame.is_head_of(3));
    raw.send(PING, 1, 0, &ping.payload);
    assert_eq!(raw.until(|frame| frame.kind == GOAWAY).payload, [0, 0, 0, 3, 0, 0, 0, 0]);
    while raw.next().is_some() {}
    assert_eq!(server.wait(), 0);
}

const PING: u8 = 6;

#[test]
fn a_fast_stop_writes_the_last_lines_of_the_access_log() {
    for _ in 0..3 {
        let mut server = serve(APP, "CustomLog access.log common");
        assert_eq!(server.text("/last"), "answered");
        server.signal(Signal::SIGINT);
        assert_eq!(server.wait(), 0);
        assert!(server.site.read("access.log").contains("GET /last"), "{:?}", server.site.read("access.log"));
    }
}
