//! h2spec, the public conformance suite of HTTP/2, with all cases.

use std::process::Command;

use super::{serve, serve_tls};
use crate::support::Finished;

/// Installed by `pkg/h2spec/install`.
const H2SPEC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tools/h2spec");

fn h2spec(arguments: &[&str]) -> Finished {
    Finished::of(Command::new(H2SPEC).args(["-h", "localhost", "--timeout", "5", "--strict"]).args(arguments))
}

/// The summary line of h2spec: numbers of tests, and of their results.
fn summary(run: &Finished) -> &str {
    run.out.lines().rev().find(|line| line.contains("tests, ")).unwrap_or_default()
}

#[track_caller]
fn conforms(arguments: &[&str]) {
    let output = h2spec(arguments);
    assert!(summary(&output).contains(" 0 skipped, 0 failed"), "{output:?}");
    assert_eq!(output.code, 0, "{output:?}");
}

#[test]
fn every_case_passes_without_tls() {
    let server = serve("Protocols h2c");
    conforms(&["-p", &server.site.port.to_string()]);
}

/// With `http/1.1` in Protocols, a client without HTTP/2's preface speaks HTTP/1 and gets an HTTP/1 response. h2spec
/// expects that the connection just ends.
#[test]
fn every_case_but_the_wrong_preface_passes_where_http_1_is_spoken_too() {
    let server = serve("Protocols h2c http/1.1");
    let output = h2spec(&["-p", &server.site.port.to_string()]);
    assert!(summary(&output).contains(" 0 skipped, 1 failed"), "{output:?}");
    let (_, failures) = output.out.split_once("Failures:").expect("one has failed");
    assert!(failures.contains("× 2: Sends invalid connection preface"), "{failures}");
}

#[test]
fn a_wrong_preface_is_a_wrong_request_where_http_1_is_spoken_too() {
    let server = serve("Protocols h2c http/1.1");
    for preface in
        ["INVALID CONNECTION PREFACE\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", "PRI * HTTP/2.0\r\nA: b\r\n\r\n"]
    {
        let mut connection = server.connect();
        connection.raw(preface);
        let status = connection.response().status;
        assert!(matches!(status, 400 | 505), "{preface:?}: {status}");
        connection.is_closed();
    }
}

#[test]
fn every_case_passes_over_tls() {
    let server = serve_tls("");
    conforms(&["-t", "-k", "-p", &server.site.port.to_string()]);
}
