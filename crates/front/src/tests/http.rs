//! HTTP behaviour as clients see it.

use super::Server;
use super::worker::{LARGE, Script};
use std::sync::atomic::Ordering;

const APP: &str = "<Location />\nSetHandler perl-script\nPerlHandler X\n</Location>\n";

fn app(more: &str) -> Server {
    Server::with_workers(&format!("{APP}{more}"), 2, Script::default())
}

#[test]
fn a_worker_answers_over_one_connection_again_and_again() {
    let server = app("");
    let mut client = server.client();
    for _ in 0..3 {
        let answer = client.get("/");
        assert_eq!((answer.status, answer.text().as_str()), (200, "hello"));
        assert_eq!(answer.header("content-length"), "5");
        assert_eq!(answer.header("server"), "Cameleer");
        assert!(!answer.header("date").is_empty());
    }
    assert_eq!(server.status().worker_requests, 3);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = app("");
    let mut client = server.client();
    client.send(
        "GET /who HTTP/1.1\r\nHost: a\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\nHEAD /x HTTP/1.1\r\nHost: a\r\n\r\n",
    );
    assert_eq!(client.answer().text(), "");
    assert_eq!(client.answer().text(), "hello");
    assert_eq!(client.answer_to("HEAD").header("content-length"), "5");
    assert_eq!(client.get("/").text(), "hello");
}

#[test]
fn a_request_arrives_as_it_was_sent() {
    let server = app("");
    let answer = server.client().get_with("/app//a/../echo?x=%20y", "X-A: b\r\nX-A: c\r\n");
    let expected = "GET|/app//a/../echo?x=%20y|HTTP/1.1|/app/echo|x=%20y|localhost|host: localhost|x-a: b, c|0\n";
    assert_eq!(answer.text(), expected);
}

#[test]
fn an_absolute_target_brings_its_own_host() {
    let server = app("");
    let mut client = server.client();
    client.send("GET http://Other.example:81/app/echo?q HTTP/1.1\r\nHost: a\r\n\r\n");
    let expected =
        "GET|http://other.example:81/app/echo?q|HTTP/1.1|/app/echo|q|other.example|host: other.example:81|0\n";
    assert_eq!(client.answer().text().to_lowercase(), expected.to_lowercase());
}

#[test]
fn bodies_arrive_whole_with_their_length() {
    let server = app("");
    let mut client = server.client();
    client.send("POST /app/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na=b");
    assert!(client.answer().text().ends_with("|content-length: 3|3\na=b"));
    client.send(
        "POST /app/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
    );
    assert!(client.answer().text().ends_with("|host: a|content-length: 5|5\nabcde"));
    for length in [64 * 1024, 64 * 1024 + 1, 3_000_000] {
        let body: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        client.send(format!("PUT /app/echo HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"));
        client.send(&body);
        assert!(client.answer().body.ends_with(&body), "{length}");
    }
}

#[test]
fn a_client_that_asks_before_it_sends_gets_an_answer() {
    let server = app("LimitRequestBody 10\n");
    let mut client = server.client();
    client.send("POST /app/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(client.head().status, 100);
    assert!(client.send("a=b").answer().text().ends_with("3\na=b"));
    client.send("POST /app/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n");
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("connection")), (413, "close"));
    let mut client = server.client();
    client
        .send("POST /app/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n12345678901\r\n0\r\n\r\n");
    assert_eq!(client.answer().status, 413);
}

#[test]
fn responses_without_a_body_have_none() {
    let server = app("");
    let mut client = server.client();
    client.send("HEAD /app HTTP/1.1\r\nHost: a\r\n\r\n");
    let answer = client.answer_to("HEAD");
    assert_eq!((answer.status, answer.header("content-length")), (200, "5"));
    assert_eq!(client.get("/app/no-content").status, 204);
    assert_eq!(client.get("/app/empty").header("content-length"), "0");
    client.send("HEAD /app/empty HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.answer_to("HEAD").header("content-length"), "");
    assert_eq!(client.get("/app/length").text(), "12345");
    assert_eq!(client.get("/").text(), "hello");
}

#[test]
fn the_applications_headers_arrive_except_those_about_the_connection() {
    let server = app("");
    let mut client = server.client();
    let answer = client.get("/app/headers");
    assert_eq!((answer.status, answer.header("connection"), answer.header("x-a")), (201, "", "b"));
    let cookies = answer.headers.iter().filter(|(name, _)| name == "set-cookie").count();
    assert_eq!(cookies, 2);
    assert_eq!(client.get("/").status, 200);
}

#[test]
fn early_hints_come_before_the_response() {
    let server = app("");
    let mut client = server.client();
    for _ in 0..2 {
        client.send("GET /app/hints HTTP/1.1\r\nHost: a\r\n\r\n");
        let hints = client.head();
        assert_eq!((hints.status, hints.header("link")), (103, "</a.css>; rel=preload"));
        assert_eq!(client.answer().text(), "page");
    }
    let mut old = server.client();
    assert_eq!(old.send("GET /app/hints HTTP/1.0\r\nHost: a\r\n\r\n").answer().text(), "page");
}

#[test]
fn a_streamed_response_arrives_as_it_is_made() {
    let (script, gate) = Script::gated();
    let server = Server::with_workers(APP, 1, script);
    let mut client = server.client();
    client.send("GET /app/late HTTP/1.1\r\nHost: a\r\n\r\n");
    let head = client.head();
    assert_eq!(head.header("transfer-encoding"), "chunked");
    gate.send(()).expect("opened");
    assert!(
        String::from_utf8_lossy(&{ client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").rest() })
            .starts_with("6\r\nfirst,\r\n6\r\nsecond\r\n0\r\n\r\nHTTP/1.1 200")
    );
}

#[test]
fn http_1_0_is_spoken() {
    let server = app("");
    let mut client = server.client();
    assert_eq!(client.send("GET / HTTP/1.0\r\n\r\n").answer().text(), "hello");
    assert!(client.is_closed());
    let mut client = server.client();
    assert_eq!(client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").answer().text(), "hello");
    assert_eq!(client.send("GET / HTTP/1.0\r\n\r\n").answer().text(), "hello");
}

#[test]
fn keep_alive_has_its_limits() {
    let server = app("MaxKeepAliveRequests 2\n");
    let mut client = server.client();
    assert_eq!(client.get("/").header("connection"), "");
    assert_eq!(client.get("/").header("connection"), "close");
    assert!(client.is_closed());
    let server = app("KeepAlive Off\n");
    let mut client = server.client();
    assert_eq!(client.get("/").header("connection"), "close");
    assert!(client.is_closed());
    let server = app("KeepAliveTimeout 100ms\n");
    let mut client = server.client();
    assert_eq!(client.get("/").status, 200);
    assert!(client.is_closed());
}

#[test]
fn a_client_that_stops_in_the_middle_is_let_go() {
    let server = app("Timeout 1\n");
    let mut slow = server.client();
    slow.send("GET / HT");
    let mut body = server.client();
    body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
    assert_eq!(slow.answer().status, 408);
    assert!(slow.is_closed());
    assert_eq!(body.answer().status, 408);
    assert!(body.is_closed());
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let server = app("LimitRequestLine 300\nLimitRequestFieldSize 200\nLimitRequestFields 10\n");
    let long = "x".repeat(300);
    let many = "X: y\r\n".repeat(12);
    let cases = [
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\nHost: a<b>\r\n\r\n".to_owned(), 400),
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("GET /../x HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
        ("GET /a%2fb HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 404),
        (format!("GET /{long} HTTP/1.1\r\nHost: a\r\n\r\n"), 414),
        (format!("GET / HTTP/1.1\r\nHost: a\r\nX: {long}\r\n\r\n"), 431),
        (format!("GET / HTTP/1.1\r\nHost: a\r\n{many}\r\n"), 431),
        ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 405),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n".to_owned(), 400),
    ];
    for (request, expected) in cases {
        assert_eq!(server.client().send(&request).answer().status, expected, "{request}");
    }
    assert_eq!(server.client().get("/").status, 200);
}

#[test]
fn a_slow_reader_holds_its_worker_back_and_nobody_else() {
    let script = Script::default();
    let server = Server::with_workers(APP, 2, script.clone());
    let mut slow = server.client();
    slow.send("GET /app/large HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(slow.head().status, 200);
    for _ in 0..20 {
        assert_eq!(server.client().get("/").text(), "hello");
    }
    let body = {
        let mut answer = slow.rest_of_chunks();
        assert!(!answer.cut);
        std::mem::take(&mut answer.body)
    };
    assert_eq!(body.len(), LARGE * 32 * 1024);
    assert_eq!(script.sent.load(Ordering::SeqCst), LARGE);
}
