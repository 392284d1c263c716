//! Applications that are dead, slow, or lie: the client gets a status or a response that visibly breaks off, the log
//! names the application, others are served.

use std::io::{Read, Write};

use super::Application;
use super::application::{output, read, record, record_of};
use crate::support::{Server, Site, until};

/// A server whose `/x` is passed to an application that answers with these bytes and closes the connection.
fn answering(bytes: Vec<u8>) -> Server {
    let application = Application::with(move |stream| {
        let _ = read(stream);
        let _ = stream.write_all(&bytes);
    });
    let alive = Application::new(|_| output(b"X: y\n\nalive"));
    let server =
        Site::new().serve(&format!("ProxyPass /x {}\nProxyPass /alive {}\n", application.url("/x"), alive.url("/")));
    assert_eq!(server.text("/alive"), "alive");
    server
}

#[test]
fn bytes_that_are_no_response_are_refused_and_named() {
    let ok = &b"X: y\n\nbody"[..];
    let many = [&b"X: y\n".repeat(1000)[..], b"\nbody"].concat();
    for (bytes, status, message) in [
        (Vec::new(), 502, "the application closed the connection before it sent a byte"),
        (b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), 502, "has the version 72 and not 1"),
        (record_of(6, 2, ok, 0), 502, "belongs to request 2"),
        (record_of(9, 1, ok, 0), 502, "has the type 9"),
        (record(3, b"short"), 502, "has 5 bytes instead of 8"),
        (record(3, &[0, 0, 0, 0, 2, 0, 0, 0]), 503, "FCGI_OVERLOADED"),
        (record(6, b"").repeat(2000), 502, "more than 1000 records without content"),
        (output(b"no head here\n\n"), 500, "begins with a line that is no header field: \"no head here\""),
        (output(b"Status: 1\n\n"), 500, "has an invalid Status"),
        (output(b"X: y\n"), 500, "the response ended within its head"),
        (output(&many), 500, "more than 200 fields"),
        (output(&[b'x'; 300_000]), 500, "more than 262144 bytes"),
        (record(6, b"X: y\n"), 502, "the application closed the connection before the end of its response"),
    ] {
        let server = answering(bytes);
        assert_eq!(server.get("/x").status, status, "{message}");
        server.logged(message);
    }
}

#[test]
fn a_response_that_breaks_off_is_no_complete_response() {
    for (bytes, message) in [
        (record(6, b"Content-Type: text/plain\n\nsome"), "ended early, after 4 bytes of the body"),
        (record(6, b"Content-Length: 9\n\nsome"), "ended early, after 4 bytes of the body"),
        (output(b"Content-Length: 9\n\nsome"), "the response is 5 bytes shorter than its Content-Length"),
        ([record(6, b"X: y\n\nsome"), record_of(6, 7, b"evil", 0)].concat(), "belongs to request 7"),
        // A length that lies: the application closes the connection within the record.
        (record(6, b"X: y\n\nsome")[..15].to_vec(), "ended early"),
    ] {
        let server = answering(bytes);
        let mut client = server.connect();
        client.raw("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let (rest, _) = client.ending();
        let rest = String::from_utf8_lossy(&rest);
        assert!(!rest.ends_with("0\r\n\r\n") && !rest.contains("evil"), "{message}: {rest}");
        if message != "ended early" {
            server.logged(message);
        }
    }
}

#[test]
fn an_application_that_says_nothing_is_504() {
    let application =
        Application::with(|stream| drop(stream.read(&mut [0; 1]).map(|_| stream.read_to_end(&mut Vec::new()))));
    let server = Site::new().serve(&format!("ProxyPass / {} timeout=300ms\n", application.url("/")));
    assert_eq!(server.get("/x").status, 504);
    server.logged("no byte was sent or received for 0.3 s (ProxyTimeout)");
}

#[test]
fn an_application_that_is_not_there_is_503_and_left_alone_for_a_while() {
    let silent = Site::new();
    let port = silent.port;
    let server = Site::new().serve(&format!("FrontThreads 1\nProxyPass / fcgi://127.0.0.1:{port}/\n"));
    assert_eq!(server.get("/x").status, 503);
    server.logged("cannot connect: Connection refused");
    assert_eq!(server.get("/x").status, 503);
    server.logged("not tried, because the last connection failed");
}

#[test]
fn an_endless_response_is_as_fast_as_its_client() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let sent = Arc::new(AtomicUsize::new(0));
    let (count, piece) = (sent.clone(), record(6, &[b'x'; 60000]));
    let application = Application::with(move |stream| {
        let _ = read(stream);
        let _ = stream.write_all(&record(6, b"X: y\n\n"));
        while stream.write_all(&piece).is_ok() {
            count.fetch_add(piece.len(), Ordering::Relaxed);
        }
        count.fetch_add(1 << 40, Ordering::Relaxed);
    });
    let server = Site::new().serve(&format!("ProxyPass / {}\n", application.url("/")));
    let mut client = server.connect();
    client.raw("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client.head().is(200);
    // The client reads no more: buffers fill, and then the application is stopped.
    let mut before = usize::MAX;
    until("the application is stopped", || std::mem::replace(&mut before, sent.load(Ordering::Relaxed)) == before);
    assert!(before < 64 << 20, "{before} bytes");
    drop(client);
    until("the application learns that the client has left", || sent.load(Ordering::Relaxed) >= 1 << 40);
}

#[test]
fn an_application_may_answer_before_it_has_read_the_body() {
    let application = Application::with(|stream| {
        let _ = stream.read(&mut [0; 8]);
        let _ = stream.write_all(&output(b"Status: 403\n\nno"));
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let server = Site::new().serve(&format!("ProxyPass / {}\n", application.url("/")));
    assert_eq!(server.post("/x", &"x".repeat(100_000)).status, 403);
}
