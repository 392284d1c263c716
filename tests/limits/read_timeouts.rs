//! `RequestReadTimeout`: connections that send nothing, and heads and bodies that arrive too slowly.

use std::time::{Duration, Instant};

use super::{OK, serve};
use crate::support::{Connection, Server, let_pass, patience, until};

/// Sends `piece` repeatedly until the server ends the connection. Returns the elapsed time and the bytes received.
#[track_caller]
fn trickle(server: &Server, head: &str, piece: &str, pause: Duration) -> (Duration, String) {
    let mut connection = server.connect();
    let begun = Instant::now();
    connection.raw(head);
    loop {
        if let Some(response) = ended(&mut connection, pause) {
            return (begun.elapsed(), response);
        }
        if connection.try_raw(piece).is_err() {
            return (begun.elapsed(), ended(&mut connection, Duration::from_secs(5)).unwrap_or_default());
        }
        assert!(begun.elapsed() < patience(), "the server still waits for the request");
    }
}

/// The bytes received up to the end of the connection, if the end comes within `patience`.
fn ended(connection: &mut Connection, patience: Duration) -> Option<String> {
    connection.patience(patience);
    connection.try_rest().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[test]
fn a_head_a_field_at_a_time_does_not_earn_more_than_its_time() {
    let server = serve(OK, "RequestReadTimeout header=1\nCustomLog access.log \"%>s %r\"");
    let head = "GET / HTTP/1.1\r\nHost: localhost\r\n";
    let (took, response) = trickle(&server, head, "X-Field: value\r\n", Duration::from_millis(50));
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    assert!(took >= Duration::from_secs(1), "{took:?}");
    until("the request is logged", || server.site.read("access.log").starts_with("408 "));
}

#[test]
fn a_rate_earns_time_and_the_second_number_ends_it() {
    let server = serve(OK, "RequestReadTimeout header=1-2,MinRate=10");
    // At MinRate=10, 1000 bytes extend the timeout by 100 s.
    let begun = Instant::now();
    let mut connection = server.connect();
    connection.raw(format!("GET / HTTP/1.1\r\nHost: localhost\r\nX-Field: {}\r\n", "v".repeat(1000)));
    let output = String::from_utf8_lossy(&connection.rest()).into_owned();
    assert!(output.starts_with("HTTP/1.1 408 "), "{output}");
    assert!(begun.elapsed() >= Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[test]
fn a_connection_that_sends_nothing_is_closed() {
    let server = serve(OK, "RequestReadTimeout header=500ms");
    let mut connection = server.connect();
    connection.is_closed();
}

#[test]
fn a_body_that_dribbles_is_a_408() {
    let server = serve(OK, "RequestReadTimeout body=1");
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n";
    let (took, response) = trickle(&server, head, "x", Duration::from_millis(50));
    assert!(took >= Duration::from_secs(1), "{took:?}");
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
}

#[test]
fn a_steady_upload_may_take_much_longer_than_the_first_time() {
    let server = serve(OK, "RequestReadTimeout body=1s,MinRate=10");
    let mut connection = server.connect();
    let (pieces, piece) = (30, "x".repeat(250));
    let length = (pieces + 1) * piece.len();
    // Each piece of 250 bytes extends the timeout by 25 s. The first piece is sent with the head.
    connection.raw(format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{piece}"));
    let begun = Instant::now();
    for n in 1..=pieces {
        let due = Duration::from_millis(50) * n as u32;
        let_pass(due.saturating_sub(begun.elapsed()));
        connection.raw(&piece);
    }
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(connection.response().text(), "ok");
}

#[test]
fn a_host_has_time_limits_of_its_own_for_bodies() {
    let server = serve(
        OK,
        "<VirtualHost *>\nServerName plain.example\n</VirtualHost>\n\
         <VirtualHost *>\nServerName strict.example\nRequestReadTimeout body=500ms\n</VirtualHost>",
    );
    let head = "POST / HTTP/1.1\r\nHost: strict.example\r\nContent-Length: 100\r\n\r\n";
    let (_, response) = trickle(&server, head, "x", Duration::from_millis(100));
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
}

#[test]
fn a_time_that_makes_no_sense_is_named() {
    let site = crate::support::Site::new();
    site.configure("RequestReadTimeout header=40-20,MinRate=500");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "expected the second time to be the longer one");
}
