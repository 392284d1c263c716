//! Request bodies that no program reads: the connection continues behind the body, or the response announces its end.

use crate::support::{Connection, Request, Server, Site, until};

fn serve(conf: &str) -> Server {
    Site::new()
        .file("htdocs/a.txt", "a file")
        .file("htdocs/dir/index.html", "x")
        .serve(&format!("<Location /closed>\nOrder Allow,Deny\n</Location>\nRedirect /old http://a/new\n{conf}"))
}

/// Requests with a body that no program reads, and the status of their responses.
const REFUSED: [(&str, u16); 7] = [
    ("POST /a.txt", 405),
    ("GET /a.txt", 200),
    ("POST /none", 404),
    ("POST /closed", 403),
    ("POST /old", 302),
    ("GET /dir", 301),
    ("POST /%zz", 400),
];

/// A connection whose request head the server has read.
fn begun(server: &Server, head: &str) -> Connection {
    let requests = || server.status()["front"]["requests"].as_u64().expect("a number");
    let before = requests();
    let mut connection = server.connect();
    connection.raw(head);
    until("the head was read", || requests() > before);
    connection
}

#[test]
fn a_small_body_that_comes_later_is_read_and_the_connection_goes_on() {
    let server = serve("");
    for (line, status) in REFUSED {
        for (framing, body) in
            [("Content-Length: 10", "0123456789"), ("Transfer-Encoding: chunked", "a\r\n0123456789\r\n0\r\n\r\n")]
        {
            let mut connection = begun(&server, &format!("{line} HTTP/1.1\r\nHost: localhost\r\n{framing}\r\n\r\n"));
            connection.raw(body);
            assert_eq!(connection.response().is(status).header("connection"), None, "{line} {framing}");
            assert_eq!(connection.ask(Request::get("/a.txt")).is(200).text(), "a file", "{line} {framing}");
        }
    }
}

#[test]
fn a_body_of_64_kilobytes_is_read_and_a_longer_one_is_not() {
    let server = serve("");
    for (length, closes) in [(64 * 1024, None), (64 * 1024 + 1, Some("close"))] {
        let bodies = [
            format!("Content-Length: {length}\r\n\r\n{}", "x".repeat(length)),
            format!("Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{}\r\n0\r\n\r\n", "x".repeat(length)),
        ];
        for body in bodies {
            let mut connection = server.connect();
            connection.send_if_heard(format!("POST /a.txt HTTP/1.1\r\nHost: a\r\n{body}").as_bytes());
            assert_eq!(connection.response().is(405).header("connection").as_deref(), closes, "{length}");
            match closes {
                Some(_) => connection.is_closed(),
                None => assert_eq!(connection.ask(Request::get("/a.txt")).text(), "a file"),
            }
        }
    }
}

#[test]
fn a_closed_connection_sends_no_keep_alive_to_http_1_0() {
    let server = serve("");
    for (length, expected) in [(10, "keep-alive"), (100_000, "close")] {
        let mut connection = server.connect();
        let head = format!("POST /a.txt HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: {length}\r\n\r\n");
        connection.send_if_heard(&[head.as_bytes(), &vec![b'x'; length]].concat());
        assert_eq!(connection.response().is(405).header("connection").as_deref(), Some(expected), "{length}");
    }
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for_long_and_the_answer_says_that_it_is_the_last() {
    let server = serve("Timeout 300ms");
    for (line, status) in REFUSED {
        let mut connection = begun(&server, &format!("{line} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234"));
        assert_eq!(connection.response().is(status).header("connection").as_deref(), Some("close"), "{line}");
        connection.is_closed();
    }
}

#[test]
fn a_body_that_the_client_asks_about_is_not_asked_for() {
    let server = serve("");
    for (line, status) in REFUSED {
        let mut connection = server.connect();
        connection.raw(format!("{line} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n"));
        let head = connection.head().is(status);
        assert_eq!(head.header("connection").as_deref(), Some("close"), "{line}: {head:?}");
    }
}
