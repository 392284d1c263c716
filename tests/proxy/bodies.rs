//! Bodies stream in both directions.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::{Backend, ok};
use crate::support::{Request, Site, until};

/// Longer than all buffers on the way.
const LONG: usize = 20 << 20;

#[test]
fn a_body_reaches_the_backend_with_its_length_or_in_chunks() {
    let backend = Backend::new(|request| {
        let framing = [request.field("Content-Length"), request.field("Transfer-Encoding")].join("/");
        ok(&format!("{framing} {}", String::from_utf8_lossy(&request.body)))
    });
    let server = Site::new().serve(&format!("ProxyPass / {}\n", backend.url("/")));
    assert_eq!(server.send(Request::new("PUT", "/").body("hello")).text(), "5/ hello");
    let mut client = TcpStream::connect(("127.0.0.1", server.site.port)).expect("it listens");
    let chunks = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nX-Trailer: 1\r\n\r\n";
    client.write_all(chunks.as_bytes()).expect("it reads");
    let mut response = String::new();
    client.read_to_string(&mut response).expect("it answers");
    assert!(response.ends_with("/chunked hello"), "{response}");
}

#[test]
fn a_body_without_a_length_is_411_where_the_backend_gets_http_1_0() {
    let backend = Backend::new(|_| ok("answered"));
    let server = Site::new().serve(&format!("SetEnv force-proxy-request-1.0 1\nProxyPass / {}\n", backend.url("/")));
    let mut client = TcpStream::connect(("127.0.0.1", server.site.port)).expect("it listens");
    let chunks =
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    client.write_all(chunks.as_bytes()).expect("it reads");
    let mut response = String::new();
    let _ = client.read_to_string(&mut response);
    assert!(response.starts_with("HTTP/1.1 411"), "{response}");
    assert!(backend.received().is_empty());
}

#[test]
fn a_body_is_forwarded_before_its_end_has_arrived() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("our own socket").port();
    let server = Site::new().serve(&format!("ProxyPass / http://127.0.0.1:{port}/\n"));
    let mut client = TcpStream::connect(("127.0.0.1", server.site.port)).expect("it listens");
    client
        .write_all(b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 6\r\n\r\nabc")
        .expect("it reads");
    let (mut backend, _) = listener.accept().expect("a connection");
    let mut got = Vec::new();
    while !got.ends_with(b"abc") {
        let mut piece = [0; 1024];
        let read = backend.read(&mut piece).expect("the first half of the body");
        assert!(read > 0, "{}", String::from_utf8_lossy(&got));
        got.extend_from_slice(&piece[..read]);
    }
    client.write_all(b"def").expect("it reads");
    let mut rest = [0; 3];
    backend.read_exact(&mut rest).expect("the second half of the body");
    assert_eq!(&rest, b"def");
    backend.write_all(&ok("whole")).expect("it reads");
    let mut response = String::new();
    client.read_to_string(&mut response).expect("it answers");
    assert!(response.ends_with("whole"), "{response}");
}

#[test]
fn a_long_response_arrives_whole_and_a_slow_client_delays_no_other() {
    let backend = Backend::new(|request| match request.line().contains("/long") {
        true => ok(&"x".repeat(LONG)),
        false => ok("short"),
    });
    let server = Site::new().serve(&format!("ProxyPass / {}\nFrontThreads 1\n", backend.url("/")));
    assert_eq!(server.text("/long").len(), LONG);
    let mut slow = TcpStream::connect(("127.0.0.1", server.site.port)).expect("it listens");
    slow.write_all(b"GET /long HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("it reads");
    until("the backend has the slow client's request", || backend.received().len() == 2);
    assert_eq!(server.text("/"), "short");
    let mut response = Vec::new();
    slow.read_to_end(&mut response).expect("it answers");
    assert!(response.len() > LONG, "{}", response.len());
}

#[test]
fn a_response_without_length_ends_with_the_backends_connection() {
    let backend = Backend::with(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end");
        false
    });
    let server = Site::new().serve(&format!("ProxyPass / {}\n", backend.url("/")));
    assert_eq!(server.text("/"), "until the end");
}

#[test]
fn a_response_to_head_has_the_length_and_no_body() {
    let backend = Backend::new(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n".to_vec());
    let server = Site::new().serve(&format!("ProxyPass / {}\n", backend.url("/")));
    let mut client = server.connect();
    for _ in 0..2 {
        client.raw("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let response = client.head();
        assert_eq!((response.status, response.header("Content-Length").as_deref()), (200, Some("1234")));
    }
    assert_eq!(backend.received().len(), 2);
}

#[test]
fn a_body_beyond_the_limit_is_refused_before_the_backend_is_contacted() {
    let backend = Backend::new(|_| ok("taken"));
    let server = Site::new().serve(&format!("LimitRequestBody 4\nProxyPass / {}\n", backend.url("/")));
    assert_eq!(server.send(Request::new("POST", "/").body("12345")).status, 413);
    assert!(backend.received().is_empty());
    assert_eq!(server.send(Request::new("POST", "/").body("1234")).text(), "taken");
}

/// Reads a request's head.
fn head(stream: &mut TcpStream) -> String {
    let mut got = Vec::new();
    while !got.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("a head");
        got.push(byte[0]);
    }
    String::from_utf8_lossy(&got).into_owned()
}

#[test]
fn a_waiting_client_gets_100_continue_when_the_backend_sends_it() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("our own socket").port();
    let server = Site::new().serve(&format!("FrontThreads 1\nProxyPass / http://127.0.0.1:{port}/\n"));
    let ask = || {
        let mut client = server.connect();
        client.raw("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
        let (mut backend, _) = listener.accept().expect("a connection");
        let head = head(&mut backend);
        assert!(head.contains("\r\nExpect: 100-continue\r\n"), "{head}");
        (client, backend)
    };
    let (mut client, mut backend) = ask();
    backend.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n").expect("it reads");
    assert_eq!(client.head().status, 413, "and no 100 before");
    let mut rest = Vec::new();
    let _ = backend.read_to_end(&mut rest);
    assert_eq!(rest, b"", "the body was not sent, and the connection is closed");
    let (mut client, mut backend) = ask();
    backend.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").expect("it reads");
    assert_eq!(client.head().status, 100);
    client.raw("body");
    let mut body = [0; 4];
    backend.read_exact(&mut body).expect("the body");
    backend.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok").expect("it reads");
    assert_eq!((&body, client.response().text().as_str()), (b"body", "ok"));
    let (mut client, _silent) = ask();
    assert_eq!(client.head().status, 100, "a backend that says nothing may not know the field");
}
