//! `LimitRequest*`.

use super::serve;
use crate::support::Request;

#[test]
fn a_request_line_over_its_limit_is_a_414() {
    let server = serve("LimitRequestLine 100");
    server.get(&format!("/{}", "x".repeat(60))).is(200);
    server.get(&format!("/{}", "x".repeat(200))).is(414);
}

#[test]
fn more_fields_than_allowed_are_a_431() {
    let server = serve("LimitRequestFields 10");
    let with = |n: usize| (0..n).fold(Request::get("/"), |request, i| request.header(&format!("X-{i}"), "v"));
    server.send(with(7)).is(200);
    server.send(with(20)).is(431);
}

#[test]
fn a_field_over_its_limit_is_a_431() {
    let server = serve("LimitRequestFieldSize 100");
    server.send(Request::get("/").header("X-A", &"v".repeat(80))).is(200);
    server.send(Request::get("/").header("X-A", &"v".repeat(200))).is(431);
}

#[test]
fn a_head_over_the_limit_of_all_of_it_is_a_431() {
    let server = serve("LimitRequestLine 1000\nLimitRequestFieldSize 2000");
    let with =
        |fields: usize| (0..fields).fold(Request::get("/"), |r, n| r.header(&format!("X-{n}"), &"v".repeat(1900)));
    server.send(with(16)).is(200);
    server.send(with(18)).is(431);
    server.logged("the request cannot be read: a head that is too long (field 19, X-17): GET / HTTP/1.1");
}

#[test]
fn a_body_over_its_limit_is_a_413_with_and_without_content_length() {
    let server = serve("LimitRequestBody 1000");
    server.send(Request::new("POST", "/").body("x".repeat(1000))).is(200);
    server.send(Request::new("POST", "/").body("x".repeat(1001))).is(413);
    let mut chunked = server.connect();
    chunked.raw(format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n{}\r\n0\r\n\r\n",
        "x".repeat(2000)
    ));
    assert_eq!(chunked.head().status, 413);
}

#[test]
fn a_location_may_allow_more_than_the_server() {
    let server = serve("LimitRequestBody 10\n<Location /upload>\nLimitRequestBody 100\n</Location>");
    server.send(Request::new("POST", "/").body("x".repeat(50))).is(413);
    server.send(Request::new("POST", "/upload").body("x".repeat(50))).is(200);
}

#[test]
fn a_path_of_more_than_1000_segments_is_a_414_and_a_line_in_the_log() {
    let server = serve("");
    let path = |segments: usize| "/a".repeat(segments);
    server.get(&path(1000)).is(200);
    server.get(&path(1001)).is(414);
    server.logged("a path of more than 1000 segments is refused");
    assert_eq!(server.get("/").status, 200);
}
