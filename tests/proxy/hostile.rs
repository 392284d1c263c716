//! Backends that lie about the framing of a body or send parts of it without end: the response breaks off at the
//! client, the connection is not used again, and others are served.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Backend, ok};
use crate::http2::raw::{END_STREAM, INTERNAL_ERROR, RST_STREAM, Raw};
use crate::support::{Site, let_pass, until};

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// The bytes that a client gets from a backend that sends `begin`, then `more` without end.
fn endless(begin: &'static [u8], more: Vec<u8>) -> String {
    let ended = Arc::new(AtomicUsize::new(0));
    let count = ended.clone();
    let backend = Backend::with(move |stream, _| {
        let begun = stream.write_all(CHUNKED).and_then(|()| stream.write_all(begin));
        let many = more.repeat(100);
        while begun.is_ok() && stream.write_all(&many).is_ok() {}
        count.fetch_add(1, Ordering::Relaxed);
        false
    });
    let server = Site::new().serve(&format!("ProxyPass / {} timeout=1000s\n", backend.url("/")));
    let mut client = server.connect();
    client.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let (answer, _) = client.ending();
    until("the backend's connection ends", || ended.load(Ordering::Relaxed) == 1);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn extensions_of_chunks_and_trailers_without_end_break_the_response_off() {
    let field = format!("X: {}\r\n", "y".repeat(1000)).into_bytes();
    for (what, begin, more) in [
        ("one extension", &b"5;a="[..], b"x".repeat(1000)),
        ("many extensions", b"", [b"1;a=", &b"x".repeat(1000)[..], b"\r\nz\r\n"].concat()),
        ("digits of a size", b"", b"0".repeat(1000)),
        ("trailers", b"4\r\nhalf\r\n0\r\n", field),
        ("one trailer", b"4\r\nhalf\r\n0\r\nX: ", b"y".repeat(1000)),
    ] {
        let answer = endless(begin, more);
        assert!(!answer.ends_with("0\r\n\r\n") && !answer.contains("a=x") && !answer.contains("X: yy"), "{what}");
    }
}

#[test]
fn chunks_that_lie_break_the_response_off() {
    for chunks in [
        &b"4\r\nhalf\r\n"[..],
        b"5\r\nhalf\r\n0\r\n\r\n",
        b"3\r\nhalf\r\n0\r\n\r\n",
        b"ffffffffffffffffff\r\nhalf",
        b"-1\r\nhalf",
        b"4 4\r\nhalf\r\n0\r\n\r\n",
        b"0x4\r\nhalf\r\n0\r\n\r\n",
        b"\r\nhalf\r\n0\r\n\r\n",
        b"4\nhalf\n0\n\n",
    ] {
        let backend = Backend::with(move |stream, _| {
            let _ = stream.write_all(&[CHUNKED, chunks].concat());
            false
        });
        let server = Site::new().serve(&format!("Protocols h2c http/1.1\nProxyPass / {}\n", backend.url("/")));
        let mut client = server.connect();
        client.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let (answer, _) = client.ending();
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.ends_with("0\r\n\r\n"), "{}: {answer}", chunks.escape_ascii());
        let mut client = Raw::open(&server, &[]);
        client.get(1, "/");
        let end =
            client.until(|frame| frame.stream == 1 && (frame.kind == RST_STREAM || frame.flags & END_STREAM != 0));
        assert_eq!((end.kind, end.reason()), (RST_STREAM, INTERNAL_ERROR), "{}", chunks.escape_ascii());
    }
}

#[test]
fn bytes_behind_a_response_are_no_response_to_another_client() {
    for rest in
        [&b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"[..], b"evil", b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\nevil"]
    {
        for first in [
            &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"[..],
            b"HTTP/1.1 204 No Content\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        ] {
            let backend = Backend::new(move |request| match request.line() {
                "GET /first HTTP/1.1" => [first, rest].concat(),
                _ => ok("own"),
            });
            let server = Site::new().serve(&format!("FrontThreads 1\nProxyPass / {}\n", backend.url("/")));
            let begun = server.get("/first");
            assert!([200, 204, 502].contains(&begun.status) && !begun.text().contains("evil"), "{begun:?}");
            assert_eq!((server.text("/second"), server.text("/third")), ("own".to_owned(), "own".to_owned()));
        }
    }
}

#[test]
fn a_head_that_comes_byte_by_byte_has_the_time_of_one_piece() {
    let backend = Backend::with(|stream, _| {
        for byte in "HTTP/1.1 200 OK\r\nX-Long: ".bytes().chain(std::iter::repeat(b'y')) {
            if stream.write_all(&[byte]).is_err() {
                return false;
            }
            let_pass(std::time::Duration::from_millis(20));
        }
        false
    });
    let server = Site::new().serve(&format!("ProxyPass / {} timeout=500ms\n", backend.url("/")));
    assert_eq!(server.get("/").status, 504);
}
