//! Failed requests, counted by cause.

use std::io::{Read, Write};
use std::net::TcpListener;

use super::{Scripted, failed_report};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// The server responds to every second request with `wrong` and closes the connection.
#[track_caller]
fn check(wrong: &'static str, options: &str, cause: &str) {
    let server = Scripted::start(move |stream, number| {
        let answer = if number % 2 == 0 { wrong.as_bytes() } else { OK };
        stream.write_all(answer).is_ok() && number % 2 == 1
    });
    let report = failed_report(&format!("-n 20 -c 1 {options}"), &server.url);
    assert_eq!((&report["completed"], &report["failed"]), (&10.into(), &10.into()), "{report}");
    let failures = report["failures"].as_array().expect("a list");
    assert_eq!(
        (failures.len(), &failures[0]["cause"], &failures[0]["count"]),
        (1, &cause.into(), &10.into()),
        "{report}"
    );
    assert_eq!(server.requests(), 20, "none is asked twice");
}

#[test]
fn each_failure_is_counted_by_its_cause() {
    check("", "", "reset");
    check("HTTP/1.1 200 OK\r\nContent-Le", "", "truncated");
    check("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", "", "truncated");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello", "", "truncated");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello", "", "malformed");
    check("SSH-2.0-OpenSSH_9.2\r\n", "", "malformed");
    check("HTTP/1.1 500 Oops\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "", "status");
    check("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", "--expect 200", "status");
    check("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nsorry", "--expect-body hello", "body");
}

#[test]
fn a_status_that_is_expected_is_no_failure() {
    let server = Scripted::saying("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    super::report("-n 10 -c 1 --expect 200,404", &server.url);
    failed_report("-n 10 -c 1", &server.url);
}

#[test]
fn a_head_without_end_is_given_up() {
    let server = Scripted::start(|stream, _| {
        let line = format!("X: {}\r\n", "x".repeat(1000));
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(line.as_bytes()).is_ok() {}
        false
    });
    let report = failed_report("-n 2 -c 1", &server.url);
    assert_eq!(report["failures"][0]["cause"], "malformed", "{report}");
}

#[test]
fn a_late_response_is_abandoned_and_counts_in_the_latencies() {
    let server = Scripted::start(|stream, number| match number {
        1 => stream.read(&mut [0]).is_ok_and(|size| size > 0),
        _ => stream.write_all(OK).is_ok(),
    });
    let report = failed_report("-n 10 -c 1 --timeout 2", &server.url);
    assert_eq!((&report["completed"], &report["failures"][0]["cause"]), (&9.into(), &"timeout".into()), "{report}");
    assert!(report["latency"]["max"].as_f64() >= Some(1.99), "{report}");
}

#[test]
fn a_run_against_a_closed_port_ends_soon() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    drop(listener);
    let report = failed_report("-t 600 -c 3", &url);
    assert_eq!((&report["completed"], &report["failures"][0]["cause"]), (&0.into(), &"connect".into()), "{report}");
    assert!(report["notes"].to_string().contains("no connection could be opened"), "{report}");
}
