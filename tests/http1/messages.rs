//! Bodies, framing, rejected requests.

use super::serve;
use crate::support::Request;

#[test]
fn chunks_with_extensions_and_trailers_are_put_together() {
    let server = serve("");
    let mut connection = server.connect();
    connection.raw("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
    connection.raw("3;name=value\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Trailer: t\r\n\r\n");
    assert_eq!(connection.response().text(), "POST / abc0123456789");
    assert_eq!(connection.ask(Request::get("/next")).text(), "GET /next ");
}

#[test]
fn expect_100_continue_is_answered_before_the_body() {
    let server = serve("");
    let mut connection = server.connect();
    connection.raw("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(connection.head().status, 100);
    connection.raw("body");
    assert_eq!(connection.response().text(), "POST / body");
}

#[test]
fn expect_100_continue_is_not_answered_when_the_body_is_too_large() {
    let server = serve("LimitRequestBody 10");
    let mut connection = server.connect();
    connection.raw("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 400\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(connection.head().status, 413);
}

#[test]
fn any_method_reaches_the_application() {
    let server = serve("");
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"] {
        assert_eq!(server.send(Request::new(method, "/x")).text(), format!("{method} /x "));
    }
}

#[test]
fn bytes_that_are_not_http_get_a_400_and_harm_no_client() {
    let server = serve("");
    for nonsense in [
        "nonsense\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nBad Name: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    ] {
        let mut connection = server.connect();
        connection.raw(nonsense);
        connection.finish_sending();
        let output = String::from_utf8_lossy(&connection.rest()).into_owned();
        assert!(
            output.is_empty() || output.starts_with("HTTP/1.1 400 ") || output.starts_with("HTTP/1.1 505 "),
            "{nonsense:?}: {output}"
        );
    }
    assert_eq!(server.text("/"), "GET / ");
}

#[test]
fn content_length_beside_chunked_cannot_smuggle_a_request() {
    let server = serve("");
    let mut connection = server.connect();
    connection.raw("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.finish_sending();
    let output = String::from_utf8_lossy(&connection.rest()).into_owned();
    let refused = output.starts_with("HTTP/1.1 400 ");
    let closed = output.matches("HTTP/1.1 ").count() == 1;
    assert!(refused || closed || output.is_empty(), "{output}");
}

/// An unread body is discarded, or the connection ends: see crates/front/src/request/drain_body.rs.
#[test]
fn an_unread_body_is_never_a_request() {
    let server = crate::support::Site::new()
        .file("app.psgi", super::ECHO)
        .file("htdocs/files/a.txt", "a file")
        .serve(
            "<Location /app>\nPsgiApp app.psgi\nLimitRequestBody 10\n</Location>\n<Location /closed>\nOrder Allow,Deny\n</Location>\n\
             CustomLog access.log \"%U %>s\"",
        );
    let body = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    let next = "GET /files/a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let framings = [
        format!("Content-Length: {}\r\n\r\n{body}", body.len()),
        format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len()),
    ];
    for framing in &framings {
        for (line, status) in [
            ("GET /files/a.txt", 200),
            ("POST /files/a.txt", 405),
            ("POST /files/none", 404),
            ("POST /closed", 403),
            ("POST /app", 413),
            ("POST /%00", 404),
            ("POST /..", 400),
            ("TRACE /", 405),
        ] {
            let request = format!("{line} HTTP/1.1\r\nHost: a\r\n{framing}{next}");
            for size in [request.len(), 1] {
                let mut connection = server.connect();
                request.as_bytes().chunks(size).for_each(|bytes| connection.send_if_heard(bytes));
                let output = String::from_utf8_lossy(&connection.rest()).into_owned();
                assert!(output.starts_with(&format!("HTTP/1.1 {status} ")), "{line} in pieces of {size}: {output}");
                assert!(output.matches("HTTP/1.1 ").count() <= 2, "{line} in pieces of {size}: {output}");
            }
        }
    }
    drop(server.get("/files/a.txt").is(200));
    crate::support::until("the log is written", || server.site.read("access.log").contains("/files/none 404"));
    assert!(!server.site.read("access.log").contains("smuggled"));
}

#[test]
fn an_absolute_uri_is_understood() {
    let server = serve("");
    assert_eq!(server.send(Request::get("http://localhost/absolute")).text(), "GET /absolute ");
}

#[test]
fn a_worker_gets_its_own_headers_and_none_that_belong_to_the_connection() {
    let server = crate::support::Site::new()
        .file("app.psgi", "sub { [200, ['Connection', 'close', 'Transfer-Encoding', 'chunked', 'Keep-Alive', '5', 'X-A', 1], ['x']] }")
        .run(["app.psgi"]);
    let mut connection = server.connect();
    let response = connection.ask(Request::get("/"));
    assert_eq!((response.header("x-a").as_deref(), response.text().as_str()), (Some("1"), "x"));
    assert_eq!(response.header("keep-alive"), None);
}

#[test]
fn every_response_has_a_date() {
    let date = serve("").get("/").header("date").expect("a Date header");
    assert!(httpdate::parse_http_date(&date).is_ok(), "{date}");
}

#[test]
fn a_large_chunked_response_and_a_large_upload_pass_in_one_exchange() {
    let server = serve("");
    let body = "0123456789".repeat(300_000);
    assert_eq!(server.send(Request::new("POST", "/").body(&body)).text(), format!("POST / {body}"));
}
